"""The best projective tree: Eisner (1996), in O(n³) time and O(n²) memory (McDonald et al. 2005, §2.2.2).

A word gathers its left and its right modifiers independently of each other. So there are two kinds of items,
each named by its head and its other end, which lies to the left or to the right of the head:

- incomplete[h, m]: the arc h -> m and everything between h and m;
- complete[h, e]: h and all its modifiers towards e, the outermost of which reaches e with its descendants.

``flipped[e, h]`` repeats ``complete[h, e]``, so that each maximum runs over two contiguous rows. The chart
holds values only: the split that reached a maximum is found again for the O(n) items of the best tree.
"""

from typing import NamedTuple

import numpy as np

from crossarc._jit import jit, jit_helper
from crossarc.trees._check import first_bad_score
from crossarc.trees._scores import score_of


class Chart(NamedTuple):
    """The highest score of each item, -inf if there is no such item."""

    complete: np.ndarray  # [h, e]
    flipped: np.ndarray  # [e, h]: complete[h, e]
    incomplete: np.ndarray  # [h, m]


@jit
def best_projective(scores, single_root, heads):
    """The best projective tree's heads; its score: -inf if there is no such tree, NaN if a score is NaN or +inf."""
    n = scores.shape[0] - 1
    heads[0] = -1
    if first_bad_score(scores.reshape((n + 1, n + 1, 1))) >= 0:
        return np.nan
    cells = np.empty((3, n + 1, n + 1))
    chart = Chart(cells[0], cells[1], cells[2])
    combine_words(scores, chart)
    attach_root(scores, single_root, chart)
    if chart.complete[0, n] == -np.inf:
        return -np.inf
    backtrace(chart, heads)
    return score_of(scores, heads)


@jit_helper
def combine_words(scores, chart):
    """All items over the words 1..n; the items inside i..j come before those of i..j."""
    n = scores.shape[0] - 1
    complete, flipped, incomplete = chart.complete, chart.flipped, chart.incomplete
    for i in range(n, 0, -1):
        complete[i, i] = flipped[i, i] = 0.0
        for j in range(i + 1, n + 1):
            halves = best_sum(complete[i, i:j], complete[j, i + 1 : j + 1])
            incomplete[i, j] = halves + scores[i, j]
            incomplete[j, i] = halves + scores[j, i]
            complete[i, j] = flipped[j, i] = best_sum(incomplete[i, i + 1 : j + 1], flipped[j, i + 1 : j + 1])
            complete[j, i] = flipped[i, j] = best_sum(incomplete[j, i:j], flipped[i, i:j])


@jit_helper
def attach_root(scores, single_root, chart):
    """The items of node 0, all to its right; with a single root, a second modifier finds nothing to join."""
    n = scores.shape[0] - 1
    complete, flipped, incomplete = chart.complete, chart.flipped, chart.incomplete
    complete[0, 0] = 0.0
    for m in range(1, n + 1):
        incomplete[0, m] = best_sum(complete[0, :m], complete[m, 1 : m + 1]) + scores[0, m]
        if single_root and m < n:
            complete[0, m] = -np.inf
        else:
            complete[0, m] = best_sum(incomplete[0, 1 : m + 1], flipped[m, 1 : m + 1])


@jit_helper
def backtrace(chart, heads):
    """The arcs of the best tree, from complete[0, n] down."""
    n = len(heads) - 1
    # items that wait have no gap between two neighbouring words in common, so there are at most n of them
    waiting = np.empty((n + 1, 2), dtype=np.int64)
    waiting[0, 0], waiting[0, 1] = 0, n
    size = 1
    while size > 0:
        size -= 1
        h, e = waiting[size, 0], waiting[size, 1]
        if h == e:
            continue
        low, high = (h + 1, e + 1) if h < e else (e, h)
        m = low + first_best(chart.incomplete[h, low:high], chart.flipped[e, low:high])
        heads[m] = h
        i, j = min(h, m), max(h, m)
        r = i + first_best(chart.complete[i, i:j], chart.complete[j, i + 1 : j + 1])
        for head, end in ((m, e), (i, r), (j, r + 1)):
            if head != end:
                waiting[size, 0], waiting[size, 1] = head, end
                size += 1


@jit_helper
def best_sum(first, second):
    """max_r first[r] + second[r]."""
    best = -np.inf
    for r in range(len(first)):
        total = first[r] + second[r]
        if total > best:
            best = total
    return best


@jit_helper
def first_best(first, second):
    """The lowest r with the highest first[r] + second[r]."""
    best, highest = 0, first[0] + second[0]
    for r in range(1, len(first)):
        total = first[r] + second[r]
        if total > highest:
            best, highest = r, total
    return best
