"""``_eisner`` for several sentences of the same length at once: see ``_simd``.

The operations and their order are those of ``_eisner`` for plain numbers, so that the trees are the same, at ties too.
A row of the chart here is no faster than a column: there is nothing flipped.
"""

import numpy as np

from crossarc._jit import jit, jit_helper
from crossarc.trees._check import first_bad_score
from crossarc.trees._eisner import Chart, backtrace, best_projective
from crossarc.trees._scores import score_of
from crossarc.trees._simd import LANES, MIN_SIMD_SENTENCES, filled, load, load_each, store, where_greater

# where it pays: the chart is not far larger than a cache
MAX_SIMD_SIZE = 128


@jit
def best_projectives(many_scores, count, single_root, heads, totals):
    """``best_projective`` of the first ``count`` of LANES sentences of the same length."""
    size = len(many_scores[0])
    if count < MIN_SIMD_SENTENCES or size > MAX_SIMD_SIZE:
        for i in range(count):
            totals[i] = best_projective(many_scores[i], single_root, heads[i])
        return
    for i in range(count):
        # this also brings the scores into the cache, in order
        bad = first_bad_score(many_scores[i].reshape((size, size, 1))) >= 0
        totals[i] = np.nan if bad else -np.inf
    # an odd number of cells in a row: those of a column are then not in each other's way in the cache
    cells = np.empty((2, size, size | 1, LANES))
    complete, incomplete = cells[0], cells[1]
    combine_words(many_scores, complete, incomplete)
    attach_root(many_scores, single_root, complete, incomplete)
    for i in range(count):
        heads[i, 0] = -1
        if totals[i] == -np.inf and complete[0, size - 1, i] > -np.inf:
            own = complete[:, :size, i]
            backtrace(Chart(own, own.T, incomplete[:, :size, i]), heads[i])
            totals[i] = score_of(many_scores[i], heads[i])


@jit_helper
def combine_words(many_scores, complete, incomplete):
    """All items over the words 1..n; the items inside i..j come before those of i..j."""
    size = len(complete)
    for i in range(size - 1, 0, -1):
        store(complete, i, i, filled(0.0))
        for j in range(i + 1, size):
            halves = best_halves(complete, i, j)
            store(incomplete, i, j, halves + load_each(many_scores, i * size + j))
            store(incomplete, j, i, halves + load_each(many_scores, j * size + i))
            store(complete, i, j, best_complete(complete, incomplete, i, j, i + 1, j + 1))
            store(complete, j, i, best_complete(complete, incomplete, j, i, i, j))


@jit_helper
def attach_root(many_scores, single_root, complete, incomplete):
    """The items of node 0, all to its right; with a single root, a second modifier finds nothing to join."""
    size = len(complete)
    store(complete, 0, 0, filled(0.0))
    for m in range(1, size):
        store(incomplete, 0, m, best_halves(complete, 0, m) + load_each(many_scores, m))
        if single_root and m < size - 1:
            store(complete, 0, m, filled(-np.inf))
        else:
            store(complete, 0, m, best_complete(complete, incomplete, 0, m, 1, m + 1))


@jit_helper
def best_halves(complete, i, j):
    """max_r complete[i, r] + complete[j, r + 1]."""
    best = filled(-np.inf)
    for r in range(i, j):
        best = higher(load(complete, i, r) + load(complete, j, r + 1), best)
    return best


@jit_helper
def best_complete(complete, incomplete, h, e, low, high):
    """max_m incomplete[h, m] + complete[m, e]."""
    best = filled(-np.inf)
    for m in range(low, high):
        best = higher(load(incomplete, h, m) + load(complete, m, e), best)
    return best


@jit_helper
def higher(total, best):
    """The maximum of each lane; that of the best if the total is NaN."""
    return where_greater(total, best, total, best)
