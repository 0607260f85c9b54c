"""Options of training change what is learnt and what is found, not only the configuration."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import crossarc
from commands import run
from crossarc.core import Constraints, Sentence
from crossarc.features.attributes import attributes_of
from crossarc.parsers import (
    CovingtonConfig,
    GenerativeConfig,
    GraphConfig,
    IlpConfig,
    NeuralConfig,
    ParseOptions,
    SpanningTreeConfig,
)
from crossarc.parsers import train as train_parser
from crossarc.parsers.config import Config, settings
from crossarc.parsers.covington.config import PRESETS
from crossarc.parsers.registry import SYSTEMS, system_of
from crossarc.testing import random_treebank
from crossarc.trees import best_tree, is_projective
from trained import SMALL, TEST, TRAIN, trained


@pytest.fixture(scope="module")
def train(tmp_path_factory):
    """A parser trained on the command line with these options."""
    folder = tmp_path_factory.mktemp("options")
    treebank, model = folder / "train.conllu", folder / "my.crossarc"
    crossarc.write(random_treebank(40, seed=3, nonprojectivity=0.4), treebank)

    def parser_with(*options):
        result = run("train", treebank, "-m", model, "--epochs", 2, "--hash-bits", 16, *options)
        assert result.returncode == 0, result.stderr.decode()
        return crossarc.load(model).parser

    return parser_with


@pytest.fixture(scope="module")
def first_order(train):
    return train("--order", "1")


def weights(parser):
    return np.asarray(parser.scorer.heads_model.weights)


@pytest.mark.parametrize(
    "options",
    [["--aggressiveness", "0.001"], ["--no-loss-augmented"], ["--max-candidates", "2"], ["--max-candidates", "0"]],
    ids=" ".join,
)
def test_other_weights_are_learnt(train, first_order, options):
    other = train("--order", "1", *options)
    assert (weights(other) != weights(first_order)).any()


def test_the_largest_step(train, first_order):
    assert abs(weights(train("--order", "1", "--aggressiveness", "1e-6"))).max() < 0.1 * abs(weights(first_order)).max()


@pytest.mark.parametrize("most", [0, 2])
def test_the_number_of_candidates(train, most):
    """Two heads and that of the pruner's best tree at most; without a pruner, all."""
    parser = train("--order", "1", "--max-candidates", most)
    for sentence in TEST[:5]:
        heads = parser.parse_sentence(sentence).heads
        (scores,) = parser.potentials(attributes_of([sentence]), heads, Constraints())
        counts = (scores[:, 1:] > -np.inf).sum(axis=0)
        assert (counts == len(sentence)).all() if most == 0 else counts.max() <= 3


def test_without_labels(train):
    assert {label for tree in train("--order", "1", "--labels", "none").trees(TEST[:5]) for label in tree.deprel} == {
        "_"
    }


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--max-changes", "0"], ["--start", "nonprojective"]], ids=" ".join)
def test_the_climbing_of_order_2_is_that_of_training(train, options):
    """Other trees are found in training, so other weights are learnt."""
    assert (weights(train("--order", "2", *options)) != weights(train("--order", "2"))).any()


@pytest.mark.slow
def test_without_changes_the_tree_is_where_the_climbing_starts():
    """The best projective tree, or the best one by arcs alone; further changes lead away from both."""
    parser = trained("order 2")
    parser = replace(parser, scorer=parser.scorer.without_pruning())

    def trees(**options):
        return [tree.heads.tolist() for tree in replace(parser, config=replace(parser.config, **options)).trees(TEST)]

    assert all(map(is_projective, trees(max_changes=0)))
    by_arcs = [best_tree(parser.scores(sentence), single_root=bool(parser.config.single_root)) for sentence in TEST]
    assert trees(max_changes=0, start="nonprojective") == [tree.heads.tolist() for tree in by_arcs]
    found = [trees(max_changes=changes, start="nonprojective") for changes in (0, 1, None)]
    assert found[0] != found[1] != found[2]
    one_change = [sum(a != b for a, b in zip(*pair, strict=True)) for pair in zip(*found[:2], strict=True)]
    assert set(one_change) == {0, 1}


