"""The table of weights of hashed features: 32-bit numbers, or one byte each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import CrossarcError

__all__ = [
    "LARGEST_WEIGHT",
    "Quantized",
    "Weights",
    "bits_of_table",
    "dequantized",
    "number_of_weights",
    "quantized",
    "table_bits",
]

LARGEST_WEIGHT = 1e6  # sums of some thousands stay far from what 32 bits can hold

_SMALL = 4096  # weights that are not worth making smaller
_MAX_LEVELS = 256
_ROUNDS = 10  # of Lloyd's algorithm
_FEWEST_BITS, _MOST_BITS = 5, 28  # of a table of weights; kernels take the weights of a feature eight at a time


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


def table_bits(n_weights: int, row: int = 0) -> int | None:
    """How many bits of a hash say where in a table of so many weights a feature is, if each has a row of weights.

    None if there is no such number: a kernel would look outside the table.

    >>> table_bits(1024), table_bits(1024 + 7, row=7), table_bits(1025)
    (10, 10, None)
    """
    places = n_weights - row
    fits = row >= 0 and 1 << _FEWEST_BITS <= places <= 1 << _MOST_BITS and places & (places - 1) == 0
    return places.bit_length() - 1 if fits else None


def bits_of_table(weights: Weights, row: int = 0) -> int:
    """``table_bits`` of a table; ``CrossarcError`` if there are none."""
    bits = table_bits(number_of_weights(weights), row)
    if bits is None:
        raise CrossarcError(f"{number_of_weights(weights)} weights are no table for features with rows of {row}")
    return bits


def quantized(tensor: NDArray[Any] | Quantized) -> NDArray[Any] | Quantized:
    """Weights, if there are many, as near to what they are as one byte allows; other arrays as they are.

    The first level is 0: a file keeps no codes of weights that are 0.
    """
    if isinstance(tensor, Quantized) or tensor.dtype != np.float32 or tensor.ndim != 1 or len(tensor) < _SMALL:
        return tensor
    levels = _levels_of(tensor)
    codes = np.searchsorted((levels[1:] + levels[:-1]) / 2, tensor)
    zero = int(np.abs(levels).argmin())
    return Quantized(((codes - zero) % len(levels)).astype(np.uint8), np.roll(levels, -zero))


def _levels_of(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """At most 256 numbers to which the weights are near, by Lloyd's algorithm; one of them is 0."""
    different = np.unique(weights)
    if len(different) <= _MAX_LEVELS:  # they were quantized before
        return different
    steps = np.linspace(-1, 1, _MAX_LEVELS - 1)
    levels = steps**3 * float(np.abs(weights).max())  # most weights are small
    for _ in range(_ROUNDS):
        cells = np.searchsorted((levels[1:] + levels[:-1]) / 2, weights)
        counts = np.bincount(cells, minlength=len(levels))
        sums = np.bincount(cells, weights, minlength=len(levels))
        levels = np.where(counts > 0, sums / np.maximum(counts, 1), levels)
    levels[np.abs(levels).argmin()] = 0.0
    return levels[np.unique(np.searchsorted((levels[1:] + levels[:-1]) / 2, weights))].astype(np.float32)
