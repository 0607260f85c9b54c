"""Best and k best projective trees against the enumeration of all of them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from crossarc.trees._eisner import best_projective
from crossarc.trees._eisner_k_best import k_best_projective
from crossarc.trees._eisner_simd import best_projectives
from crossarc.trees._simd import LANES
from strategies import score_arrays


def best(scores, single_root=False):
    heads = np.empty(len(scores), dtype=np.int64)
    return best_projective(scores, single_root, heads), tuple(heads)


def k_best(scores, k, single_root=False):
    if scores.ndim == 2:
        scores = scores[:, :, None].copy()
    count, heads, labels, totals = k_best_projective(scores, k, single_root)
    return [(float(totals[i]), tuple(heads[i]), tuple(labels[i])) for i in range(count)]


@given(scores=score_arrays(), single_root=st.booleans())
@settings(max_examples=100, deadline=None)
def test_best_is_the_best_of_all(scores, single_root):
    before = scores.copy()
    total, heads = best(scores, single_root)
    expected = oracles.scored_trees(scores, single_root=single_root, projective=True)
    assert np.array_equal(scores, before)
    if not expected:
        assert total == -np.inf
        return
    assert total == pytest.approx(expected[0][0], abs=1e-9)
    assert total == oracles.score(scores, heads)
    assert heads in oracles.all_trees(len(scores) - 1, single_root=single_root, projective=True)


@given(
    scores=score_arrays(max_words=4, max_labels=3),
    single_root=st.booleans(),
    k=st.sampled_from([1, 2, 7, 50, 10**15]),
)
@settings(max_examples=100, deadline=None)
def test_k_best_are_the_k_best_of_all(scores, single_root, k):
    before = scores.copy()
    found = k_best(scores, k, single_root)
    expected = oracles.scored_trees(scores, single_root=single_root, projective=True)
    assert np.array_equal(scores, before)
    assert len(found) == min(k, len(expected))
    assert [t for t, _, _ in found] == pytest.approx([t for t, _, _ in expected[: len(found)]], abs=1e-9)
    assert all(a[0] >= b[0] for a, b in itertools.pairwise(found))
    assert len({(heads, labels) for _, heads, labels in found}) == len(found)
    trees = {(heads, labels): total for total, heads, labels in expected}
    for total, heads, labels in found:
        assert trees[heads, labels] == total


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("n", range(6))
def test_zero_scores_give_every_projective_tree_once(n, single_root):
    found = k_best(np.zeros((n + 1, n + 1)), 10**6, single_root)
    expected = oracles.all_trees(n, single_root=single_root, projective=True)
    assert sorted(heads for _, heads, _ in found) == sorted(expected)


@pytest.mark.parametrize("single_root", [False, True])
def test_no_word(single_root):
    scores = np.full((1, 1), np.nan)
    assert best(scores, single_root) == (0.0, (-1,))
    assert k_best(scores, 3, single_root) == [(0.0, (-1,), (-1,))]


@pytest.mark.parametrize("single_root", [False, True])
def test_column_0_and_the_diagonal_are_ignored(single_root):
    scores = np.random.default_rng(0).normal(size=(6, 6))
    noisy = scores.copy()
    noisy[:, 0] = np.nan
    np.fill_diagonal(noisy, np.inf)
    assert best(noisy, single_root) == best(scores, single_root)
    assert k_best(noisy, 9, single_root) == k_best(scores, 9, single_root)


def test_single_root_survives_a_huge_finite_mask():
    scores = np.random.default_rng(1).normal(size=(6, 6))
    scores[0, [1, 2, 4]] = -1e32
    expected = oracles.scored_trees(scores, single_root=True, projective=True)[0]
    assert best(scores, True)[1] == expected[1]


def test_only_the_single_root_is_impossible():
    scores = np.full((3, 3), -np.inf)
    scores[0, 1:] = 1.0
    assert best(scores) == (2.0, (-1, 0, 0))
    assert best(scores, True)[0] == -np.inf
    assert k_best(scores, 5, True) == []


@pytest.mark.parametrize("single_root", [False, True])
def test_a_long_chain(single_root):
    n = 300
    scores = np.random.default_rng(2).normal(size=(n + 1, n + 1))
    scores[np.arange(n), np.arange(1, n + 1)] += 100
    total, heads = best(scores, single_root)
    assert heads == tuple(range(-1, n))
    assert total == pytest.approx(np.diag(scores, 1).sum())
    assert k_best(scores, 1, single_root)[0][1] == heads


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 20, 130])
def test_sentences_in_simd_lanes_have_the_trees_of_single_ones(n, single_root):
    """At ties too, and whatever is the matter with the others."""
    rng = np.random.default_rng(n)
    many = rng.integers(-2, 3, size=(LANES, n + 1, n + 1)).astype(float)
    many[1][rng.random((n + 1, n + 1)) < 0.4] = -np.inf
    many[2] = -np.inf
    many[3, 0, 1:] = np.nan
    many[4, 0, 1:] = np.inf
    many[5, :, 0] = np.nan
    np.fill_diagonal(many[5], np.inf)
    many[6] = rng.normal(size=(n + 1, n + 1))
    expected = [best(scores, single_root) for scores in many]
    for count in range(1, LANES + 1):
        heads, totals = np.empty((count, n + 1), dtype=np.int64), np.empty(count)
        best_projectives(tuple(many), count, single_root, heads, totals)
        assert repr(totals.tolist()) == repr([float(total) for total, _ in expected[:count]])
        for i in np.flatnonzero(totals > -np.inf):
            assert tuple(heads[i]) == expected[i][1]
