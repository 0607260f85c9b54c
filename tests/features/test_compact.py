"""Weights of one byte."""

import numpy as np
import pytest

from crossarc.features._hashing import sum_of
from crossarc.features.weights import Quantized, dequantized, number_of_weights


def test_compact_weights_have_the_same_sums():
    rng = np.random.default_rng(1)
    compact = Quantized(rng.integers(0, 5, 40).astype(np.uint8), rng.normal(size=5).astype(np.float32))
    indices = rng.integers(0, 40, 12)
    weights = dequantized(compact)
    assert number_of_weights(compact) == number_of_weights(weights) == 40
    assert sum_of(compact, indices, 9) == sum_of(weights, indices, 9) == pytest.approx(weights[indices[:9]].sum())
