"""Log-partition, marginals and entropy against enumeration, MS07 Fig. 3 and exact rational numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import oracle_ms07
import oracles
from crossarc.core import NoTreeError
from crossarc.trees._exponential import exponentials
from crossarc.trees.sums import (
    entropy,
    log_partition,
    log_partitions_and_marginals,
    marginals,
    marginals_batch,
)
from strategies import score_arrays

FLAGS = [
    {"single_root": single_root, "projective": projective}
    for single_root in (False, True)
    for projective in (False, True)
]
flags = pytest.mark.parametrize("flags", FLAGS, ids=lambda f: "-".join(k for k in f if f[k]) or "plain")


def check_against_enumeration(scores, flags):
    before = scores.copy()
    log_z = oracles.log_partition(scores, **flags)
    if log_z == -np.inf:
        for function in (log_partition, marginals, entropy):
            with pytest.raises(NoTreeError):
                function(scores, **flags)
    else:
        assert log_partition(scores, **flags) == pytest.approx(log_z, rel=1e-12, abs=1e-10)
        result = marginals(scores, **flags)
        assert result.shape == scores.shape
        np.testing.assert_allclose(result, oracles.marginals(scores, **flags), rtol=1e-8, atol=1e-10)
        sums = result.sum(axis=(0, 2)) if scores.ndim == 3 else result.sum(axis=0)
        np.testing.assert_allclose(sums[1:], 1.0, rtol=0, atol=1e-9)
        assert entropy(scores, **flags) == pytest.approx(oracles.entropy(scores, **flags), rel=1e-8, abs=1e-9)
    np.testing.assert_array_equal(scores, before)


@flags
@settings(max_examples=100, deadline=None)
@given(scores=score_arrays(max_words=5))
def test_unlabelled_is_enumeration(flags, scores):
    check_against_enumeration(scores, flags)


@flags
@settings(max_examples=40, deadline=None)
@given(scores=score_arrays(max_words=3, max_labels=3))
def test_labelled_is_enumeration(flags, scores):
    check_against_enumeration(scores, flags)


@flags
@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), masked=st.sampled_from([0.0, 0.3, 0.6]))
@example(seed=9691161, masked=0.0)  # two pivots whose product underflows
def test_extreme_spread_is_enumeration(flags, seed, masked):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    scores = rng.choice([-1400.0, -700.0, 0.0, 700.0], size=(n + 1, n + 1)) + rng.normal(size=(n + 1, n + 1))
    scores[rng.random(scores.shape) < masked] = -np.inf
    check_against_enumeration(scores, flags)


def test_figure_3_of_mcdonald_and_satta():
    scores = np.random.default_rng(3).normal(size=(9, 9, 2))
    np.testing.assert_allclose(marginals(scores), oracle_ms07.marginals(scores), rtol=1e-9, atol=1e-14)


def powers_of_two(rng, n, spread, masked):
    """Integer exponents e of the weights 2^e, None where there is no arc; root arcs are never missing."""
    exponents = rng.integers(-spread, spread + 1, size=(n + 1, n + 1)).astype(object)
    exponents[rng.random(exponents.shape) < masked] = None
    exponents[0] = rng.integers(-spread, spread + 1, size=n + 1)
    return exponents


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize(
    ("n", "spread", "masked"), [(4, 3, 0.0), (8, 40, 0.3), (8, 900, 0.3), (12, 400, 0.5), (30, 25, 0.0), (16, 200, 0.2)]
)
def test_every_marginal_has_relative_accuracy(single_root, n, spread, masked):
    """Also those that are tiny: nothing is ever subtracted."""
    rng = np.random.default_rng(n + spread)
    exponents = powers_of_two(rng, n, spread, masked)
    zero = Fraction(0)
    weights = [[zero if e is None else Fraction(2) ** int(e) for e in row] for row in exponents]
    for m in range(n + 1):
        weights[m][m] = zero
    z, exact = oracle_ms07.exact_marginals(weights, single_root=single_root)
    scores = np.array([[-np.inf if e is None else e * math.log(2) for e in row] for row in exponents])
    log_z, (result,) = log_partitions_and_marginals([scores], single_root=single_root)
    assert log_z[0] == pytest.approx(math.log(z.numerator) - math.log(z.denominator), rel=1e-13, abs=1e-12)
    # a score has only so many digits: e log 2 is off by half a unit in its last place, times n arcs
    tolerance = 1e-13 * max(10, spread) * n
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h != m and exact[h][m] > Fraction(1, 2**500):
                assert result[h, m] == pytest.approx(float(exact[h][m]), rel=tolerance)
            elif h != m:
                assert result[h, m] == pytest.approx(0.0, abs=1e-140)
    np.testing.assert_allclose(result.sum(axis=0)[1:], 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("single_root", [False, True])
def test_a_cycle_that_is_almost_closed(single_root):
    """Two words that choose each other: LU subtracts 1 from 1 + 1e-40 here."""
    scores = np.full((4, 4), -np.inf)
    scores[1, 2] = scores[2, 1] = 0.0
    scores[0, 1], scores[0, 2] = math.log(2e-40), math.log(1e-40)
    scores[2, 3] = 0.0
    result = marginals(scores, single_root=single_root)
    assert result[0, 1] == pytest.approx(2 / 3, rel=1e-12)
    assert result[2, 1] == pytest.approx(1 / 3, rel=1e-12)
    assert log_partition(scores, single_root=single_root) == pytest.approx(math.log(3e-40), rel=1e-14)


@pytest.mark.parametrize("single_root", [False, True])
def test_a_chain_whose_product_underflows(single_root):
    n = 60
    scores = np.full((n + 1, n + 1), -np.inf)
    for m in range(1, n + 1):
        scores[m - 1, m] = -700.0
        if m > 1:
            scores[m, m - 1] = 700.0
    # only the chain from the root is a tree
    assert log_partition(scores, single_root=single_root) == pytest.approx(-700.0 * n, rel=1e-14)
    result = marginals(scores, single_root=single_root)
    np.testing.assert_allclose(result, np.eye(n + 1, k=1), rtol=0, atol=1e-12)
    assert entropy(scores, single_root=single_root) == pytest.approx(0.0, abs=1e-9)


def test_numbers_of_trees():
    for n in range(1, 30):
        zeros = np.zeros((n + 1, n + 1))
        assert log_partition(zeros) == pytest.approx((n - 1) * math.log(n + 1), rel=1e-13, abs=1e-14)
        assert log_partition(zeros, single_root=True) == pytest.approx((n - 1) * math.log(n), rel=1e-13, abs=1e-14)
        assert entropy(zeros) == pytest.approx((n - 1) * math.log(n + 1), rel=1e-12, abs=1e-12)


@flags
def test_marginals_are_the_gradient(flags):
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(13, 13))
    result = marginals(scores, **flags)
    for h, m in [(0, 1), (3, 7), (12, 4)]:
        step = np.zeros_like(scores)
        step[h, m] = 1e-5
        slope = (log_partition(scores + step, **flags) - log_partition(scores - step, **flags)) / 2e-5
        assert result[h, m] == pytest.approx(slope, abs=1e-8)


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 8, 21])
def test_sentences_in_simd_lanes_are_single_sentences(single_root, n):
    """To the last bit, and next to sentences for which plain numbers are not enough or a word has only the root."""
    rng = np.random.default_rng(n)
    batch = [rng.normal(size=(n + 1, n + 1)) * spread for spread in (1, 1, 10, 100, 1000, 0.1, 1, 1, 1, 1, 1, 1, 1)]
    batch[1][:, 0] = np.nan
    batch[1][np.diag_indices(n + 1)] = np.inf
    batch[2][2:, 1] = batch[6][rng.random((n + 1, n + 1)) < 0.4] = -np.inf
    batch[6][0] = 0.0
    batch[6][np.arange(n), np.arange(1, n + 1)] = 0.0
    batch.insert(5, rng.normal(size=(n, n)))
    log_z, results = log_partitions_and_marginals(batch, single_root=single_root)
    for i, scores in enumerate(batch):
        alone_z, (alone,) = log_partitions_and_marginals([scores], single_root=single_root)
        assert log_z[i] == alone_z[0]
        np.testing.assert_array_equal(results[i], alone)
    batch[9] = np.full((n + 1, n + 1), -np.inf)
    with pytest.raises(NoTreeError, match=r"\[9\]"):
        marginals_batch(batch, single_root=single_root)


def test_long_sentences():
    n = 300
    scores = np.random.default_rng(2).normal(size=(n + 1, n + 1))
    for single_root in (False, True):
        result = marginals(scores, single_root=single_root)
        np.testing.assert_allclose(result.sum(axis=0)[1:], 1.0, rtol=0, atol=1e-12)
    assert result[0].sum() == pytest.approx(1.0, abs=1e-12)


def test_exponentials():
    rng = np.random.default_rng(0)
    x = -np.abs(rng.normal(size=10000)) * rng.choice([1e-9, 1e-3, 1.0, 30.0, 150.0], size=10000)
    numbers = np.concatenate([x, [0.0, -np.inf, np.nan, -800.0]])
    exponentials(numbers)
    np.testing.assert_allclose(numbers[:-4], np.exp(x), rtol=4e-16)
    assert numbers[-4:].tolist() == [1.0, 0.0, 0.0, 0.0]
