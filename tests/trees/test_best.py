"""The best tree: against enumeration, under constraints, and where other libraries go wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from crossarc.core import Constraints, NoTreeError, UnsupportedConstraint
from crossarc.trees._chu_liu_edmonds import greedy_heads_among_words
from crossarc.trees.best import best_tree, best_trees
from strategies import score_arrays

FLAGS = [{"single_root": s, "projective": p} for s in (False, True) for p in (False, True)]
FLAG_IDS = ["-".join(name for name, on in flags.items() if on) or "plain" for flags in FLAGS]
JOHN_SAW_MARY = np.array([[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0]])


def assert_best(scores, tree, flags):
    """The tree is one of the trees that enumeration finds best."""
    heads = tuple(tree.heads.tolist())
    labels = None if tree.labels is None else tuple(tree.labels.tolist())
    assert heads in oracles.all_trees(len(scores) - 1, **flags)
    best = oracles.scored_trees(scores, **flags)[0][0]
    assert tree.score == pytest.approx(best, rel=1e-12, abs=1e-12)
    assert oracles.score(scores, heads, labels) == pytest.approx(tree.score, rel=1e-12, abs=1e-12)


def check_against_enumeration(scores, flags):
    before = scores.copy()
    if oracles.scored_trees(scores, **flags):
        assert_best(scores, best_tree(scores, **flags), flags)
    else:
        with pytest.raises(NoTreeError):
            best_tree(scores, **flags)
    np.testing.assert_array_equal(scores, before)


@pytest.mark.parametrize("flags", FLAGS, ids=FLAG_IDS)
@settings(deadline=None, max_examples=80)
@given(scores=score_arrays(max_words=5))
def test_best_tree_is_best_of_all(scores, flags):
    check_against_enumeration(scores, flags)


@pytest.mark.parametrize("flags", FLAGS, ids=FLAG_IDS)
@settings(deadline=None, max_examples=40)
@given(scores=score_arrays(max_words=3, max_labels=3))
def test_best_labelled_tree_is_best_of_all(scores, flags):
    check_against_enumeration(scores, flags)


def test_worked_example_of_the_paper():
    tree = best_tree(JOHN_SAW_MARY)
    assert tree.heads.tolist() == [-1, 2, 0, 2]
    assert tree.score == 70.0
    assert tree.labels is None


def test_ties_go_to_the_lowest_head_and_label():
    assert best_tree(np.zeros((5, 5))).heads.tolist() == [-1, 0, 0, 0, 0]
    scores = np.full((4, 4, 3), -1.0)
    scores[1, 2:] = scores[2, 3] = 0.0
    tree = best_tree(scores)
    assert tree.heads.tolist() == [-1, 0, 1, 1]
    assert tree.labels.tolist() == [-1, 0, 0, 0]


@settings(deadline=None, max_examples=100)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 5), single_root=st.booleans())
def test_finite_masks_cost_no_precision(seed, n, single_root):
    """Huge negative scores instead of -inf: the best tree without them is found to the last bit."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(-3, 4, size=(n + 1, n + 1)).astype(float)
    scores[rng.random(scores.shape) < 0.5] = -1e32
    best = oracles.scored_trees(scores, single_root=single_root)[0][0]
    tree = best_tree(scores, single_root=single_root)
    assert tree.score == best if best > -1e31 else tree.score == pytest.approx(best, rel=1e-12)


def test_finite_mask_around_a_cycle_under_a_single_root():
    """Words 1 and 2 hang from the root or each other: where the root enters is decided by small numbers."""
    scores = np.full((4, 4), -1e32)
    scores[1, 2] = scores[2, 1] = 10.0
    scores[0, 1:] = [3.0, 3.5, 9.0]
    scores[1, 3] = scores[2, 3] = 0.0
    tree = best_tree(scores, single_root=True)
    assert tree.heads.tolist() == [-1, 2, 0, 1]
    assert tree.score == 13.5


@pytest.mark.parametrize("single_root", [False, True])
def test_long_cycle_needs_no_recursion(single_root):
    n = 1200
    scores = np.zeros((n + 1, n + 1))
    scores[np.arange(1, n + 1), np.arange(1, n + 1) % n + 1] = 5.0
    scores[0, 7] = 1.0
    tree = best_tree(scores, single_root=single_root)
    assert tree.heads.tolist() == [-1, n, *range(1, 6), 0, *range(7, n)]
    assert tree.score == 5.0 * (n - 1) + 1.0


