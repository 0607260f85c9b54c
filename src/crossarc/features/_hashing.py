"""From words to 64-bit hashes of their features: the kernels behind every template, and the table of weights."""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from crossarc._jit import jit, jit_helper, jit_inline
from crossarc.features.attributes import PADDING


class Attributes(NamedTuple):
    """The attributes of one sentence."""

    words: NDArray[np.uint64]  # [i + PADDING, a]: attribute a of node i
    features: NDArray[np.uint64]  # [i, :counts[i]]: single facts about node i
    counts: NDArray[np.int64]


@jit_inline
def mix(x):
    """The finaliser of SplitMix64: every bit of the result depends on every bit of x."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@jit_helper
def sentence_attributes(batch, b):
    """The attributes of one sentence of a batch: words[i + PADDING, a], features[i], counts[i] of node i."""
    first, last = batch.starts[b], batch.starts[b + 1]
    outside = 2 * PADDING + 1
    words = batch.words[first + b * outside : last + (b + 1) * outside]
    return Attributes(words, batch.features[first:last], batch.counts[first:last])


@jit
def hash_slots(words, compiled):
    """slots[s, i, t]: what template t takes from node i where it stands in slot s.

    ``atoms[bounds[t, s] : bounds[t, s + 1]]`` are the pairs (offset, attribute) of template t for that slot. The last
    node stands for "no such word".
    """
    atoms, bounds, seeds = compiled.atoms, compiled.bounds, compiled.seeds
    n_templates, n_slots = bounds.shape[0], bounds.shape[1] - 1
    n_nodes = len(words) - 2 * PADDING
    slots = np.zeros((n_slots, n_nodes, n_templates), np.uint64)
    for t in range(n_templates):
        for s in range(n_slots):
            first, last = bounds[t, s], bounds[t, s + 1]
            if first < last:
                for i in range(n_nodes):
                    x = seeds[t] + np.uint64(s)
                    for a in range(first, last):
                        x = mix(x ^ words[i + PADDING + atoms[a, 0], atoms[a, 1]])
                    slots[s, i, t] = x
    return slots


def weight_at(weights, i):
    """One of the weights, be they compact or not."""
    return weights.levels[weights.codes[i]] if isinstance(weights, tuple) else weights[i]


@overload(weight_at, inline="always")
def _weight_at(weights, i):
    if isinstance(weights, types.BaseTuple):
        return lambda weights, i: weights.levels[weights.codes[i]]
    return lambda weights, i: weights[i]


@jit_inline
def sum_of(weights, indices, count):
    """The sum of the weights at the first ``count`` indices."""
    total = 0.0
    for i in range(count):
        total += weight_at(weights, indices[i])
    return total
