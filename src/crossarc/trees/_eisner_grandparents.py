"""The best projective tree with scores of grandparents: Eisner's items for each head of their head, in O(n⁴).

McDonald and Satta (2007, §6): vertical Markovization, NP-hard for all trees (§5.2), needs an index more in the chart of
the projective ones; as Model 0 of Koo and Collins (2010). The items are those of ``_eisner``, g being the head of h:

- incomplete[g, h, m]: the arc h -> m and everything between them, and what m scores with g;
- complete[g, h, e]: h and its modifiers towards e, the last of which reaches e with its descendants.

Each step is one of numpy for all g; those that lie inside an item are never asked for. O(n³) memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


class Chart(NamedTuple):
    """The highest score of each item, -inf if there is no such item. The root has itself as its head."""

    complete: Scores  # [g, h, e]
    incomplete: Scores  # [g, h, m]


def best_projective_with_grandparents(
    arcs: Scores, grandparents: Scores, single_root: bool, heads: NDArray[np.int64]
) -> float:
    """Fill in the heads of the best tree; its score, -inf if there is no tree.

    The scores are free of NaN and +inf; grandparents[0, 0] is 0.
    """
    n = len(arcs) - 1
    chart = Chart(*np.full((2, *grandparents.shape), -np.inf))
    combine_words(arcs, grandparents, chart)
    attach_root(arcs, single_root, chart)
    heads[0] = -1
    if chart.complete[0, 0, n] == -np.inf:
        return -np.inf
    backtrace(chart, heads)
    words = np.arange(1, n + 1)
    own, above = heads[words], heads[heads[words]]
    return float(arcs[own, words].sum() + grandparents[above, own, words][own > 0].sum())


def combine_words(arcs: Scores, grandparents: Scores, chart: Chart) -> None:
    """All items over the words 1..n; those inside i..j come before those of i..j."""
    complete, incomplete = chart
    size = len(arcs)
    for i in range(size - 1, 0, -1):
        complete[:, i, i] = 0.0
        for j in range(i + 1, size):
            left, right = slice(i, j), slice(i + 1, j + 1)
            halves = (complete[:, i, left] + complete[i, j, right]).max(axis=1)
            incomplete[:, i, j] = halves + arcs[i, j] + grandparents[:, i, j]
            halves = (complete[:, j, right] + complete[j, i, left]).max(axis=1)
            incomplete[:, j, i] = halves + arcs[j, i] + grandparents[:, j, i]
            complete[:, i, j] = (incomplete[:, i, right] + complete[i, right, j]).max(axis=1)
            complete[:, j, i] = (incomplete[:, j, left] + complete[j, left, i]).max(axis=1)


def attach_root(arcs: Scores, single_root: bool, chart: Chart) -> None:
    """The items of node 0, which has no head; with a single root, a second modifier finds nothing to join."""
    complete, incomplete = chart
    n = len(arcs) - 1
    complete[0, 0, 0] = 0.0
    for m in range(1, n + 1):
        own = slice(1, m + 1)
        incomplete[0, 0, m] = (complete[0, 0, :m] + complete[0, m, own]).max() + arcs[0, m]
        if not single_root or m == n:
            complete[0, 0, m] = (incomplete[0, 0, own] + complete[0, own, m]).max()


def backtrace(chart: Chart, heads: NDArray[np.int64]) -> None:
    """The arcs of the best tree, from the whole sentence down: splits are found again."""
    complete, incomplete = chart
    waiting = [(0, 0, len(heads) - 1)]
    while waiting:
        g, h, e = waiting.pop()
        if h == e:
            continue
        low, high = (h + 1, e + 1) if h < e else (e, h)
        m = low + int((incomplete[g, h, low:high] + complete[h, low:high, e]).argmax())
        heads[m] = h
        i, j = min(h, m), max(h, m)
        of_i, of_j = (g, h) if h < m else (h, g)  # the heads of the two words
        r = i + int((complete[of_i, i, i:j] + complete[of_j, j, i + 1 : j + 1]).argmax())
        waiting += [(h, m, e), (of_i, i, r), (of_j, j, r + 1)]
