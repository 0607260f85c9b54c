"""Every field of every configuration can be set on the command line, and reaches the training."""

from __future__ import annotations

from dataclasses import dataclass

import click
import pytest
from click.testing import CliRunner

import crossarc
from commands import assert_one_line_error, run
from crossarc.cli import crossarc as commands
from crossarc.cli import train as command
from crossarc.parsers.config import settings
from crossarc.parsers.registry import SYSTEMS, WRAPPERS

FIELDS = [(system.name, setting) for system in SYSTEMS.values() for setting in settings(system.config)]
TEXTS = {
    "features": "mcd2005",
    "symbols": "xpos",
    "parts": "arc,sibling",
    "encoder": "my-encoder",
    "vectors": "my-encoder",
    "members": "graph,ilp",
}


@dataclass
class Reached(Exception):
    """Training would begin now."""

    config: object


@pytest.fixture
def train(monkeypatch, handmade, tmp_path):
    """The configuration that training would get."""

    def stop(trees, config, **_):
        raise Reached(config)

    def run(*arguments):
        arguments = ["train", str(handmade), "-m", str(tmp_path / "model"), *map(str, arguments)]
        result = CliRunner().invoke(commands, arguments, standalone_mode=False)
        if isinstance(result.exception, Reached):
            return result.exception.config
        raise result.exception

    monkeypatch.setattr(command, "train", stop)
    return run


def other_value(setting):
    """A value that is not the default."""
    if setting.type is bool:
        return not setting.default
    if setting.choices:
        return next(choice for choice in setting.choices if choice != setting.default)
    if setting.type is str:
        return TEXTS[setting.name]
    if setting.default is None:
        return setting.type(setting.low + 2)
    too_large = setting.high is not None and setting.default + 1 > setting.high
    return setting.type(setting.low if too_large else setting.default + 1)


def as_option(setting, value):
    flags = setting.flags or f"--{setting.name.replace('_', '-')}"
    if setting.type is bool:
        return [flags.split("/")[0 if value else 1]]
    return [flags, str(value)]


@pytest.mark.parametrize(("system", "setting"), FIELDS, ids=[f"{system}: {s.name}" for system, s in FIELDS])
def test_every_field_can_be_set(train, handmade, system, setting):
    value = other_value(setting)
    arguments = ["--system", system, *as_option(setting, value)]
    by_name = {known.name: known for known in settings(SYSTEMS[system].config)}
    for name, values in setting.only.items():
        arguments += as_option(by_name[name], values[0])
    if system == "spanning-tree" and setting.name == "learner":
        arguments += ["--order", "1"]
    if "kbest-mira" in arguments or "crf" in arguments:
        arguments += ["--order", "1"]
    if setting.name == "shared_weights":
        arguments += ["--no-basic-tree"]
    if setting.name == "patience":
        arguments += ["--dev", handmade]
    if setting.name == "encoder_learning_rate":
        arguments += ["--encoder", "my-encoder"]
    if setting.name == "seed" and system == "generative":
        arguments += ["--start", "random"]
    if setting.name == "single_root" and system == "generative":
        value, arguments = True, ["--system", system, "--single-root"]
    assert getattr(train(*arguments), setting.name) == value


