"""Limits on the number of children (McDonald & Satta 2007, §5.1 and §6): against enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from crossarc import trees
from crossarc.core import Constraints, NoTreeError, UnsupportedConstraint
from strategies import score_arrays

FLAGS = [{"single_root": s, "projective": p} for s in (False, True) for p in (False, True)]


@st.composite
def limited_sentences(draw, **options):
    """Scores, and limits for some of the nodes; a limit above the number of words is none."""
    scores = draw(score_arrays(**options))
    nodes = st.integers(0, len(scores) - 1)
    return scores, draw(st.dictionaries(nodes, st.integers(0, len(scores)), min_size=1))


def within(heads, limits):
    return all(len(oracles.children(heads, node)) <= most for node, most in limits.items())


def trees_within(scores, limits, **flags):
    """(score, heads, labels) of the trees that meet the limits, best first."""
    return [tree for tree in oracles.scored_trees(scores, **flags) if within(tree[1], limits)]


@pytest.mark.parametrize("single_root", [False, True])
@settings(max_examples=40)
@given(limited_sentences(max_words=5))
def test_the_best_projective_tree_is_exact(single_root, sentence):
    scores, limits = sentence
    expected = trees_within(scores, limits, single_root=single_root, projective=True)
    rule = Constraints(max_children=limits, single_root=single_root)
    if not expected:
        with pytest.raises(NoTreeError):
            trees.best_tree(scores, projective=True, constraints=rule)
        return
    tree = trees.best_tree(scores, projective=True, constraints=rule)
    assert tree.score == pytest.approx(expected[0][0], rel=1e-9, abs=1e-9)
    assert tuple(tree.heads.tolist()) in {heads for _, heads, _ in expected}
    assert oracles.score(scores, tree.heads) == pytest.approx(tree.score, rel=1e-9, abs=1e-9)


@settings(max_examples=40)
@given(limited_sentences(max_words=3, max_labels=2))
def test_labels_and_other_constraints_go_with_limits(sentence):
    scores, limits = sentence
    if len(scores) == 1:
        return
    rule = Constraints(max_children=limits, forbidden_arcs=frozenset({(0, 1)}))
    allowed = [tree for tree in trees_within(scores, limits, projective=True) if tree[1][1] != 0]
    if len(scores) == 2 or not allowed:
        with pytest.raises(NoTreeError):
            trees.best_tree(scores, projective=True, constraints=rule)
    else:
        assert trees.best_tree(scores, projective=True, constraints=rule).score == pytest.approx(
            allowed[0][0], abs=1e-9
        )


@pytest.mark.parametrize("flags", FLAGS, ids=lambda f: "-".join(k for k in f if f[k]) or "plain")
@settings(max_examples=40)
@given(limited_sentences(max_words=4, max_labels=2))
def test_sums_are_over_the_trees_within_the_limits(flags, sentence):
    scores, limits = sentence
    rule = Constraints(max_children=limits)
    found = trees_within(scores, limits, **flags)
    if not found:
        with pytest.raises(NoTreeError):
            trees.log_partition(scores, constraints=rule, **flags)
        return
    totals = np.array([total for total, _, _ in found])
    log_z = np.logaddexp.reduce(totals)
    assert trees.log_partition(scores, constraints=rule, **flags) == pytest.approx(log_z, rel=1e-9, abs=1e-9)
    expected = np.zeros(scores.shape)
    for total, heads, labels in found:
        for m in range(1, len(heads)):
            expected[(heads[m], m) if labels is None else (heads[m], m, labels[m])] += np.exp(total - log_z)
    np.testing.assert_allclose(trees.marginals(scores, constraints=rule, **flags), expected, atol=1e-9)
    entropy = -(np.exp(totals - log_z) * (totals - log_z)).sum()
    assert trees.entropy(scores, constraints=rule, **flags) == pytest.approx(entropy, abs=1e-7)


def test_sentences_of_a_batch_have_limits_of_their_own():
    rng = np.random.default_rng(3)
    batch = [rng.normal(size=(6, 6)) for _ in range(5)]
    of_each = [Constraints(max_children={i: 1, 0: 2}) if i % 2 else None for i in range(5)]
    for many, one in (
        (trees.best_trees, trees.best_tree),
        (trees.log_partitions, trees.log_partition),
        (trees.min_risk_trees, trees.min_risk_tree),
    ):
        found = many(batch, constraints=of_each, projective=True)
        alone = [one(scores, constraints=own, projective=True) for scores, own in zip(batch, of_each, strict=True)]
        assert [getattr(x, "score", x) for x in found] == [getattr(x, "score", x) for x in alone]


def test_long_sentences_have_a_chart_but_no_sum():
    """Each word has at most one child: the best order in which projective chains run."""
    n = 60
    rule = Constraints(max_children=dict.fromkeys(range(n + 1), 1))
    scores = np.random.default_rng(4).normal(size=(n + 1, n + 1))
    tree = trees.best_tree(scores, projective=True, constraints=rule)
    assert sorted(tree.heads.tolist()) == sorted({-1, *tree.heads.tolist()})
    assert trees.is_projective(tree.heads)
    with pytest.raises(UnsupportedConstraint, match="more than 1,000,000 trees"):
        trees.log_partition(scores, constraints=rule)
    with pytest.raises(UnsupportedConstraint, match="an integer program"):
        trees.best_tree(scores, constraints=rule)


@pytest.mark.parametrize("seed", range(6))
def test_log_z_counts_hamiltonian_paths(seed):
    """MS07 §5.1: with one child each, Z is their number, and the expectation of (0, i) that of those from i on."""
    n = 6
    rng = np.random.default_rng(seed)
    edges = {edge for edge in itertools.permutations(range(1, n + 1), 2) if rng.random() < 0.4}
    paths = [p for p in itertools.permutations(range(1, n + 1)) if edges.issuperset(itertools.pairwise(p))]
    scores = np.full((n + 1, n + 1), -np.inf)
    scores[0] = 0.0
    scores[tuple(np.transpose(sorted(edges)))] = 0.0
    one_child = Constraints(max_children=dict.fromkeys(range(n + 1), 1))
    if not paths:
        with pytest.raises(NoTreeError):
            trees.log_partition(scores, constraints=one_child)
        return
    count = math.exp(trees.log_partition(scores, constraints=one_child))
    assert count == pytest.approx(len(paths))
    starting = count * trees.marginals(scores, constraints=one_child)[0, 1:]
    assert starting == pytest.approx([sum(path[0] == i for path in paths) for i in range(1, n + 1)])
