"""What the documents say is true: names exist, links lead somewhere, examples run, command lines are understood.

A name is written ``file.py::name``, relative to src/crossarc. A Python example that is not to be run stands under a
comment that says why: ``<!-- not run: it needs a service -->``.
"""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache, reduce
from pathlib import Path
from typing import NamedTuple

import click
import pytest

import crossarc
from crossarc.cli import crossarc as commands
from crossarc.drawing import to_svg
from crossarc.parsers.registry import DEFAULT, SYSTEMS
from crossarc.trees import is_projective
from trained import DEV, TEST, TRAIN, trained

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "crossarc"
GUIDES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("docs/tutorials/*.md"))]
DOCUMENTS = [
    *GUIDES,
    ROOT / "docs" / "papers" / "index.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "benchmarks" / "README.md",
    ROOT / "examples" / "README.md",
]
PAPERS = ROOT / "docs" / "papers" / "index.md"
WITH_NAMES = [ROOT / "docs" / "architecture.md", ROOT / "docs" / "glossary.md", PAPERS, ROOT / "CONTRIBUTING.md"]


class Block(NamedTuple):
    """A block of code in a document."""

    document: Path
    line: int
    language: str
    text: str
    not_run: str  # why, if it is not


def all_blocks(document: Path) -> Iterator[Block]:
    text = document.read_text(encoding="utf-8")
    for match in re.finditer(r"(?:<!-- not run: (.+) -->\n)?^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield Block(document, text.count("\n", 0, match.start(3)), match[2], match[3], match[1] or "")


def blocks(document: Path, language: str) -> Iterator[Block]:
    return (block for block in all_blocks(document) if block.language == language)


def prose(document: Path) -> str:
    return re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def spans(document: Path) -> list[str]:
    """What stands in backticks."""
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose(document))]


def of(documents: list[Path], slow: bool = False) -> list[object]:
    """Parameters of a test; what compiles much is left to CI."""
    marks = pytest.mark.slow if slow else ()
    return [pytest.param(document, id=document.relative_to(ROOT).as_posix(), marks=marks) for document in documents]


# ---- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("document", of(WITH_NAMES))
def test_names_exist(document):
    names = [span.split("::") for span in spans(document) if "::" in span]
    assert names or document.name not in ("architecture.md", "index.md")
    for file, name in names:
        if file.startswith(("tests/", "benchmarks/")):
            assert re.search(rf"^(def|class) {name}\b", (ROOT / file).read_text(), re.MULTILINE), name
            continue
        assert (SOURCE / file).is_file(), file
        if file.endswith(".js"):
            assert re.search(rf"export (async )?(function|const|class) {name}\b", (SOURCE / file).read_text()), name
        else:
            find(file, name)


def require_extra(where: str) -> None:
    if "torch" in where:
        pytest.importorskip("torch", reason="torch is not installed: pip install '.[neural]'")
    if "spacy" in where:
        pytest.importorskip("spacy", reason="spaCy is not installed: pip install '.[spacy]'")


def find(file: str, name: str) -> object:
    require_extra(file)
    if file.startswith("server/"):
        pytest.importorskip("fastapi")
    module = importlib.import_module("crossarc." + file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    return reduce(member, name.split("."), module)


def member(owner: object, name: str) -> object:
    if name in getattr(owner, "__annotations__", {}):  # a field without a default
        return None
    return getattr(owner, name)


@pytest.mark.parametrize("document", of(WITH_NAMES))
def test_files_exist(document):
    for span in spans(document):
        if re.fullmatch(r"[\w./-]*\w/|[\w./-]+\.(py|js|txt|md|toml)", span):
            assert any((folder / span).exists() for folder in (SOURCE, ROOT, ROOT / "docs")) or (
                "/" not in span and any(SOURCE.rglob(span))
            ), span


@pytest.mark.parametrize("document", of(GUIDES))
def test_modules_that_are_named_exist(document):
    for name in re.findall(r"`(crossarc(?:\.\w+)+)", prose(document)):
        require_extra(name)
        module, parts = crossarc, name.split(".")[1:]
        while parts:
            try:
                module = getattr(module, parts[0])
            except AttributeError:
                module = importlib.import_module(f"{module.__name__}.{parts[0]}")
            parts = parts[1:]


@pytest.mark.parametrize("document", of(DOCUMENTS))
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose(document)):
        if not target.startswith("http"):
            assert (document.parent / target).exists(), target


@pytest.mark.parametrize("document", of(sorted({*DOCUMENTS, *ROOT.glob("docs/**/*.md")})))
def test_every_block_of_code_is_checked_or_says_why_not(document):
    checked = {"python", "sh", "toml"} if document in DOCUMENTS else set()
    for block in all_blocks(document):
        assert not block.language or block.language in checked or block.not_run, f"{block.language}, line {block.line}"
        if block.language == "toml":
            tomllib.loads(block.text)


# ---- Python ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with the files that examples are about."""
    for name, trees in {"train": TRAIN, "dev": DEV, "gold": TEST, "parsed": TEST, "in": TEST, "my": TEST}.items():
        crossarc.write(trees, tmp_path / f"{name}.conllu")
    crossarc.write(TEST, tmp_path / "my.conllu.gz")
    crossarc.write(TRAIN, tmp_path / "graphs.conllu")
    trained("order 1").save(tmp_path / "my.crossarc")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "document", of([d for d in GUIDES if any(">>>" in b.text for b in blocks(d, "python"))], slow=True)
)
def test_examples_show_what_happens(document):
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testfile(str(document), module_relative=False, optionflags=options).failed == 0


PROGRAMS = {document: [b for b in blocks(document, "python") if ">>>" not in b.text] for document in DOCUMENTS}


