"""Models of installed packages: found by name; whatever is wrong with a package is said, and whose fault it is."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from safetensors import safe_open
from safetensors.numpy import save

import crossarc
from commands import assert_one_line_error, run
from crossarc.core import ModelWarning
from crossarc.models import ModelError, available, describe_model, read_model
from crossarc.models.installed import file_of
from crossarc.parsers import load as load_parser
from trained import trained


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder that packages are installed in."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(tmp_path)
    return folder


def install(site: Path, distribution: str, name: str, module: str, content: bytes | None = None) -> Path:
    """What an installer leaves of a package with a model: its metadata and its file."""
    about = site / f"{distribution.replace('-', '_')}-1.5.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.5\n")
    (about / "entry_points.txt").write_text(f"[crossarc.models]\n{name} = {module}\n")
    folder = site.joinpath(*module.split("."))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").write_text("raise RuntimeError('nothing of the package is to be executed')\n")
    if content is not None:
        (folder / f"{name}.crossarc").write_bytes(content)
    return folder / f"{name}.crossarc"


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    trained("order 1").save(path := tmp_path_factory.mktemp("model") / "model")
    return path.read_bytes()


@pytest.mark.parametrize("module", ["crossarc_xx", "models_of_mine.xx"])
def test_a_model_is_found_by_its_name_and_its_package_is_not_executed(site, content, module):
    path = install(site, "crossarc-xx", "xx", module, content)
    assert file_of("xx") == path
    assert available()["xx"] | {"path": "", "bytes": 0} == {
        **read_model(path).about,
        "system": "spanning-tree",
        "components": ["parser"],
        "package": "crossarc-xx 1.5",
        "path": "",
        "bytes": 0,
    }
    assert repr(crossarc.load("xx")) == "<Pipeline xx: parser>"
    assert load_parser("xx").labels == trained("order 1").labels
    assert describe_model("xx")["bytes"] == len(content)


def test_files_come_before_names_and_directories_do_not_matter(site, content, tmp_path):
    installed = install(site, "crossarc-xx", "xx", "crossarc_xx", content)
    (tmp_path / "xx").mkdir()
    assert file_of("xx") == installed
    (tmp_path / "xx").rmdir()
    (tmp_path / "xx").write_bytes(content)
    assert file_of("xx") == Path("xx")
    assert file_of("./xx") == Path("xx")
    (tmp_path / "en").write_bytes(b"")
    assert available()["en"]["package"].startswith("crossarc ")


def test_a_name_that_nobody_has_lists_those_there_are(site, content):
    install(site, "crossarc-xx", "xx", "crossarc_xx", content)
    assert_one_line_error(run("parse", "--text", "Yes.", "-m", "yy"), "yy: no such file", "(en", ", xx")


BROKEN = [
    pytest.param("xx", None, "no file crossarc_xx/xx.crossarc", id="no file"),
    pytest.param("xx", b"something else", "not a model file", id="another file"),
    pytest.param("x x", b"", "'x x' is no name of a model", id="no name"),
]


@pytest.mark.parametrize(("name", "found", "problem"), BROKEN)
def test_what_is_wrong_with_a_package(site, name, found, problem):
    install(site, "crossarc-broken", name, "crossarc_xx", found)
    for use in (crossarc.load, load_parser, describe_model):
        with pytest.raises(ModelError, match=problem) as error:
            use(name)
        assert str(error.value).count("crossarc-broken 1.5") == 1
    with pytest.warns(ModelWarning, match=problem) as warned:
        assert name not in available()
    assert "crossarc-broken 1.5" in str(warned[0].message)
    listed = run("models")
    assert listed.returncode == 0
    assert listed.stdout.startswith(b"en\n")
    (line,) = listed.stderr.decode().splitlines()
    assert line.startswith("crossarc: warning: package crossarc-broken 1.5: ")
    assert_one_line_error(run("parse", "--text", "Yes.", "-m", name), problem, "crossarc-broken 1.5")


def test_a_module_that_is_not_there(site):
    path = install(site, "crossarc-broken", "xx", "crossarc_xx")
    (path.parent / "__init__.py").unlink()
    path.parent.rmdir()
    with pytest.raises(ModelError, match=r"no file crossarc_xx/xx.crossarc in the package crossarc-broken 1\.5"):
        crossarc.load("xx")


def test_two_packages_with_one_name(site, content):
    install(site, "crossarc-one", "xx", "crossarc_one", content)
    install(site, "crossarc-two", "xx", "crossarc_two", content)
    result = run("parse", "--text", "Yes.", "-m", "xx")
    assert_one_line_error(result, "crossarc-one 1.5 and crossarc-two 1.5", "uninstall all but one")
    with pytest.warns(ModelWarning) as warned:
        assert "xx" not in available()
    assert [str(warning.message).split(":")[0] for warning in warned] == [
        "package crossarc-one 1.5",
        "package crossarc-two 1.5",
    ]


def test_a_built_in_model_keeps_its_name(site, content):
    install(site, "crossarc-mine", "en", "crossarc_mine", content)
    assert describe_model("en")["about"]["language"] == "English"
    with pytest.warns(ModelWarning, match=r"package crossarc-mine 1\.5: en: the built-in model"):
        found = available()
    assert found["en"]["package"] == f"crossarc {crossarc.__version__}"
    result = run("models", "--json")
    assert json.loads(result.stdout) == found
    assert result.stderr.decode().count("crossarc-mine 1.5") == 1


@pytest.mark.parametrize(
    "about",
    [
        {"scores": 3},
        {"scores": {"raw text": {"LAS": "high"}}},
        {"scores": {"\x1b[31m": {}}},
        {"licence": ["MIT"]},
        {"attribution": 5},
        {"language": None},
        {"treebank": "a\nforged: line"},
        {"attribution": "\x1b]0;another title\x07"},
    ],
)
def test_what_a_header_says_is_looked_at_before_it_is_shown(site, content, about, tmp_path):
    path = install(site, "crossarc-odd", "xx", "crossarc_xx", with_about(content, about, tmp_path))
    listed = run("models")
    assert listed.returncode == 0
    assert b"crossarc-odd 1.5" in listed.stderr
    assert b"xx" not in listed.stdout
    (name,) = about
    assert_one_line_error(run("inspect", path), f"xx.crossarc: its header: about: {name} has")
    with pytest.raises(ModelError, match=f"about: {name} has"):
        crossarc.load("xx")
    with pytest.raises(ModelError, match=f"about: {name} has"):  # nor is it written
        crossarc.models.write_model(tmp_path / "x", {}, about=about)


def with_about(content, about, folder):
    """A model file in which its maker says this of it."""
    (folder / "x").write_bytes(content)
    with safe_open(folder / "x", framework="np") as file:
        header, tensors = json.loads(file.metadata()["crossarc"]), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    (folder / "x").unlink()
    return save(tensors, {"crossarc": json.dumps({**header, "about": about})})


def test_no_warning_without_a_reason(site, content):
    install(site, "crossarc-xx", "xx", "crossarc_xx", content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert {"en", "xx"} <= set(available())
