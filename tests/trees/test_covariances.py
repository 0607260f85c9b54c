"""The derivative of the marginals against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import oracles
from crossarc.trees import _padded
from crossarc.trees._padded import TreesOfBatch
from strategies import score_arrays

# only crossarc.integrations.torch needs these kernels
pytestmark = pytest.mark.slow

FLAGS = [(single_root, projective) for single_root in (False, True) for projective in (False, True)]
flags = pytest.mark.parametrize(("single_root", "projective"), FLAGS)


def check_arcs(scores, values, single_root, projective):
    kinds = {"single_root": single_root, "projective": projective}
    assume(oracles.log_partition(scores, **kinds) > -np.inf)
    trees = TreesOfBatch(np.array([len(scores)]), single_root, projective)
    (result,) = _padded.covariances(scores[None], values[None], trees)
    np.testing.assert_allclose(result, oracles.covariances(scores, values, **kinds), rtol=1e-8, atol=1e-9)


@flags
@settings(max_examples=60)
@given(scores=score_arrays(max_words=5), seed=st.integers(0, 2**32 - 1))
def test_arcs_are_enumeration(scores, seed, single_root, projective):
    check_arcs(scores, np.random.default_rng(seed).normal(size=scores.shape), single_root, projective)


@flags
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), masked=st.sampled_from([0.0, 0.3, 0.6]))
def test_extreme_spread_is_enumeration(seed, masked, single_root, projective):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    scores = rng.choice([-1400.0, -700.0, 0.0, 700.0], size=(n + 1, n + 1)) + rng.normal(size=(n + 1, n + 1))
    scores[rng.random(scores.shape) < masked] = -np.inf
    check_arcs(scores, rng.normal(size=scores.shape), single_root, projective)


@flags
def test_sentences_of_a_batch_do_not_disturb_each_other(single_root, projective):
    rng = np.random.default_rng(5)
    scores, values = rng.normal(size=(2, 4, 9, 9))
    sizes = np.array([9, 2, 1, 5])
    batch = _padded.covariances(scores, values, TreesOfBatch(sizes, single_root, projective))
    for i, size in enumerate(sizes):
        own, of_own = (np.ascontiguousarray(array[i : i + 1, :size, :size]) for array in (scores, values))
        alone = _padded.covariances(own, of_own, TreesOfBatch(sizes[i : i + 1], single_root, projective))
        np.testing.assert_array_equal(batch[i, :size, :size], alone[0])
        assert not batch[i, size:].any()
        assert not batch[i, :, size:].any()


@pytest.mark.parametrize("single_root", [False, True])
@settings(max_examples=40)
@given(n=st.integers(1, 4), seed=st.integers(0, 2**32 - 1), spread=st.sampled_from([1.0, 300.0]))
@example(n=4, seed=1, spread=1500.0)
def test_parts_are_enumeration(n, seed, spread, single_root):
    rng = np.random.default_rng(seed)
    siblings, values = rng.normal(size=(2, n + 1, n + 1, n + 1))
    siblings *= spread
    trees = TreesOfBatch(np.array([n + 1]), single_root, True)
    (result,) = _padded.covariances(siblings[None], values[None], trees)
    expected = oracles.second_order_covariances(siblings, values, single_root=single_root)
    np.testing.assert_allclose(result, expected, rtol=1e-8, atol=1e-9)
