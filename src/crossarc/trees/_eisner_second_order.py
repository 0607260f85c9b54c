"""The best projective tree with scores of adjacent siblings: McDonald and Pereira (2006), Figure 3, in O(n³).

The items of Eisner's algorithm (``_eisner``), and a third kind that delays the scoring of an arc until its
sibling is known. In the order of the figure, for a head h, its modifier m and m's neighbour s towards h:

- (A) sibling[s, m] = sibling[m, s]: two neighbours among the modifiers of one head, that is the half of s
  towards m and the half of m towards s;
- (B) incomplete[h, m]: incomplete[h, s], sibling[s, m] and the score of the part (h, s, m); or nothing yet on
  this side of h, the half of m towards h and the score of (h, h, m);
- (C) complete[h, e]: incomplete[h, m] and complete[m, e].

As in ``_eisner``, splits are found again on the way back. Each siblings[h, s, m] is read once: a copy with s as
the last axis would cost more than it saves.
"""

from typing import NamedTuple

import numpy as np

from crossarc._jit import jit, jit_helper
from crossarc.trees._eisner import best_sum, first_best


class Chart(NamedTuple):
    """The highest score of each item, -inf if there is no such item."""

    complete: np.ndarray  # [h, e]
    flipped: np.ndarray  # [e, h]: complete[h, e]
    incomplete: np.ndarray  # [h, m]
    sibling: np.ndarray  # [s, m] and [m, s]: two modifiers of the same head, next to each other, and all between


@jit
def best_second_order_projective(arcs, siblings, heads, single_root):
    """The best projective tree's heads; its score, or -inf if there is no such tree."""
    n = len(arcs) - 1
    heads[0] = -1
    cells = np.empty((4, n + 1, n + 1))
    chart = Chart(cells[0], cells[1], cells[2], cells[3])
    combine_words(arcs, siblings, chart)
    attach_root(arcs, siblings, single_root, chart)
    if chart.complete[0, n] == -np.inf:
        return -np.inf
    return backtrace(arcs, siblings, single_root, chart, heads)


@jit_helper
def combine_words(arcs, siblings, chart):
    """All items over the words 1..n; those inside i..j come before those of i..j."""
    n = len(arcs) - 1
    complete, flipped, incomplete, sibling = chart.complete, chart.flipped, chart.incomplete, chart.sibling
    for i in range(n, 0, -1):
        complete[i, i] = flipped[i, i] = 0.0
        for j in range(i + 1, n + 1):
            sibling[i, j] = sibling[j, i] = best_sum(complete[i, i:j], complete[j, i + 1 : j + 1])
            between = slice(i + 1, j)
            later = best_sum_of_3(incomplete[i, between], sibling[j, between], siblings[i, between, j])
            incomplete[i, j] = arcs[i, j] + max(complete[j, i + 1] + siblings[i, i, j], later)
            later = best_sum_of_3(incomplete[j, between], sibling[i, between], siblings[j, between, i])
            incomplete[j, i] = arcs[j, i] + max(complete[i, j - 1] + siblings[j, j, i], later)
            complete[i, j] = flipped[j, i] = best_sum(incomplete[i, i + 1 : j + 1], flipped[j, i + 1 : j + 1])
            complete[j, i] = flipped[i, j] = best_sum(incomplete[j, i:j], flipped[i, i:j])


@jit_helper
def attach_root(arcs, siblings, single_root, chart):
    """The items of node 0, all to its right; a single child has no sibling."""
    n = len(arcs) - 1
    complete, flipped, incomplete, sibling = chart.complete, chart.flipped, chart.incomplete, chart.sibling
    complete[0, 0] = 0.0
    for m in range(1, n + 1):
        later = -np.inf
        if not single_root:
            later = best_sum_of_3(incomplete[0, 1:m], sibling[m, 1:m], siblings[0, 1:m, m])
        incomplete[0, m] = arcs[0, m] + max(complete[m, 1] + siblings[0, 0, m], later)
    if n > 0:
        complete[0, n] = best_sum(incomplete[0, 1:], flipped[n, 1:])


@jit_helper
def backtrace(arcs, siblings, single_root, chart, heads):
    """The arcs of the best tree, from complete[0, n] down, and their score."""
    size = len(heads)
    score = 0.0
    # items that wait have no gap between two neighbouring words in common, so there are fewer than size
    waiting = np.empty((size, 2), dtype=np.int64)
    n_waiting = push(waiting, 0, 0, size - 1)
    while n_waiting > 0:
        n_waiting -= 1
        h, e = waiting[n_waiting, 0], waiting[n_waiting, 1]
        low, high = (h + 1, e + 1) if h < e else (e, h)
        m = low + first_best(chart.incomplete[h, low:high], chart.flipped[e, low:high])
        n_waiting = push(waiting, n_waiting, m, e)
        while m != h:
            heads[m] = h
            s = h if h == 0 and single_root else best_sibling(siblings, chart, h, m)
            score += arcs[h, m] + siblings[h, s, m]
            if s == h:
                n_waiting = push(waiting, n_waiting, m, h + 1 if h < m else h - 1)
            else:
                i, j = min(s, m), max(s, m)
                r = i + first_best(chart.complete[i, i:j], chart.complete[j, i + 1 : j + 1])
                n_waiting = push(waiting, n_waiting, i, r)
                n_waiting = push(waiting, n_waiting, j, r + 1)
            m = s
    return score


@jit_helper
def push(waiting, n_waiting, h, e):
    """Let the item complete[h, e] wait, unless it is a word without modifiers; the number of items that wait."""
    if h == e:
        return n_waiting
    waiting[n_waiting, 0], waiting[n_waiting, 1] = h, e
    return n_waiting + 1


@jit_helper
def best_sibling(siblings, chart, h, m):
    """The modifier next to m in the best incomplete[h, m]; h if there is none."""
    best = h
    highest = chart.complete[m, h + 1 if h < m else h - 1] + siblings[h, h, m]
    for s in range(min(h, m) + 1, max(h, m)):
        total = chart.incomplete[h, s] + chart.sibling[m, s] + siblings[h, s, m]
        if total > highest:
            best, highest = s, total
    return best


@jit_helper
def best_sum_of_3(first, second, third):
    """max_r first[r] + second[r] + third[r]; -inf if there is no r."""
    best = -np.inf
    for r in range(len(first)):
        total = first[r] + second[r] + third[r]
        if total > best:
            best = total
    return best
