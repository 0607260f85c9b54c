"""Samples: frequencies against exact probabilities, and that nothing impossible is ever drawn."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import oracles
from crossarc.core import NoTreeError
from crossarc.trees.samples import sample_trees
from crossarc.trees.sums import marginals
from strategies import score_arrays

FLAGS = [
    {"single_root": single_root, "projective": projective}
    for single_root in (False, True)
    for projective in (False, True)
]
flags = pytest.mark.parametrize("flags", FLAGS, ids=lambda f: "-".join(k for k in f if f[k]) or "plain")


def key(tree):
    return tuple(tree.heads.tolist()), None if tree.labels is None else tuple(tree.labels.tolist())


def chi_square_p_value(trees, scores, flags):
    """Of the null hypothesis that the trees come from the exact distribution; rare trees count as one."""
    log_z = oracles.log_partition(scores, **flags)
    exact = {(heads, labels): np.exp(s - log_z) for s, heads, labels in oracles.scored_trees(scores, **flags)}
    counts = Counter(map(key, trees))
    assert counts.keys() <= exact.keys()
    common = [k for k, p in exact.items() if p * len(trees) >= 5]
    observed = [counts[k] for k in common]
    expected = [exact[k] * len(trees) for k in common]
    rest = len(trees) - sum(expected)
    if rest > 1e-6 * len(trees):
        observed.append(len(trees) - sum(observed))
        expected.append(rest)
    return chisquare(observed, expected, sum_check=False).pvalue


@flags
@pytest.mark.parametrize("scale", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("masked", [False, True])
def test_frequencies(flags, scale, masked):
    rng = np.random.default_rng(11)
    scores = scale * rng.normal(size=(5, 5))
    if masked:
        scores[0, 2] = scores[1, 3] = scores[4, 2] = -np.inf
    trees = sample_trees(scores, 20_000, rng=rng, **flags)
    assert chi_square_p_value(trees, scores, flags) > 1e-4


@flags
def test_frequencies_with_labels(flags):
    rng = np.random.default_rng(12)
    scores = rng.normal(size=(4, 4, 2))
    scores[0, 2, 1] = scores[1, 3, 0] = -np.inf
    trees = sample_trees(scores, 20_000, rng=rng, **flags)
    assert chi_square_p_value(trees, scores, flags) > 1e-4


@pytest.mark.parametrize("single_root", [False, True])
def test_frequencies_where_plain_numbers_fail(single_root):
    """Three words in a cycle that walks leave once in 1e250 steps, in ways of which each has its fair share."""
    scores = np.full((5, 5), -600.0)
    scores[1, 2] = scores[2, 3] = scores[3, 1] = 0.0
    scores[0, 1:4] = [-575.0, -576.0, -575.5]
    scores[1:4, 4] = [1.0, 0.0, 0.5]
    trees = sample_trees(scores, 5_000, rng=3, single_root=single_root)
    assert chi_square_p_value(trees, scores, {"single_root": single_root}) > 1e-4


@flags
def test_frequencies_converge_to_the_marginals(flags):
    rng = np.random.default_rng(13)
    n, size = 20, 4_000
    scores = rng.normal(size=(n + 1, n + 1))
    scores[np.arange(n), np.arange(1, n + 1)] += 3.0
    exact = marginals(scores, **flags)
    frequencies = np.zeros_like(exact)
    for tree in sample_trees(scores, size, rng=rng, **flags):
        frequencies[tree.heads[1:], np.arange(1, n + 1)] += 1 / size
    deviation = np.sqrt(exact * (1 - exact) / size) + 1e-3
    assert (np.abs(frequencies - exact) < 5 * deviation).all()


@flags
@settings(max_examples=60, deadline=None)
@given(scores=score_arrays(max_words=5), seed=st.integers(0, 2**32 - 1))
def test_every_sample_is_a_possible_tree(flags, scores, seed):
    before = scores.copy()
    possible = {heads: score for score, heads, _ in oracles.scored_trees(scores, **flags)}
    if not possible:
        with pytest.raises(NoTreeError):
            sample_trees(scores, 1, rng=seed, **flags)
    else:
        for tree in sample_trees(scores, 3, rng=seed, **flags):
            assert tree.labels is None
            assert tree.score == pytest.approx(possible[tuple(tree.heads.tolist())])
    np.testing.assert_array_equal(scores, before)


@flags
def test_seeds(flags):
    scores = np.zeros((8, 8))
    first = [key(t) for t in sample_trees(scores, 5, rng=1, **flags)]
    assert [key(t) for t in sample_trees(scores, 5, rng=1, **flags)] == first
    assert [key(t) for t in sample_trees(scores, 5, rng=np.random.default_rng(1), **flags)] == first
    assert [key(t) for t in sample_trees(scores, 5, rng=2, **flags)] != first


def test_sizes():
    assert sample_trees(np.zeros((3, 3)), 0, rng=0) == []
    with pytest.raises(ValueError, match="size"):
        sample_trees(np.zeros((3, 3)), -1, rng=0)


@flags
def test_long_and_peaked(flags):
    """Bounded time: a walk would stay in the cycle of the words 1 and 2 for ever."""
    n = 100
    scores = np.random.default_rng(4).normal(size=(n + 1, n + 1))
    scores[1, 2] = scores[2, 1] = 500.0
    for tree in sample_trees(scores, 3, rng=4, **flags):
        assert oracles.is_tree(tuple(tree.heads.tolist()))
        assert (tree.heads[1] == 2) or (tree.heads[2] == 1)