# The option and the argument of ``train`` for each field of a wrapper's configuration, and a value
OF_WRAPPERS = {
    "pseudo-projective": {"encoding": ("--pseudo-projective", "pseudo_projective", "head+path")},
    "stacked": {"guide": ("--stack", "stack", "generative")},
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_every_field_of_a_wrapper_can_be_set(monkeypatch, handmade, tmp_path, wrapper):
    given = {}
    monkeypatch.setattr(command, "train", lambda trees, config, **others: given.update(others) or 1 / 0)
    assert {setting.name for setting in settings(WRAPPERS[wrapper].config)} == set(OF_WRAPPERS[wrapper])
    for option, argument, value in OF_WRAPPERS[wrapper].values():
        arguments = ["train", str(handmade), "-m", str(tmp_path / "model"), option, value]
        CliRunner().invoke(commands, arguments, standalone_mode=False)
        assert given[argument] == value


@pytest.mark.parametrize("system", SYSTEMS)
def test_defaults_are_those_of_the_configuration(train, system):
    assert train("--system", system) == SYSTEMS[system].config().beside(())


def test_presets_and_options_beside_them(train):
    config = train("--preset", "mcd2005", "--epochs", "2")
    assert (config.learner, config.projective, config.epochs) == ("kbest-mira", True, 2)
    assert train("--learner", "crf") == SYSTEMS["spanning-tree"].presets["ms2007"]
    assert (train("--learner", "crf").labels, train("--learner", "crf", "--max-candidates", "5").max_candidates) == (
        "two-stage",
        5,
    )
    config = train("--system", "covington", "--preset", "n07", "--svm-gamma", "0.1")
    assert (config.classifier, config.features, config.unattached, config.svm_gamma) == ("svm", "n07", "root", 0.1)


def test_options_without_effect_are_refused(train):
    for arguments in (
        ["-k", "50"],
        ["--l2", "3"],
        ["--optimizer", "lbfgs"],
        ["--restarts", "2", "--order", "1"],
        ["--jobs", "2", "--system", "covington"],
        ["--epochs", "3", "--system", "covington", "--classifier", "svm"],
        ["--prior", "3", "--system", "generative"],
        ["--exploration", "0.5"],
        ["--svm-cost", "1", "--system", "covington"],
        ["--preset", "mcd2005", "--system", "ilp"],
        ["--pruning-margin", "3", "--max-candidates", "0"],
        ["--pruning-margin", "3", "--learner", "crf"],
        ["--pruning-margin", "3", "--max-candidates", "0", "--system", "graph"],
        ["--no-loss-augmented", "--learner", "factored-mira", "--order", "1"],
        ["--start", "nonprojective", "--order", "2", "--projective"],
        ["--start", "nonprojective", "--projective", "--system", "graph"],
        ["--patience", "3"],
        ["--jobs", "2", "--labels", "joint"],
        ["--jobs", "2", "--labels", "none", "--system", "ilp"],
        ["--seed", "3", "--system", "generative", "--unsupervised"],
        ["--seed", "3", "--system", "combined", "--members", "a.crossarc,b.crossarc"],
        ["--encoder-learning-rate", "0.1", "--system", "neural"],
    ):
        with pytest.raises(click.UsageError):
            train(*arguments)


@pytest.mark.parametrize(
    "options",
    [
        ["--order", "2", "--features", "mcd2005"],
        ["--features", "mcd2005"],
        ["--system", "graph", "--features", "mcd2005"],
        ["--system", "ilp", "--features", "mcd2005"],
    ],
    ids=" ".join,
)
def test_feature_sets_without_templates_for_the_parts_are_refused(options, tmp_path):
    """They would train a first-order parser with a worse search."""
    treebank = tmp_path / "train.conllu"
    columns = {"deprel": ["nsubj", "root", "obj"], "deps": ["2:nsubj", "0:root", "1:dep|2:obj"]}
    crossarc.write([crossarc.Sentence.of(["I", "see", "it"], head=["2", "0", "2"], **columns)], treebank)
    result = run("train", treebank, "-m", tmp_path / "x.crossarc", *options)
    assert_one_line_error(result, "--features mcd2005 has no templates for", "sibling")


def test_the_help_text_fits_a_screen():
    def lines(*arguments):
        return CliRunner().invoke(commands, [*arguments, "--help"], terminal_width=80).output.splitlines()

    assert len(lines("train")) <= 50
    assert len(lines("parse")) <= 50
    for system in SYSTEMS.values():
        text = "\n".join(lines("train", "--system", system.name))
        for setting in settings(system.config):
            assert (setting.flags or f"--{setting.name.replace('_', '-')}").split("/")[0] in text
    assert "--exploration" not in "\n".join(lines("train"))


def test_several_treebanks_and_dev_sets(monkeypatch, handmade, tmp_path):
    sizes = []
    monkeypatch.setattr(command, "train", lambda trees, config, dev, **_: sizes.append((len(trees), len(dev))) or 1 / 0)
    arguments = ["train", handmade, handmade, "--dev", handmade, "--dev", handmade, "-m", tmp_path / "model"]
    CliRunner().invoke(commands, list(map(str, arguments)), standalone_mode=False)
    both = 2 * sum(1 for _ in crossarc.read(handmade))
    assert sizes == [(both, both)]
