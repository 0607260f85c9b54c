"""All trees under limits on the number of children, one by one, and sums over them: for small sentences.

Such sums are #P-hard (McDonald and Satta 2007, §5.1): where each node may have one child, log Z counts the Hamiltonian
paths of a graph. So there is no way that is much better.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crossarc.core import UnsupportedConstraint
from crossarc.trees._input import Scores

MOST = 1_000_000  # forests that are kept at a time

Forests = NDArray[np.int16]


def log_partition_and_marginals(arcs: Scores, limits: NDArray[np.int64], projective: bool) -> tuple[float, Scores]:
    """log Z, -inf if there is no tree, and the probability of each arc."""
    heads = trees_of_arity(arcs, limits, projective)[:, 1:]
    words = np.arange(1, len(arcs))
    totals = arcs[heads, words].sum(axis=1)
    probabilities = np.zeros_like(arcs)
    if not len(totals):
        return -np.inf, probabilities
    weights = np.exp(totals - totals.max())
    np.add.at(probabilities, (heads, words), (weights / weights.sum())[:, np.newaxis])
    return float(totals.max() + np.log(weights.sum())), probabilities


def trees_of_arity(arcs: Scores, limits: NDArray[np.int64], projective: bool) -> Forests:
    """heads[t, m] of each tree whose arcs are above -inf and in which node h has at most limits[h] children.

    Word after word gets each of its heads, in every forest of the words before it. Raises ``UnsupportedConstraint``
    if there are too many forests.
    """
    size = len(arcs)
    forests: Forests = np.full((1, size), -1, dtype=np.int16)
    for word in range(1, size):
        choices = np.flatnonzero((arcs[:, word] > -np.inf) & (np.arange(size) != word))
        if len(forests) * len(choices) > MOST:
            raise UnsupportedConstraint(
                f"max_children: sums are by enumeration, and more than {MOST:,} trees are too many (they are #P-hard)"
            )
        heads = np.tile(choices, len(forests))
        forests = np.repeat(forests, len(choices), axis=0)
        forests[:, word] = heads
        kept = (forests == heads[:, np.newaxis]).sum(axis=1) <= limits[heads]
        kept &= ~_closes_cycle(forests, word)
        if projective:
            kept &= ~_crosses(forests, word)
        forests = forests[kept]
    return forests


def _closes_cycle(forests: Forests, word: int) -> NDArray[np.bool_]:
    """Whether a word descends from itself."""
    every = np.arange(len(forests))
    node = forests[:, word]
    closes = np.zeros(len(forests), dtype=np.bool_)
    for _ in range(word):
        closes |= node == word
        node = np.where(node > 0, forests[every, node], node)
    return closes


def _crosses(forests: Forests, word: int) -> NDArray[np.bool_]:
    """Whether the arc into a word crosses one into a word before it."""
    before = np.arange(1, word)
    heads = forests[:, 1:word]
    low, high = np.minimum(heads, before), np.maximum(heads, before)
    own = forests[:, word : word + 1]
    start, end = np.minimum(own, word), np.maximum(own, word)
    ends_inside = (low < start) & (start < high) & (high < end)
    starts_inside = (start < low) & (low < end) & (end < high)
    return np.asarray((ends_inside | starts_inside).any(axis=1))
