"""TreeDistribution against enumeration, and against the functions that it is made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from crossarc import trees
from crossarc.trees import Constraints, NoTreeError, Tree, TreeDistribution
from strategies import score_arrays

FLAGS = [{"single_root": s, "projective": p} for s in (False, True) for p in (False, True)]
flags = pytest.mark.parametrize("flags", FLAGS, ids=lambda f: "-".join(k for k in f if f[k]) or "plain")


@flags
@settings(max_examples=40)
@given(scores=st.one_of(score_arrays(max_words=4), score_arrays(max_words=3, max_labels=2)))
def test_all_trees_have_their_probabilities(flags, scores):
    found = oracles.scored_trees(scores, **flags)
    distribution = TreeDistribution(scores, **flags)
    if not found:
        for quantity in ("log_partition", "marginals", "entropy"):
            with pytest.raises(NoTreeError):
                getattr(distribution, quantity)
        return
    log_p = [distribution.log_prob(tree_of(heads, labels)) for _, heads, labels in found]
    assert np.exp(log_p).sum() == pytest.approx(1.0, abs=1e-10)
    for (score, _, _), found_log_p in zip(found, log_p, strict=True):
        assert found_log_p == pytest.approx(score - oracles.log_partition(scores, **flags), abs=1e-8)
    assert distribution.entropy == pytest.approx(-np.dot(np.exp(log_p), log_p), abs=1e-8)
    assert distribution.log_prob(distribution.best()) == pytest.approx(max(log_p), abs=1e-8)
    assert [t.score for t in distribution.k_best(3)] == pytest.approx([t[0] for t in found[:3]])


def tree_of(heads, labels):
    return Tree(np.array(heads), None if labels is None else np.array(labels), 0.0)


@flags
def test_constraints_leave_the_trees_that_meet_them(flags):
    scores = np.random.default_rng(1).normal(size=(5, 5, 2))
    constraints = Constraints(
        required_arcs=frozenset({(3, 1)}),
        forbidden_arcs=frozenset({(0, 2), (4, 2)}),
        required_labels={4: 1},
        forbidden_labels=frozenset({(1, 0)}),
        **flags,
    )
    allowed = [
        (score, heads, labels)
        for score, heads, labels in oracles.scored_trees(scores, **flags)
        if heads[1] == 3 and heads[2] not in (0, 4) and labels[4] == 1 and labels[1] != 0
    ]
    distribution = TreeDistribution(scores, constraints=constraints)
    log_z = np.logaddexp.reduce([score for score, _, _ in allowed])
    assert distribution.log_partition == pytest.approx(log_z, rel=1e-12)
    assert distribution.log_prob(tree_of(*allowed[0][1:])) == pytest.approx(allowed[0][0] - log_z)
    best = distribution.k_best(len(allowed) + 1)
    assert [t.heads.tolist() for t in best] == [list(heads) for _, heads, _ in allowed]
    assert [t.labels.tolist() for t in best] == [list(labels) for _, _, labels in allowed]
    assert {tuple(t.heads) for t in distribution.sample(50, rng=1)} <= {heads for _, heads, _ in allowed}
    for function in ("log_partition", "entropy"):
        assert getattr(trees, function)(scores, constraints=constraints) == getattr(distribution, function)


@flags
def test_trees_that_are_not_allowed_have_no_probability(flags):
    distribution = TreeDistribution(np.zeros((4, 4)), **flags)
    two_roots, crossing, forbidden = [-1, 0, 0, 1], [-1, 3, 0, 2], [-1, 0, 1, 2]
    assert (distribution.log_prob(two_roots) == -np.inf) == (flags["single_root"] or flags["projective"])
    assert (distribution.log_prob(crossing) == -np.inf) == flags["projective"]
    constraints = Constraints(forbidden_arcs=frozenset({(1, 2)}))
    assert TreeDistribution(np.zeros((4, 4)), constraints=constraints).log_prob(forbidden) == -np.inf
    assert TreeDistribution(np.zeros((1, 1)), **flags).log_prob([-1]) == 0.0


def test_heads_alone_have_the_probability_of_all_their_labels():
    scores = np.random.default_rng(2).normal(size=(4, 4, 3))
    distribution = TreeDistribution(scores)
    heads = (-1, 2, 0, 2)
    of_each = [distribution.log_prob(tree_of(h, labels)) for _, h, labels in oracles.scored_trees(scores) if h == heads]
    assert len(of_each) == 27
    assert distribution.log_prob(heads) == pytest.approx(np.logaddexp.reduce(of_each), rel=1e-12)


@flags
def test_the_same_as_the_functions(flags):
    scores = np.random.default_rng(3).normal(size=(9, 9))
    distribution = TreeDistribution(scores, **flags)
    assert distribution.log_partition == trees.log_partition(scores, **flags)
    np.testing.assert_array_equal(distribution.marginals, trees.marginals(scores, **flags))
    assert distribution.entropy == pytest.approx(trees.entropy(scores, **flags), rel=1e-12)
    assert distribution.min_risk().heads.tolist() == trees.min_risk_tree(scores, **flags).heads.tolist()
    halved = distribution.with_temperature(2.0)
    np.testing.assert_array_equal(halved.marginals, trees.marginals(scores / 2.0, **flags))


def test_what_is_known_does_not_change():
    scores = np.random.default_rng(4).normal(size=(6, 6))
    distribution = TreeDistribution(scores)
    log_z = distribution.log_partition
    marginals = distribution.marginals
    scores[:] = 0.0
    assert distribution.log_partition == log_z
    assert distribution.marginals is marginals
    with pytest.raises(ValueError, match="read-only"):
        marginals[0, 1] = 1.0


def test_bad_trees_and_temperatures_are_refused():
    distribution = TreeDistribution(np.zeros((3, 3, 2)))
    for tree, message in [
        ([-1, 0], "a tree over 1 words, but scores of 2"),
        ([-1, 2, 1], "cycle"),
        (Tree(np.array([-1, 0, 1]), np.array([-1, 0, 2]), 0.0), r"labels\[2\] is 2, which is not in 0..1"),
        (Tree(np.array([-1, 0, 1]), np.array([-1, 0]), 0.0), "labels must be 3 integers"),
    ]:
        with pytest.raises(ValueError, match=message):
            distribution.log_prob(tree)
    with pytest.raises(ValueError, match="a tree with labels, but scores without"):
        TreeDistribution(np.zeros((2, 2))).log_prob(Tree(np.array([-1, 0]), np.array([-1, 0]), 0.0))
    for temperature in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="temperature"):
            distribution.with_temperature(temperature)
