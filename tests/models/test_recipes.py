"""The recipes of models: what they say is checked before any work, and each does what it says."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import crossarc
from crossarc.core import CrossarcError
from crossarc.features.weights import dequantized
from crossarc.models import describe_model, read_model
from crossarc.pipeline import load
from crossarc.server.handler import Handler
from trained import DEV, TEST, TRAIN, Interrupting

ROOT = Path(__file__).parents[2]
RECIPES = sorted((ROOT / "models").glob("*.toml"))
BUILT_IN = ROOT / "src" / "crossarc" / "models" / "builtin" / "en-fast.crossarc"


@pytest.fixture
def read_recipe(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "models")
    return importlib.import_module("recipe").read_recipe


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_recipes_are_understood(read_recipe, path):
    recipe = read_recipe(path)
    assert recipe.config.epochs > 1
    assert read_recipe(path, epochs=1).config.epochs == 1
    for text in ("https://", "CC BY-SA 4.0", "licence"):
        assert text in recipe.attribution
    assert recipe.treebank in recipe.attribution
    assert f"models/{path.name}" in (ROOT / "docs" / "models.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_their_treebanks_are_there_and_have_that_licence(read_recipe, path, treebanks):
    folder = treebanks / read_recipe(path).folder
    assert all((folder / f"{part}.conllu").exists() for part in ("train", "dev", "test"))
    assert "Attribution-ShareAlike" in (folder / "LICENSE.txt").read_text(encoding="utf-8")


WRONG = {
    "no such file": None,
    "unknown or missing: quantise": ("quantize = true", "quantise = true"),
    "unknown or missing: licence": (r"licence = .*", ""),
    "target is 'web'": ('target = "package"', 'target = "web"'),
    "components: no speller": ('"tagger"', '"speller"'),
    "system is 'none'": ('system = "neural"', 'system = "none"'),
    r"\[parser\]: .*momentum": ("seed = 1", "momentum = 1"),
    r"\[search\]: .*restarts": ("seed = 1", "seed = 1\n[search]\nrestarts = 2"),
    "epochs is 0": ("epochs = 20", "epochs = 0"),
    "no SPDX identifier": ("CC-BY-SA-4.0", "CC BY-SA 4.0"),
    "nl.toml: .*line 1": ("^name = ", "name "),
}


@pytest.mark.parametrize("problem", WRONG)
def test_what_is_wrong_with_a_recipe_is_said_at_once(read_recipe, problem, tmp_path):
    path, change = tmp_path / "nl.toml", WRONG[problem]
    if change is not None:
        text = (ROOT / "models" / "nl.toml").read_text(encoding="utf-8").partition("\n")[2]
        changed = re.sub(*change, text, count=1)
        assert changed != text
        path.write_text(changed, encoding="utf-8")
    with pytest.raises(CrossarcError, match=problem) as error:
        read_recipe(path)
    assert str(error.value).startswith(str(path))


def build(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "models" / "build.py"), *map(str, arguments)]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=one_thread)


@pytest.fixture
def treebank(tmp_path):
    """A folder as recipes want it, of random trees."""
    for part, trees in {"train": TRAIN, "dev": DEV, "test": TEST}.items():
        crossarc.write(trees, tmp_path / f"{part}.conllu")
    return tmp_path


def test_a_model_by_less_than_its_recipe_is_not_shipped(treebank):
    before = BUILT_IN.read_bytes()
    result = build(ROOT / "models" / "en-fast.toml", treebank, "--sentences", 5)
    assert result.returncode == 1
    assert result.stderr.startswith("build.py: error: a model by less than its recipe")
    assert result.stderr.count("\n") == 1
    assert BUILT_IN.read_bytes() == before


def test_an_interrupted_training_goes_on(treebank, tmp_path, monkeypatch):
    """To the same model; nothing is written before."""
    monkeypatch.syspath_prepend(ROOT / "models")
    build_module, recipe = (importlib.import_module(name) for name in ("build", "recipe"))
    monkeypatch.setattr(build_module, "measured_alone", lambda *arguments: {})
    text = (ROOT / "models" / "en-fast.toml").read_text(encoding="utf-8")
    text = text.replace('order = "high"', 'order = "1"').replace("hash_bits = 22", "hash_bits = 18")
    (tmp_path / "en.toml").write_text(re.sub("components = .*|restarts = 2", "", text), encoding="utf-8")
    small = recipe.read_recipe(tmp_path / "en.toml", epochs=2)
    interrupted, whole = tmp_path / "interrupted", tmp_path / "whole"
    with monkeypatch.context() as patch:
        patch.setattr(build_module.Lines, "end_epoch", Interrupting("heads", 1).end_epoch)
        with pytest.raises(KeyboardInterrupt):
            build_module.make(small, treebank, interrupted, 60, resume=False)
    assert [path.name for path in interrupted.iterdir()] == ["en-fast.training"]
    build_module.make(small, treebank, interrupted, 60, resume=True)
    build_module.make(small, treebank, whole, 60, resume=False)
    assert [path.name for path in interrupted.iterdir()] == ["en-fast.crossarc"]
    own, theirs = (read_model(folder / "en-fast.crossarc").components["parser"] for folder in (interrupted, whole))
    assert own.header == theirs.header
    for name, tensor in own.tensors.items():
        np.testing.assert_array_equal(dequantized(tensor), dequantized(theirs.tensors[name]))
    another = tmp_path / "another"
    build_module.make(
        small, treebank, another, 60, parser=whole / "en-fast.crossarc"
    )  # a parser that was trained before
    assert read_model(another / "en-fast.crossarc").components["parser"].header == own.header
    with pytest.raises(CrossarcError, match="another treebank"):
        build_module.make(small, treebank, another, 50, parser=whole / "en-fast.crossarc")
    other = recipe.read_recipe(tmp_path / "en.toml", epochs=3)
    with pytest.raises(CrossarcError, match="where the recipe has"):
        build_module.make(other, treebank, another, 60, parser=whole / "en-fast.crossarc")


def check(header: dict[str, object], language: str) -> None:
    about = header["about"]
    assert (about["language"], header["quantized"]) == (language, True)
    assert set(about["scores"]) == {"raw text", "gold words"}
    assert about["scores"]["raw text"]["Tokens"] > 90
    assert about["words_per_second"] > 0


@pytest.mark.slow
def test_the_recipe_of_the_linear_model(treebank, tmp_path):
    little = ["--sentences", 60, "--epochs", 1, "--output", tmp_path / "out"]
    result = build(ROOT / "models" / "en-fast.toml", treebank, *little)
    assert result.returncode == 0, result.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["en-fast.crossarc"]
    header, shipped = describe_model(tmp_path / "out" / "en-fast.crossarc"), describe_model(BUILT_IN)
    check(header, "English")
    assert header["components"].keys() == shipped["components"].keys()
    own, theirs = (found["components"]["parser"]["config"] for found in (header, shipped))
    for setting in ("order", "hash_bits", "seed", "max_candidates", "restarts"):
        assert own[setting] == theirs[setting]


@pytest.mark.slow
def test_the_recipe_of_a_package_with_a_neural_parser(treebank, tmp_path):
    pytest.importorskip("torch", reason="neural parsers are trained with torch")
    little = ["--sentences", 30, "--epochs", 1, "--output", tmp_path / "out"]
    result = build(ROOT / "models" / "nl.toml", treebank, *little)
    assert result.returncode == 0, result.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["crossarc-nl"]
    file = tmp_path / "out" / "crossarc-nl" / "src" / "crossarc_nl" / "nl.crossarc"
    check(describe_model(file), "Dutch")
    assert "which finds tags, too" in (tmp_path / "out" / "crossarc-nl" / "README.md").read_text(encoding="utf-8")
    model = load(file)
    assert repr(model).endswith(": parser, segmenter, lemmatizer>")
    replace(model, lemmatizer=None).save(tmp_path / "without.crossarc")
    assert Handler(str(tmp_path / "without.crossarc"), 40).description.steps == ("tokenizer", "tagger", "parser")
