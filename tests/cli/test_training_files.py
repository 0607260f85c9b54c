"""What is on the disk while a training runs, fails or ends."""

from __future__ import annotations

import pytest

import crossarc
from commands import assert_one_line_error, run
from crossarc.cli import train as command
from crossarc.io.lock import only_writer
from crossarc.models import ModelError
from crossarc.pipeline import Pipeline

pytestmark = pytest.mark.slow  # kernels of taggers


@pytest.fixture
def training(trained, tmp_path):
    """The arguments of a training, where there is an older model with other components."""
    treebank, _, _ = trained
    model = tmp_path / "x.crossarc"
    arguments = (
        "train",
        treebank,
        "-m",
        model,
        "--order",
        1,
        "--epochs",
        1,
        "--hash-bits",
        14,
        "--with",
        "tagger",
        "-q",
    )
    assert run(*arguments).returncode == 0
    return arguments, model


def names(model):
    return sorted(path.name for path in model.parent.iterdir())


def test_the_old_model_stays_until_the_new_one_is_whole(training, monkeypatch):
    arguments, model = training
    old = model.read_bytes()
    assert names(model) == ["x.crossarc"]

    def full(self, path):
        assert model.read_bytes() == old  # there has been no model without a tagger meanwhile
        raise ModelError(f"{path}: no space left on device")

    monkeypatch.setattr(Pipeline, "save", full)
    assert_one_line_error(run(*arguments), "no space left", hint="--resume goes on")
    assert model.read_bytes() == old
    monkeypatch.undo()
    assert run(*arguments, "--resume").returncode == 0
    assert names(model) == ["x.crossarc"]
    assert "tagger" in crossarc.load(model).components


def test_the_model_is_there_before_its_checkpoint_goes(training, monkeypatch):
    arguments, model = training
    model.unlink()

    def killed(*_):
        raise SystemExit(9)

    monkeypatch.setattr(command, "_summarise", killed)
    assert run(*arguments).returncode == 9
    assert names(model) == ["x.crossarc", "x.crossarc.training"]
    assert crossarc.load(model).tagger is not None


def test_a_second_training_to_the_same_path_is_refused(training):
    arguments, model = training
    with only_writer(model):
        assert_one_line_error(run(*arguments), f"{model}: another process is at work on it")
    assert run(*arguments).returncode == 0


def test_what_the_model_says_of_a_treebank_cannot_forge_lines(training, tmp_path):
    """Whatever the treebank's file is called, what the model says of it can be shown, and the model can be read."""
    (command, treebank, *others), model = training
    odd = tmp_path / "a\nb\x1b\udcff.conllu"  # not UTF-8, too
    odd.write_bytes(treebank.read_bytes())
    assert run(command, odd, *others).returncode == 0
    assert crossarc.load(model).about["treebank"].startswith("a\ufffdb\ufffd\ufffd.conllu: ")
