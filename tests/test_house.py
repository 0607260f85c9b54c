"""What surrounds the code: CI, templates, citation, container, completion in the shell."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from crossarc import __version__
from crossarc.cli import crossarc as commands

ROOT = Path(__file__).parents[1]
LOCK = ".github/requirements.txt"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_ci_runs_the_test_command_of_the_readme():
    (command,) = re.findall(r"^.*bin/pytest.*$", text("README.md"), re.MULTILINE)
    assert command in text(".ci/run").splitlines()
    assert "eval" not in text(".ci/run")


def run_ci(folder, fake_python):
    """.ci/run in a folder of its own, with a python3 that makes no environment."""
    (folder / ".ci").mkdir()
    (folder / ".ci" / "run").write_text(text(".ci/run"))
    (folder / "bin").mkdir()
    (folder / "bin" / "python3").write_text(f"#!/bin/sh\n{fake_python}\n")
    (folder / "bin" / "python3").chmod(0o755)
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(["bash", ".ci/run"], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True)


@pytest.mark.skipif(os.name != "posix", reason=".ci/run is for bash")
def test_ci_keeps_the_environment_of_a_developer(tmp_path):
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "mine").write_text("precious")
    result = run_ci(tmp_path, "test ! -e .venv && mkdir .venv && exit 7")
    assert result.returncode == 7
    assert (tmp_path / ".venv" / "mine").read_text() == "precious"
    assert not (tmp_path / ".venv.kept").exists()


@pytest.mark.skipif(os.name != "posix", reason=".ci/run is for bash")
def test_ci_does_not_lose_an_environment_that_stood_aside(tmp_path):
    (tmp_path / ".venv.kept").mkdir()
    result = run_ci(tmp_path, "exit 7")
    assert result.returncode == 2
    assert b"mv .venv.kept .venv" in result.stderr
    assert (tmp_path / ".venv.kept").exists()


def test_the_workflow_is_for_all_versions_that_are_declared():
    declared = {name.split(" :: ")[-1] for name in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", name)}
    (versions,) = re.findall(r"^ +python: (\[.*\])$", text(".github/workflows/ci.yml"), re.MULTILINE)
    assert set(json.loads(versions)) == declared
    assert "\t" not in text(".github/workflows/ci.yml")
    extras = re.findall(r'"\.\[([\w,]+)\]"', text(".github/workflows/ci.yml"))
    assert {name for extra in extras for name in extra.split(",")} <= set(PROJECT["optional-dependencies"])


LOCKED = re.findall(
    r"^([\w.-]+)==(\S+)(?: ; ([^\\\n]+))?((?: \\\n +--hash=sha256:[0-9a-f]{64})+)$", text(LOCK), re.MULTILINE
)


def test_the_lock_file_has_what_is_asked_for():
    """When this fails: the first lines of the file say how it is made anew."""
    locked = {canonicalize_name(name): version for name, version, _, _ in LOCKED}
    for requirement in asked_for("test", "lint"):
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)], prereleases=True), (
            requirement
        )


def asked_for(*extras):
    """What the package needs with these extras on Linux, with what those need that it names itself."""
    optional = PROJECT["optional-dependencies"]
    left = [*PROJECT["dependencies"], *(own for extra in extras for own in optional[extra])]
    while left:
        requirement = Requirement(left.pop())
        if requirement.name == PROJECT["name"]:
            left += [own for extra in requirement.extras for own in optional[extra]]
        else:
            yield requirement


def test_the_lock_file_has_hashes_and_no_place():
    """Every package by the hashes of its files, whatever place they come from."""
    lines = [line for line in text(LOCK).splitlines() if line and not line.lstrip().startswith(("#", "--hash="))]
    assert len(LOCKED) == len(lines) > 50
    assert not re.search(r"://|file:|^-|@ ", text(LOCK), re.MULTILINE)
    assert f"--require-hashes -r {LOCK}" in text(".github/workflows/ci.yml")


@pytest.mark.parametrize("name", [".github/ISSUE_TEMPLATE/bug.yml", ".github/ISSUE_TEMPLATE/wish.yml"])
def test_issue_templates_have_what_the_host_asks_for(name):
    for key in ("name", "description", "body"):
        assert re.search(rf"^{key}:", text(name), re.MULTILINE), key
    ids = re.findall(r"^ {4}id: (\w+)$", text(name), re.MULTILINE)
    assert len(ids) == len(set(ids)) == text(name).count("- type: textarea")


def test_the_citation_is_of_this_version():
    fields = dict(re.findall(r"^([\w-]+): (.+)$", text("CITATION.cff"), re.MULTILINE))
    assert fields["version"] == __version__
    assert fields["license"] == PROJECT["license"].split(" AND ")[0]  # of the code; the built-in model has its own
    assert {"cff-version", "message", "title"} <= set(fields)


def test_the_container_starts_the_service():
    lines = [line for line in text("Dockerfile").splitlines() if line and not line.startswith("#")]
    known = {"FROM", "RUN", "COPY", "USER", "WORKDIR", "ENV", "EXPOSE", "CMD"}
    assert {line.split(" ")[0] for line in lines} <= known
    assert lines.index("USER crossarc") < next(i for i, line in enumerate(lines) if line.startswith("CMD"))
    program, name, *arguments = json.loads(lines[-1].removeprefix("CMD "))
    assert program == "crossarc"
    context = commands.get_command(None, name).make_context(name, arguments, parent=click.Context(commands))
    assert f"EXPOSE {context.params['port']}" in lines
    assert set(re.findall(r"/src\[(\w+)\]", text("Dockerfile"))) <= set(PROJECT["optional-dependencies"])


def test_the_container_gets_what_a_wheel_is_made_of():
    rules = [line for line in text(".dockerignore").splitlines() if line and not line.startswith("#")]
    assert rules[0] == "*"
    let_in = [line.removeprefix("!") for line in rules if line.startswith("!")]
    for needed in ["src", "pyproject.toml", PROJECT["readme"], *PROJECT["license-files"]]:
        assert any(Path(needed).match(pattern) for pattern in let_in), needed


def complete(*words, incomplete=""):
    """What the shell is told, as bash asks for it."""
    line = ["crossarc", *words, incomplete]
    environment = {
        "_CROSSARC_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(line),
        "COMP_CWORD": str(len(words) + 1),
    }
    program = "import sys; sys.argv = ['crossarc']; from crossarc.cli import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert found.stderr == ""
    return [line.partition(",")[2] for line in found.stdout.splitlines()]


def test_the_shell_completes_commands_and_options():
    assert complete(incomplete="pa") == ["parse"]
    assert "--constraints" in complete("parse", incomplete="--con")
    assert complete("train", "--system", incomplete="cov") == ["covington"]
    assert "--max-degree" in complete("train", "--system", "covington", incomplete="--max")


def test_commands_are_completed_without_importing_them():
    items = commands.shell_complete(click.Context(commands), "c")
    assert [item.value for item in items] == ["corpus", "calibrate", "crossval", "compare", "convert"]
    assert all(item.help for item in items)
