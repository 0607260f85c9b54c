"""Sums over projective trees and samples of them against the enumeration of all of them."""

from collections import Counter
from math import comb, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import oracles
from crossarc.trees._inside_outside import log_partition, marginals, sample
from strategies import score_arrays


def computed_marginals(scores, single_root):
    out = np.full(scores.shape, np.nan)
    log_z = marginals(scores, single_root, out)
    return log_z, out


def samples(scores, size, single_root, seed=0):
    heads = np.empty((size, len(scores)), dtype=np.int64)
    assert sample(scores, single_root, np.random.default_rng(seed), size, heads) > -np.inf
    return [tuple(tree) for tree in heads.tolist()]


@given(scores=score_arrays(), single_root=st.booleans())
@settings(max_examples=100, deadline=None)
def test_sums_over_all_trees(scores, single_root):
    before = scores.copy()
    expected = oracles.log_partition(scores, single_root=single_root, projective=True)
    log_z, found = computed_marginals(scores, single_root)
    assert log_partition(scores, single_root) == log_z
    assert np.array_equal(scores, before)
    if expected == -np.inf:
        assert log_z == -np.inf
        assert not found.any()
        return
    assert log_z == pytest.approx(expected, rel=1e-12, abs=1e-10)
    wanted = oracles.marginals(scores, single_root=single_root, projective=True)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@given(scores=score_arrays(min_words=1), single_root=st.booleans())
@settings(max_examples=50, deadline=None)
def test_samples_are_possible_trees(scores, single_root):
    possible = oracles.scored_trees(scores, single_root=single_root, projective=True)
    if possible:
        assert set(samples(scores, 5, single_root)) <= {heads for _, heads, _ in possible}


@pytest.mark.parametrize("spread", [1.0, 1000.0])
@pytest.mark.parametrize("single_root", [False, True])
def test_samples_follow_the_distribution(single_root, spread):
    # huge differences between columns cancel out of the probabilities but not out of the arithmetic
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(5, 5)) + spread * rng.normal(size=5)
    trees = oracles.scored_trees(scores, single_root=single_root, projective=True)
    log_z = oracles.log_partition(scores, single_root=single_root, projective=True)
    size = 20_000
    found = Counter(samples(scores, size, single_root))
    wanted = np.array([np.exp(total - log_z) for total, _, _ in trees]) * size
    seen = np.array([found[heads] for _, heads, _ in trees])
    common = wanted >= 5
    pooled_wanted = np.append(wanted[common], wanted[~common].sum())
    pooled_seen = np.append(seen[common], seen[~common].sum())
    kept = pooled_wanted > 0
    assert chisquare(pooled_seen[kept], pooled_wanted[kept] * size / pooled_wanted[kept].sum()).pvalue > 1e-3


def test_samples_when_every_tree_is_improbable():
    # each word prefers a head that no tree can give it: the sums of products are below the smallest number
    n = 4
    scores = np.full((n + 1, n + 1), -np.inf)
    scores[0, 1:] = -900.0
    scores[1, 2] = scores[3, 4] = scores[2, 1] = scores[4, 3] = 0.0
    trees = oracles.scored_trees(scores, projective=True)
    assert trees[0][0] == -1800.0
    found = Counter(samples(scores, 4000, single_root=False))
    assert sum(found.values()) == sum(found[heads] for total, heads, _ in trees if total == -1800.0)
    assert min(found.values()) > 900


@pytest.mark.parametrize("single_root", [False, True])
def test_no_word(single_root):
    scores = np.full((1, 1), np.nan)
    assert log_partition(scores, single_root) == 0.0
    assert computed_marginals(scores, single_root) == (0.0, np.zeros((1, 1)))
    assert samples(scores, 2, single_root) == [(-1,), (-1,)]


@pytest.mark.parametrize("single_root", [False, True])
def test_column_0_and_the_diagonal_are_ignored(single_root):
    scores = np.random.default_rng(0).normal(size=(6, 6))
    noisy = scores.copy()
    noisy[:, 0] = np.nan
    np.fill_diagonal(noisy, np.inf)
    log_z, found = computed_marginals(scores, single_root)
    noisy_log_z, noisy_found = computed_marginals(noisy, single_root)
    assert noisy_log_z == log_z
    np.testing.assert_array_equal(noisy_found, found)
    assert samples(noisy, 9, single_root) == samples(scores, 9, single_root)


@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 20.0, 700.0])
def test_marginals_of_each_word_sum_to_1(n, scale):
    scores = scale * np.random.default_rng(4).normal(size=(n + 1, n + 1))
    log_z, found = computed_marginals(scores, True)
    assert np.isfinite(log_z)
    np.testing.assert_allclose(found[:, 1:].sum(0), 1.0, atol=1e-9)
    assert found[0].sum() == pytest.approx(1.0)


def test_counts_of_long_sentences():
    """With zero scores Z is the number of projective trees, C(3n, n) / (2n + 1)."""
    for n in (10, 150, 400):
        expected = log(comb(3 * n, n) // (2 * n + 1))
        assert log_partition(np.zeros((n + 1, n + 1)), False) == pytest.approx(expected, rel=1e-12)