@pytest.mark.parametrize("order", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_single_root(train, order):
    """Where the treebank has one root for each tree, several must be asked for."""
    several = train("--order", order, "--several-roots")
    assert not several.config.single_root
    options = ParseOptions(constraints=Constraints(required_arcs=frozenset({(0, 1), (0, 2)})))
    (found,) = several.parse(TEST[:1], options)
    assert found.sentence.head[:2] == ("0", "0")
    (refused,) = train("--order", order, "--single-root").parse(TEST[:1], options)
    assert refused.error is not None


# ---- every setting of every system -----------------------------------------------------------------------------------

FIRST = SpanningTreeConfig(order="1", epochs=2, hash_bits=16)
CRF = replace(FIRST, learner="crf", max_candidates=0)
SVM = CovingtonConfig(classifier="svm")
EM = GenerativeConfig(unsupervised=True, epochs=3, start="random")
NETWORK = NeuralConfig(**{**SMALL, "epochs": 1})

# configurations, and other values of their settings: each of them gives another parser
CHANGES: list[tuple[Config, dict[str, Any]]] = [
    (FIRST, {"order": "2", "projective": True, "single_root": False, "learner": "perceptron", "loss_augmented": False}),
    (FIRST, {"labels": "joint", "epochs": 1, "seed": 2, "features": "mcd2005", "hash_bits": 12, "max_candidates": 2}),
    (FIRST, {"pruning_margin": 0.1, "aggressiveness": 0.001, "shards": 2}),
    (replace(FIRST, order="2"), {"start": "nonprojective", "max_changes": 0}),
    (replace(FIRST, order="high"), {"restarts": 0}),
    (replace(FIRST, learner="kbest-mira"), {"k": 2}),
    (CRF, {"optimizer": "lbfgs", "l2": 10.0, "loss_augmented": True, "max_candidates": 3}),
    (CovingtonConfig(epochs=2, hash_bits=16), {"projective": True, "max_degree": 1, "single_root": False, "seed": 2}),
    (
        CovingtonConfig(epochs=2, hash_bits=16),
        {"features": "n07", "exploration": 0.0, "epochs": 1},
    ),
    (CovingtonConfig(epochs=2, hash_bits=16), {"aggressiveness": 0.0001, "hash_bits": 12, "classifier": "svm"}),
    (PRESETS["n07"], {"unattached": "closest"}),
    (SVM, {"svm_degree": 3, "svm_gamma": 0.5, "svm_r": 1.0, "svm_cost": 0.01, "svm_tolerance": 0.01, "svm_split": 1}),
    (GenerativeConfig(), {"unsupervised": True, "symbols": "xpos", "condition": "head", "stop": False}),
    (GenerativeConfig(), {"projective": False}),
    (GenerativeConfig(stop=False), {"single_root": False}),
    (GenerativeConfig(symbols="form"), {"condition": "direction"}),
    (replace(EM, start="harmonic"), {"restarts": 1}),
    (EM, {"start": "uniform", "epochs": 2, "prior": 0.1, "seed": 2, "condition": "distance"}),
    (GraphConfig(epochs=2, hash_bits=16), {"basic_tree": False, "cycles": "sentence", "projective": True, "seed": 2}),
    (GraphConfig(epochs=2, hash_bits=16), {"single_root": False, "epochs": 1, "features": "mp2006", "hash_bits": 12}),
    (GraphConfig(epochs=2, hash_bits=16), {"max_candidates": 2, "pruning_margin": 0.1, "start": "nonprojective"}),
    (GraphConfig(epochs=2, hash_bits=16), {"max_changes": 0, "loss_augmented": False, "aggressiveness": 0.001}),
    (GraphConfig(epochs=2, hash_bits=16, basic_tree=False), {"shared_weights": True}),
    (IlpConfig(epochs=1, hash_bits=16), {"parts": "arc", "solver": "highs", "projective": True, "single_root": False}),
    (IlpConfig(epochs=1, hash_bits=16), {"labels": "joint", "epochs": 2, "seed": 2, "hash_bits": 12}),
    (IlpConfig(epochs=1, hash_bits=16), {"max_candidates": 2, "pruning_margin": 0.1, "aggressiveness": 0.001}),
    (IlpConfig(epochs=1, hash_bits=16, parts="arc"), {"features": "mcd2005"}),
    (NETWORK, {"tags": "none", "projective": True, "single_root": False, "loss": "head", "epochs": 2, "seed": 2}),
    (NETWORK, {"batch_words": 50, "learning_rate": 0.01, "dropout": 0.1, "word_dropout": 0.5, "embedding_size": 16}),
    (NETWORK, {"hidden_size": 16, "layers": 1, "arc_size": 8, "label_size": 8}),
]
ELSEWHERE = {
    ("spanning-tree", "patience"),  # test_crf.py
    *(("neural", name) for name in ("encoder", "encoder_learning_rate", "vectors")),  # test_neural_parser.py
    *(("combined", name) for name in ("members", "seed")),  # test_combined.py
}
CYCLIC = Sentence.of(["I", "see", "it"]).with_tree([-1, 2, 0, 2], ["_", "nsubj", "root", "obj"])
SENTENCES = [*TRAIN[:40], CYCLIC.with_columns(deps=["2:nsubj", "0:root|3:dep", "2:obj"])]  # 3 -> 2 -> 3


@cache
def outcome(config: Config) -> tuple[dict[str, bytes], list[tuple[Any, ...]]]:
    """The arrays of a parser with that configuration, and its trees."""
    if isinstance(config, NeuralConfig):
        pytest.importorskip("torch", reason="neural parsers are trained with torch").set_num_threads(1)
    parser = train_parser(SENTENCES, config)
    arrays = {name: np.asarray(array).tobytes() for name, array in parser.to_model()[1].items()}
    return arrays, [(tree.head, tree.deprel, tree.deps) for tree in parser.trees(TEST[:12])]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "name", "value"),
    [
        pytest.param(config, name, value, id=f"{system_of(config).name}: {name}={value}")
        for config, others in CHANGES
        for name, value in others.items()
    ],
)
def test_another_value_makes_another_parser(config, name, value):
    other = replace(config, **{name: value})
    assert name not in config.without_effect().keys() & other.without_effect().keys()
    assert outcome(other) != outcome(config)


def test_every_setting_is_tried():
    tried = {(system_of(config).name, name) for config, others in CHANGES for name in others} | ELSEWHERE
    assert tried == {(system.name, setting.name) for system in SYSTEMS.values() for setting in settings(system.config)}
