"""``_eisner_second_order`` for several sentences of the same length at once: see ``_simd``.

The operations and their order are those of ``_eisner_second_order`` for plain numbers, so that the trees are the same,
at ties too.
"""

import numpy as np

from crossarc._jit import jit, jit_helper
from crossarc.trees._check import first_bad_score, first_bad_sibling
from crossarc.trees._eisner_second_order import Chart, backtrace, best_second_order_projective
from crossarc.trees._eisner_simd import best_complete, best_halves, higher
from crossarc.trees._simd import LANES, MIN_SIMD_SENTENCES, filled, load, load_each, store

# where it pays: siblings that are read from one cache line stay in the cache until all of them have been
MAX_SIMD_SIZE = 64


@jit
def best_second_order_projectives(many_arcs, many_siblings, count, single_root, heads, totals):
    """``best_second_order_projective`` of the first ``count`` of LANES sentences of the same length.

    A total is NaN if a score of the sentence is NaN or +inf.
    """
    size = len(many_arcs[0])
    side_by_side = count >= MIN_SIMD_SENTENCES and size <= MAX_SIMD_SIZE
    for i in range(count):
        # this also brings the scores into the cache, in order
        bad = first_bad_score(many_arcs[i].reshape((size, size, 1))) >= 0 or first_bad_sibling(many_siblings[i]) >= 0
        totals[i] = np.nan if bad else -np.inf
        if not (bad or side_by_side):
            totals[i] = best_second_order_projective(many_arcs[i], many_siblings[i], heads[i], single_root)
    if not side_by_side:
        return
    # an odd number of cells in a row: those of a column are then not in each other's way in the cache
    cells = np.empty((3, size, size | 1, LANES))
    complete, incomplete, sibling = cells[0], cells[1], cells[2]
    combine_words(many_arcs, many_siblings, complete, incomplete, sibling)
    attach_root(many_arcs, many_siblings, single_root, complete, incomplete, sibling)
    for i in range(count):
        heads[i, 0] = -1
        if totals[i] == -np.inf and complete[0, size - 1, i] > -np.inf:
            own = complete[:, :size, i]
            chart = Chart(own, own.T, incomplete[:, :size, i], sibling[:, :size, i])
            totals[i] = backtrace(many_arcs[i], many_siblings[i], single_root, chart, heads[i])


@jit_helper
def combine_words(many_arcs, many_siblings, complete, incomplete, sibling):
    """All items over the words 1..n; those inside i..j come before those of i..j."""
    size = len(complete)
    for i in range(size - 1, 0, -1):
        store(complete, i, i, filled(0.0))
        for j in range(i + 1, size):
            halves = best_halves(complete, i, j)
            store(sibling, i, j, halves)
            store(sibling, j, i, halves)
            for h, m in ((i, j), (j, i)):
                later = best_with_sibling(many_siblings, incomplete, sibling, h, m)
                first = first_child(many_siblings, complete, h, m)
                store(incomplete, h, m, load_each(many_arcs, h * size + m) + higher(later, first))
            store(complete, i, j, best_complete(complete, incomplete, i, j, i + 1, j + 1))
            store(complete, j, i, best_complete(complete, incomplete, j, i, i, j))


@jit_helper
def attach_root(many_arcs, many_siblings, single_root, complete, incomplete, sibling):
    """The items of node 0, all to its right; a single child has no sibling."""
    size = len(complete)
    store(complete, 0, 0, filled(0.0))
    for m in range(1, size):
        later = filled(-np.inf)
        if not single_root:
            later = best_with_sibling(many_siblings, incomplete, sibling, 0, m)
        first = first_child(many_siblings, complete, 0, m)
        store(incomplete, 0, m, load_each(many_arcs, m) + higher(later, first))
    if size > 1:
        store(complete, 0, size - 1, best_complete(complete, incomplete, 0, size - 1, 1, size))


@jit_helper
def first_child(many_siblings, complete, h, m):
    """The half of m towards h, and the score of (h, h, m)."""
    size = len(complete)
    half = load(complete, m, h + 1 if h < m else h - 1)
    return half + load_each(many_siblings, (h * size + h) * size + m)


@jit_helper
def best_with_sibling(many_siblings, incomplete, sibling, h, m):
    """max_s incomplete[h, s] + sibling[m, s] + siblings[h, s, m]; -inf if there is no s."""
    size = len(incomplete)
    best = filled(-np.inf)
    for s in range(min(h, m) + 1, max(h, m)):
        part = load_each(many_siblings, (h * size + s) * size + m)
        best = higher(load(incomplete, h, s) + load(sibling, m, s) + part, best)
    return best
