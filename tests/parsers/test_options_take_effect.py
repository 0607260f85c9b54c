"""Options of training change what is learnt and what is found, not only the configuration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crossarc
from commands import run
from crossarc.core import Constraints
from crossarc.features.attributes import attributes_of
from crossarc.parsers import ParseOptions
from crossarc.testing import random_treebank
from crossarc.trees import best_tree, is_projective
from trained import TEST, trained


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