@pytest.mark.parametrize("document", of([document for document, programs in PROGRAMS.items() if programs], slow=True))
def test_examples_run(document, files, capsys):
    require_extra(document.name)
    variables: dict[str, object] = {}
    for block in PROGRAMS[document]:
        if not block.not_run:
            exec(compile("\n" * block.line + block.text, str(document), "exec"), variables)


# ---- commands --------------------------------------------------------------------------------------------------------


def command_lines(document: Path) -> Iterator[list[str]]:
    """The arguments of each call of crossarc in the shell examples of a document."""
    for block in blocks(document, "sh"):
        for line in block.text.replace("\\\n", " ").splitlines():
            for part in re.split(r"&&|\||;", line):
                words = shlex.split(part, comments=True)
                if words and Path(words[0]).name == "crossarc":
                    yield words[1:]


@pytest.mark.parametrize("document", of([d for d in DOCUMENTS if any(command_lines(d))]))
def test_command_lines_are_understood(document):
    for name, *arguments in command_lines(document):
        command = commands.get_command(None, name)
        assert command is not None, name
        context = command.make_context(name, list(arguments), parent=click.Context(commands))
        if isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
            command.commands[arguments[0]].make_context(arguments[0], arguments[1:], parent=context)


@cache
def options_of(name: str, system: str = "") -> frozenset[str]:
    """The options of a command, with those of the commands in it; of ``train``, with those of a system."""
    command = commands.get_command(None, name)
    context = command.make_context(name, ["--system", system] if system else [], resilient_parsing=True)
    inside = command.commands.values() if isinstance(command, click.Group) else ()
    params = [*command.params, command.get_help_option(context), *(param for own in inside for param in own.params)]
    return frozenset(option for param in params for option in (*param.opts, *param.secondary_opts))


@cache
def all_options() -> frozenset[str]:
    names = [name for name in commands.list_commands(None) if name != "train"]
    of_commands = map(options_of, names)
    return frozenset().union(*of_commands, *(options_of("train", system) for system in SYSTEMS))


def options_in(span: str) -> list[str]:
    return re.findall(r"(?<![\w-])(?:--[a-z][\w-]*|-[a-z]\b(?!-))", span)


@pytest.mark.parametrize("document", of([*GUIDES, ROOT / "CONTRIBUTING.md"]))
def test_options_exist(document):
    for span in spans(document):
        name = span.removeprefix("crossarc ").split(" ")[0]
        if span.startswith("crossarc ") and not name.startswith("-"):
            system = re.search(r"--system[ =]([\w-]+)", span)
            known = options_of(name, (system[1] if system else DEFAULT) if name == "train" else "")
        elif span.startswith("-"):
            known = all_options()
        else:
            continue
        assert set(options_in(span)) <= known, span


# ---- extras ----------------------------------------------------------------------------------------------------------


def test_extras_are_installed_from_a_clone():
    """By lines that work there, of extras that there are: in documents, help texts and what examples say."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    files = [
        *DOCUMENTS,
        *SOURCE.rglob("*.py"),
        *(path for name in ("benchmarks", "examples") for path in (ROOT / name).glob("*.py")),
    ]
    named = set()
    for path in files:
        for line in re.findall(r"pip install[^\n]*", path.read_text(encoding="utf-8")):
            assert "crossarc[" not in line, path
            named |= {extra for extras in re.findall(r"'\.\[([\w,]+)\]'", line) for extra in extras.split(",")}
        if path.suffix == ".py":
            named |= set(re.findall(r'MissingLibrary\(f?"[^"]+", "(\w+)"\)', path.read_text(encoding="utf-8")))
    assert {"serve", "arrow", "cluster", "neural", "svm", "lm", "spacy", "inception"} <= named <= set(declared)


# ---- the README ------------------------------------------------------------------------------------------------------


def test_the_readme_has_a_line_for_each_command():
    rows = re.findall(r"^\| `crossarc (\w+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(rows) == set(commands.list_commands(None))


def test_the_readme_compares_with_what_was_measured():
    """Each figure of a row, but for those that are quoted (¹), is one of a row with the same name."""
    pages = [ROOT / "docs" / "results" / name for name in ("peers.md", "text.md")]
    lines = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    for card in ROOT.glob("packages/crossarc-*/README.md"):
        model = f"| `{card.parent.name.removeprefix('crossarc-')}` |"
        lines += [model + line for line in card.read_text(encoding="utf-8").splitlines()]
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Beside other parsers")[2]
    rows = re.findall(r"^(\| [^|]+ \|)(.*\d.*)$", section.partition("\n## ")[0], re.MULTILINE)
    measured = {name: figures for name, figures in rows if "¹" not in name + figures}
    assert {"| `en-fast` |", "| `en` |", "| `en-minilm` |"} <= set(measured)
    for name, figures in measured.items():
        known = re.findall(r"\d[\d.,]+", " ".join(line for line in lines if line.startswith(name)))
        assert set(re.findall(r"\d[\d.,]+", figures)) <= set(known), name


def test_the_sentence_of_the_readme_has_the_crossing_arc_of_its_picture():
    text = re.search(r'parse --text "(.+)"', (ROOT / "README.md").read_text(encoding="utf-8")).group(1)
    [tree] = crossarc.load("en")(text)
    words = {form: i for i, form in enumerate(tree.form, 1)}
    assert tree.heads[words["barking"]] == words["dog"]
    assert tree.heads[words["yesterday"]] == words["saw"] == tree.heads[words["dog"]]
    assert not is_projective(tree.heads)
    assert to_svg([tree]) == (ROOT / "docs" / "crossing-tree.svg").read_text(encoding="utf-8")
