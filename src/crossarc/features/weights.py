"""Weights that take one byte each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Quantized", "Weights", "dequantized", "number_of_weights"]


class Quantized(NamedTuple):
    """Weight i is ``levels[codes[i]]``: four times as many of them fit into the caches of a processor."""

    codes: NDArray[np.uint8]
    levels: NDArray[np.float32]


Weights = NDArray[np.float32] | Quantized


def dequantized(weights: Weights) -> NDArray[np.float32]:
    """The weights one by one."""
    return weights.levels[weights.codes] if isinstance(weights, Quantized) else weights


def number_of_weights(weights: Weights) -> int:
    return len(weights.codes if isinstance(weights, Quantized) else weights)
