"""The best projective tree under limits on the number of children: Eisner's algorithm with counts, in O(n³D²).

McDonald and Satta (2007, §6): what makes the problem NP-hard for all trees (§5.1) is an index more in the chart of the
projective ones. A word gathers its left and its right modifiers apart, so each half of it has a count, and both
together must stay within its limit. The items are those of ``_eisner``, D being the largest limit that is one:

- incomplete[h, m, c, k]: the arc h -> m and everything between them; h has at most c modifiers on this side, m at
  most k on the side of h;
- complete[h, e, c]: h and at most c modifiers towards e, the last of which reaches e with its descendants;
- rest[m, e, k]: complete[m, e] with what the limit of m allows there if m has up to k modifiers on its other side.

Those of a head without a limit are the same for all counts. Few need it: numpy and no compilation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


class Chart(NamedTuple):
    """The highest score of each item, -inf if there is no such item."""

    limits: NDArray[np.int64]  # [h]: of its children
    counts: int  # D + 1
    incomplete: Scores  # [h, m, c, k]
    complete: Scores  # [h, e, c]
    with_one_more: Scores  # [h, e, c]: complete[h, e, c - 1], to which a modifier of h may be added
    rest: Scores  # [m, e, k]

    def is_limited(self, head: int) -> bool:
        """Whether the number of children of a head is counted at all."""
        return bool(self.limits[head] < len(self.limits) - 1)

    def finish(self, head: int, end: int, scores: Scores) -> None:
        """Enter complete[head, end], and what follows from it."""
        self.complete[head, end] = scores
        if not self.is_limited(head):
            self.with_one_more[head, end] = self.rest[head, end] = scores
            return
        most = self.limits[head]
        self.with_one_more[head, end, 1:] = scores[:-1]
        self.rest[head, end, : most + 1] = scores[most::-1]


def best_projective_of_arity(scores: Scores, limits: NDArray[np.int64], heads: NDArray[np.int64]) -> float:
    """Fill in the heads of the best tree in which node h has at most limits[h] children.

    Its score; -inf if there is no such tree. The scores are free of NaN and +inf where they count.
    """
    chart = filled_chart(scores, limits)
    n = len(scores) - 1
    heads[0] = -1
    if chart.rest[0, n, 0] == -np.inf:
        return -np.inf
    backtrace(chart, heads)
    return float(scores[heads[1:], np.arange(1, n + 1)].sum())


def filled_chart(scores: Scores, limits: NDArray[np.int64]) -> Chart:
    """All items; those inside i..j come before those of i..j."""
    size = len(scores)
    counts = 1 + int(max((most for most in limits if most < size - 1), default=0))
    cells = np.full((3, size, size, counts), -np.inf)
    chart = Chart(limits, counts, np.full((size, size, counts, counts), -np.inf), *cells)
    incomplete, complete, with_one_more, rest = chart.incomplete, chart.complete, chart.with_one_more, chart.rest
    for i in range(size - 1, -1, -1):
        chart.finish(i, i, np.zeros(counts))
        for j in range(i + 1, size):
            left, right = slice(i, j), slice(i + 1, j + 1)
            incomplete[i, j] = scores[i, j] + best_sums(with_one_more[i, left], complete[j, right])
            chart.finish(i, j, (incomplete[i, right] + rest[right, j, np.newaxis]).max(axis=(0, 2)))
            if i > 0:  # the root is nobody's modifier
                incomplete[j, i] = scores[j, i] + best_sums(with_one_more[j, right], complete[i, left])
                chart.finish(j, i, (incomplete[j, left] + rest[left, i, np.newaxis]).max(axis=(0, 2)))
    return chart


def best_sums(first: Scores, second: Scores) -> Scores:
    """[c, k]: max_r first[r, c] + second[r, k]."""
    best: Scores = (first[:, :, np.newaxis] + second[:, np.newaxis]).max(axis=0)
    return best


def backtrace(chart: Chart, heads: NDArray[np.int64]) -> None:
    """The arcs of the best tree, from the whole sentence down: splits are found again."""
    n = len(heads) - 1
    waiting = [(0, n, chart.limits[0] if chart.is_limited(0) else 0)]
    while waiting:
        h, e, c = waiting.pop()
        if h == e:
            continue
        low, high = (h + 1, e + 1) if h < e else (e, h)
        totals = chart.incomplete[h, low:high, c] + chart.rest[low:high, e]
        split, k = np.unravel_index(totals.argmax(), totals.shape)
        m = low + int(split)
        heads[m] = h
        i, j = min(h, m), max(h, m)
        ends = (slice(i, j), slice(i + 1, j + 1)) if h < m else (slice(i + 1, j + 1), slice(i, j))
        r = i + int((chart.with_one_more[h, ends[0], c] + chart.complete[m, ends[1], k]).argmax())
        of_head, of_modifier = (r, r + 1) if h < m else (r + 1, r)
        waiting.append((h, of_head, c - 1 if chart.is_limited(h) else 0))
        waiting.append((m, of_modifier, int(k)))
        waiting.append((m, e, int(chart.limits[m] - k) if chart.is_limited(m) else 0))