@pytest.mark.parametrize("single_root", [False, True])
def test_nested_cycles_need_no_recursion(single_root):
    """Every word prefers the next one or the one before: n - 1 contractions, one inside the other."""
    n = 300
    place = np.arange(n + 1)
    scores = -np.abs(place[:, None] - place[None, :]).astype(float) * (1.0 + place[None, :] / n)
    scores[0] = -1e4
    tree = best_tree(scores, single_root=single_root)
    assert oracles.is_tree(tuple(tree.heads.tolist()))
    assert tree.heads.tolist().count(0) == 1


@pytest.mark.parametrize("single_root", [False, True])
def test_no_change_of_one_head_helps_in_long_sentences(single_root):
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(61, 61))
    tree = best_tree(scores, single_root=single_root)
    heads = tree.heads.copy()
    for m in range(1, 61):
        for h in range(61):
            changed = heads.copy()
            changed[m] = h
            allowed = oracles.is_tree(tuple(changed)) and (not single_root or (changed == 0).sum() == 1)
            assert not allowed or oracles.score(scores, changed) <= tree.score + 1e-9


@pytest.mark.parametrize("flags", FLAGS, ids=FLAG_IDS)
def test_required_and_forbidden_arcs(flags):
    scores = np.random.default_rng(3).normal(size=(5, 5))
    rule = Constraints(required_arcs=frozenset({(3, 1)}), forbidden_arcs=frozenset({(0, 2), (4, 2)}))
    tree = best_tree(scores, constraints=rule, **flags)
    allowed = [heads for heads in oracles.all_trees(4, **flags) if heads[1] == 3 and (heads[2] not in (0, 4))]
    assert tuple(tree.heads.tolist()) == max(allowed, key=lambda heads: oracles.score(scores, heads))


def test_required_and_forbidden_labels():
    scores = np.random.default_rng(4).normal(size=(4, 4, 3))
    rule = Constraints(required_labels={1: 2}, forbidden_labels=frozenset({(2, 0), (2, 1)}), single_root=True)
    tree = best_tree(scores, constraints=rule)
    best = next(t for t in oracles.scored_trees(scores, single_root=True) if t[2][1] == 2 and t[2][2] == 2)
    assert (tuple(tree.heads.tolist()), tuple(tree.labels.tolist())) == best[1:]


def test_constraints_that_cannot_be_met():
    rule = Constraints(required_arcs=frozenset({(1, 2), (2, 1)}))
    with pytest.raises(NoTreeError):
        best_tree(np.zeros((3, 3)), constraints=rule)
    with pytest.raises(UnsupportedConstraint):
        best_tree(np.zeros((3, 3)), constraints=Constraints(max_children={0: 1}))


def same_trees(some, others):
    assert len(some) == len(others)
    for one, other in zip(some, others, strict=True):
        np.testing.assert_array_equal(one.heads, other.heads)
        np.testing.assert_array_equal(one.labels, other.labels)
        assert one.score == other.score


def test_many_sentences_with_constraints_of_their_own():
    scores = [np.random.default_rng(seed).normal(size=(6, 6)) for seed in range(5)]
    rules = [
        None,
        Constraints(single_root=True),
        Constraints(projective=True),
        Constraints(required_arcs=frozenset({(1, 5)})),
        Constraints(projective=True, single_root=True),
    ]
    expected = [best_tree(one, constraints=rule) for one, rule in zip(scores, rules, strict=True)]
    same_trees(best_trees(scores, constraints=rules), expected)
    same_trees(
        best_trees(scores, constraints=rules[3], single_root=True),
        [best_tree(one, constraints=rules[3], single_root=True) for one in scores],
    )


def test_as_many_constraints_as_sentences():
    with pytest.raises(ValueError, match="1 constraints for 2 sentences"):
        best_trees(np.zeros((2, 3, 3)), constraints=[None])


@pytest.mark.parametrize("size", [2, 8, 9, 10, 17, 24, 25, 40])
def test_greedy_heads_at_every_width(size):
    """Words are looked at several at a time: where the last of them end must not matter, nor what is ignored."""
    scores = np.random.default_rng(size).integers(-2, 3, size=(size, size)).astype(float)
    scores[:, 0] = np.nan
    np.fill_diagonal(scores, np.inf)
    heads, weights = np.empty(2 * size, np.int64), np.empty(2 * size)
    assert greedy_heads_among_words(scores, heads, weights)
    words = np.where(np.eye(size, dtype=bool), -np.inf, scores)[1:, 1:]
    possible = words.max(axis=0) > -np.inf
    np.testing.assert_array_equal(heads[1:size], np.where(possible, words.argmax(axis=0) + 1, -1))
    np.testing.assert_array_equal(weights[1:size], words.max(axis=0))
    for bad in (np.nan, np.inf):
        scores[size - 2, size - 1] = bad
        assert not greedy_heads_among_words(scores, heads, weights)
