"""The k best trees: against enumeration, in order, all different."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from crossarc.core import NoTreeError
from crossarc.trees.best import best_tree
from crossarc.trees.k_best import k_best_trees
from strategies import score_arrays

FLAGS = [{"single_root": s, "projective": p} for s in (False, True) for p in (False, True)]
FLAG_IDS = ["-".join(name for name, on in flags.items() if on) or "plain" for flags in FLAGS]
EVERY = 10**6


def as_tuples(tree):
    return tuple(tree.heads.tolist()), None if tree.labels is None else tuple(tree.labels.tolist())


def check_against_enumeration(scores, k, flags):
    before = scores.copy()
    expected = oracles.scored_trees(scores, **flags)
    if not expected:
        with pytest.raises(NoTreeError):
            k_best_trees(scores, k, **flags)
        return
    trees = k_best_trees(scores, k, **flags)
    np.testing.assert_array_equal(scores, before)
    assert len(trees) == min(k, len(expected))
    totals = [tree.score for tree in trees]
    assert totals == sorted(totals, reverse=True)
    np.testing.assert_allclose(totals, [t[0] for t in expected[:k]], rtol=1e-12, atol=1e-12)
    found = [as_tuples(tree) for tree in trees]
    assert len(set(found)) == len(found)
    assert set(found) <= {t[1:] for t in expected}
    for (heads, labels), total in zip(found, totals, strict=True):
        assert oracles.score(scores, heads, labels) == pytest.approx(total, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("flags", FLAGS, ids=FLAG_IDS)
@settings(deadline=None, max_examples=80)
@given(scores=score_arrays(max_words=4), k=st.sampled_from([1, 2, 7, 30, EVERY]))
def test_k_best_trees_are_the_k_best_of_all(scores, k, flags):
    check_against_enumeration(scores, k, flags)


@pytest.mark.parametrize("flags", FLAGS, ids=FLAG_IDS)
@settings(deadline=None, max_examples=40)
@given(scores=score_arrays(max_words=3, max_labels=3), k=st.sampled_from([1, 2, 7, 30, EVERY]))
def test_k_best_labelled_trees_are_the_k_best_of_all(scores, k, flags):
    check_against_enumeration(scores, k, flags)


@pytest.mark.parametrize("n", range(7))
def test_all_trees_are_counted(n):
    """Cayley's formula: every tree is as good as the others, and is found once."""
    assert len(k_best_trees(np.zeros((n + 1, n + 1)), EVERY)) == (n + 1) ** max(n - 1, 0)
    assert len(k_best_trees(np.zeros((n + 1, n + 1)), EVERY, single_root=True)) == n ** max(n - 1, 0)


@pytest.mark.parametrize("n", range(4))
def test_all_labelled_trees_are_counted(n):
    scores = np.zeros((n + 1, n + 1, 3))
    assert len(k_best_trees(scores, EVERY)) == 3**n * (n + 1) ** max(n - 1, 0)
    assert len(k_best_trees(scores, EVERY, single_root=True)) == 3**n * n ** max(n - 1, 0)


@pytest.mark.parametrize("single_root", [False, True])
def test_second_best_may_change_several_arcs(single_root):
    """A strong cycle is entered elsewhere, and turns round."""
    scores = np.array([[0, 10, 9.9], [0, 0, 20], [0, 20, 0]])
    first, second = k_best_trees(scores, 2, single_root=single_root)
    assert first.heads.tolist() == [-1, 0, 1]
    assert second.heads.tolist() == [-1, 2, 0]


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("flags", FLAGS, ids=FLAG_IDS)
def test_longer_sentences_are_consistent(flags, labelled):
    """The first is the best tree; more trees begin with the fewer; all are valid, and none comes twice."""
    scores = np.random.default_rng(1).normal(size=(16, 16, 4) if labelled else (16, 16))
    trees = k_best_trees(scores, 60, **flags)
    best = best_tree(scores, **flags)
    assert as_tuples(trees[0]) == as_tuples(best)
    assert [as_tuples(t) for t in k_best_trees(scores, 25, **flags)] == [as_tuples(t) for t in trees[:25]]
    assert len({as_tuples(tree) for tree in trees}) == 60
    for tree in trees:
        heads, labels = as_tuples(tree)
        assert oracles.is_tree(heads)
        assert not flags["projective"] or oracles.is_projective(heads)
        assert not flags["single_root"] or heads.count(0) == 1
        assert oracles.score(scores, heads, labels) == pytest.approx(tree.score)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 4), single_root=st.booleans())
def test_finite_masks_cost_no_precision(seed, n, single_root):
    """Huge negative scores instead of -inf: the trees without them come first, exactly in order."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(-3, 4, size=(n + 1, n + 1)).astype(float)
    scores[rng.random(scores.shape) < 0.4] = -1e32
    expected = [t[0] for t in oracles.scored_trees(scores, single_root=single_root) if t[0] > -1e31]
    totals = [tree.score for tree in k_best_trees(scores, EVERY, single_root=single_root)]
    assert totals[: len(expected)] == expected
    assert len(totals) == len(oracles.all_trees(n, single_root=single_root))


@pytest.mark.parametrize("k", [0, -1])
def test_k_is_at_least_1(k):
    with pytest.raises(ValueError, match="k must be"):
        k_best_trees(np.zeros((3, 3)), k)
