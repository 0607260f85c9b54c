"""A package with a model: as it is written, as pip builds and installs it, and the model in it by its name."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest

import crossarc
from commands import assert_one_line_error, run
from crossarc.core import CrossarcError
from crossarc.models import available, describe_model
from crossarc.parsers import ParseOptions
from crossarc.pipeline import Pipeline, load, train_components
from crossarc.pipeline.packaging import ModelPackage, write_package
from crossarc.server.handler import Handler
from crossarc.server.jobs import Description
from trained import DEV, TEST, TRAIN, trained

GUIDE = Path(__file__).parents[2] / "docs" / "models.md"
ATTRIBUTION = 'Learnt from "random trees",\nby their makers'
TEXT = " ".join(TEST[0].form)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    """A model as crossarc train writes it."""
    path = tmp_path_factory.mktemp("trained") / "my.crossarc"
    annotated = train_components(TRAIN, ["segmenter", "tagger", "lemmatizer"], dev=DEV)
    about = {"treebank": "train.conllu: 200 sentences"}
    Pipeline(trained("order 1"), **annotated.components, about=about).save(path)
    return path


@pytest.fixture(scope="module")
def package(model, tmp_path_factory) -> Path:
    """What the command writes, with scores; Git would ignore the model."""
    folder = tmp_path_factory.mktemp("package") / "crossarc-xx-small"
    crossarc.write(TEST, test := folder.parent / "test.conllu")
    arguments = ["--name", "xx-small", "--licence", "CC-BY-SA-4.0", "--attribution", ATTRIBUTION, "--version", "1.2"]
    result = run("models", "package", model, *arguments, "--language", "Random", "--test", test, "-o", folder)
    assert result.returncode == 0, result.stderr
    assert str(folder) in result.stderr.decode()
    (folder / ".gitignore").write_text("*.crossarc\n")
    return folder


@pytest.fixture(scope="module")
def installed(package, tmp_path_factory) -> Path:
    """Where pip has installed it."""
    pytest.importorskip("pip")
    pytest.importorskip("hatchling")
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--target", str(target), str(package)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return target


@pytest.fixture
def here(installed, monkeypatch, tmp_path):
    """A process that has the package, and those that it starts."""
    monkeypatch.syspath_prepend(installed)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(installed), os.environ.get("PYTHONPATH")])))
    monkeypatch.chdir(tmp_path)
    crossarc.write(TEST[:5], "gold.conllu")


# ---- what is written -------------------------------------------------------------------------------------------------


def test_what_a_package_has(package):
    files = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()} - {".gitignore"}
    own = {"src/crossarc_xx_small/__init__.py", "src/crossarc_xx_small/xx-small.crossarc"}
    assert files == {"pyproject.toml", "README.md", "LICENSE", *own}
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"] == {"crossarc.models": {"xx-small": "crossarc_xx_small"}}
    assert (project["version"], project["license"]) == ("1.2", "CC-BY-SA-4.0")
    licence = (package / "LICENSE").read_text(encoding="utf-8")
    assert "https://creativecommons.org/licenses/by-sa/4.0/" in licence
    assert ATTRIBUTION in licence


def test_the_header_has_what_the_package_says(package, model):
    before, after = describe_model(model), describe_model(package / "src" / "crossarc_xx_small" / "xx-small.crossarc")
    assert after["components"] == before["components"]
    about = after["about"]
    assert {**about, "scores": None, "words_per_second": None} == {
        **before["about"],
        "language": "Random",
        "licence": "CC-BY-SA-4.0",
        "attribution": ATTRIBUTION,
        "scores": None,
        "words_per_second": None,
    }
    assert about["words_per_second"] > 0
    assert set(about["scores"]) == {"raw text", "gold words"}
    assert about["scores"]["gold words"]["LAS"] > 60


def test_the_card_says_what_the_header_says(package):
    about = describe_model(package / "src" / "crossarc_xx_small" / "xx-small.crossarc")["about"]
    card = (package / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# Random: a model for Crossarc\n")
    for score in (share for scores in about["scores"].values() for share in scores.values()):
        assert f"| {score:.2f} |" in card
    for text in (
        ATTRIBUTION,
        "CC-BY-SA-4.0",
        "200 sentences",
        "MB",
        f"{about['words_per_second']:,.0f} words a second",
    ):
        assert text in card
    assert "DEPS stays as it is" in card
    assert "arcs never cross" not in card


def test_limits_are_those_of_the_model(tmp_path):
    """Of a parser alone, whose trees are projective and which was trained without a dev set."""
    parser = trained("order 1")
    alone = replace(parser, config=replace(parser.config, projective=True), calibration=None, dev=None)
    alone.save(tmp_path / "model")
    write_package(tmp_path / "model", tmp_path / "package", ModelPackage("xx", "MIT"))
    assert Handler(str(tmp_path / "package" / "src" / "crossarc_xx" / "xx.crossarc"), 40).description == Description(
        ("parser",), parser.labels, False, True, "MIT"
    )
    limits = (tmp_path / "package" / "README.md").read_text(encoding="utf-8").partition("## Known limits")[2]
    for limit in ("not raw text", "no tags", "no lemmas", "arcs never cross", "no probabilities"):
        assert limit in limits


def test_scores_of_a_parser_alone_are_from_gold_tags(tmp_path):
    trained("order 1").save(tmp_path / "model")
    crossarc.write(TEST, tmp_path / "test.conllu")
    arguments = ["--name", "xx", "--licence", "MIT", "--test", tmp_path / "test.conllu", "-o", tmp_path / "package"]
    assert run("models", "package", tmp_path / "model", *arguments).returncode == 0
    scores = describe_model(tmp_path / "package" / "src" / "crossarc_xx" / "xx.crossarc")["about"]["scores"]
    assert set(scores) == {"gold tags"}
    parsed = crossarc.evaluation.evaluate(TEST, list(trained("order 1").trees(TEST)))
    assert scores["gold tags"]["LAS"] == round(100 * parsed.official["LAS"].f1, 2)


def test_the_guide_shows_what_is_written(package):
    """The entry point of the guide is that of the package, but for its name."""
    written = (package / "pyproject.toml").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```toml\n(\[project\.entry-points.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert shown in re.sub("xx[-_]small", "da", written)


# ---- the model by its name -------------------------------------------------------------------------------------------


def test_python_finds_it(here, model):
    own = load(model)
    assert list(crossarc.load("xx-small")(TEXT, confidence=True)) == own(TEXT, confidence=True)
    (parsed,) = crossarc.load("xx-small").parse(TEXT, ParseOptions(k=2))
    assert len(parsed.trees) == 2


def test_crossarc_models_lists_it(here):
    found = json.loads(run("models", "--json").stdout)["xx-small"]
    assert found == available()["xx-small"]
    assert found["package"] == "crossarc-xx-small 1.2"
    assert found["attribution"] == ATTRIBUTION
    shown = run("models").stdout.decode()
    for text in ("xx-small\n", "crossarc-xx-small 1.2", "CC-BY-SA-4.0", "words a second"):
        assert text in shown


@pytest.mark.parametrize(
    "arguments",
    [
        ["parse", "--text", TEXT],
        ["parse", "--text", TEXT, "-k", 2, "--confidence"],
        ["rank", "gold.conllu"],
        ["calibrate", "gold.conllu"],
        ["suspicious", "gold.conllu"],
    ],
    ids=lambda arguments: " ".join(map(str, arguments)),
)
def test_commands_find_it(here, model, arguments):
    by_name, by_path = run(*arguments, "-m", "xx-small"), run(*arguments, "-m", model)
    assert by_name.returncode == 0, by_name.stderr
    assert by_name.stdout == by_path.stdout


def test_inspect_finds_it_and_lm_knows_that_it_is_no_language_model(here):
    assert b"spanning-tree" in run("inspect", "xx-small").stdout
    assert_one_line_error(run("lm", "gold.conllu", "-m", "xx-small"), "xx-small: models of --system spanning-tree")


@pytest.mark.slow
def test_processes_find_it(here, model):
    arguments = ["parse", "gold.conllu", "--jobs", 2, "-m"]
    assert run(*arguments, "xx-small").stdout == run(*arguments, model).stdout != b""


@pytest.mark.slow
def test_the_service_finds_it(here):
    pytest.importorskip("fastapi")
    from serving import serving

    with serving("xx-small") as (address, _), urllib.request.urlopen(f"{address}models") as reply:
        assert json.load(reply)["models"] == {"xx-small": ["tokenizer", "tagger", "parser"]}


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"name": "En"}, "lower-case letters"),
        ({"name": "../da"}, "lower-case letters"),
        ({"name": "en"}, "built-in model"),
        ({"licence": "CC BY-SA 4.0"}, "no SPDX identifier"),
        ({"licence": "CC-BY-4.0"}, "asks for attribution"),
        ({"version": "first"}, "version 'first'"),
    ],
)
def test_what_a_package_cannot_be(wrong, problem):
    with pytest.raises(CrossarcError, match=problem):
        ModelPackage(**{"name": "da", "licence": "MIT", **wrong})


def test_nothing_is_overwritten_or_left_half_done(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["models", "package", model, "--name", "xx"]
    assert_one_line_error(run(*command), "no licence", hint="--help")
    (tmp_path / "damaged").write_bytes(model.read_bytes()[:1000])
    damaged = run("models", "package", "damaged", "--name", "xx", "--licence", "MIT")
    assert_one_line_error(damaged, "damaged: not a model file")
    assert not (tmp_path / "crossarc-xx").exists()
    assert run(*command, "--licence", "MIT").returncode == 0
    assert_one_line_error(run(*command, "--licence", "MIT"), "crossarc-xx: it is there already")


def test_a_package_can_be_written_again(model, tmp_path):
    """As a recipe does; what it has said before stays, unless it is said anew."""
    first = write_package(model, tmp_path / "one", ModelPackage("xx", "MIT", language="Random"))
    again = write_package(first, tmp_path / "one", ModelPackage("xx", "MIT", version="2.0"))
    assert describe_model(again)["about"]["language"] == "Random"
    assert 'version = "2.0"' in (tmp_path / "one" / "pyproject.toml").read_text()
    assert load(again)(TEXT) == load(model)(TEXT)
