"""Exact samples of trees in bounded time: one word after the other, each given the heads of those before it.

The halving of ``_matrix_tree.all_marginals`` comes to every word from left to right, when all others have been
eliminated. There the words to the left of it were free, and here they are eliminated with the one head that was drawn
for each: so the distribution that it finds for a word's heads is the one given all heads to the left of it. A tree
costs O(n³) whatever the scores. Wilson's (1996) walks are shorter on average, but have no bound when the scores
are peaked: a walk may stay in a cycle of words for a time as long as exp of a difference of scores.
"""

import numpy as np

from crossarc._jit import jit, jit_helper
from crossarc.trees._matrix_tree import (
    copy_graph,
    eliminate,
    first_graph,
    log_sum,
    normalise,
    one,
    times,
    zero,
)


@jit
def sample(scores, single_root, uniforms, heads):
    """Fill each row of ``heads`` with a tree, drawn by the uniform random numbers of the same row (one per word).

    Returns log Z; -inf if there is no tree. O(n³) for each tree.
    """
    in_logs = False
    log_z = log_sum(scores, single_root, in_logs)
    if np.isnan(log_z):
        in_logs = True
        log_z = log_sum(scores, single_root, in_logs)
    if log_z == -np.inf:
        return log_z
    size = len(scores)
    weights, chances = np.empty((size, size)), np.empty(size)
    normalise(scores, single_root, in_logs, weights)
    for i in range(len(heads)):
        heads[i, 0] = -1
        if size > 1 and not draw_tree(weights, single_root, in_logs, uniforms[i], chances, heads[i]):
            # the same random numbers give the same tree, this time within range
            in_logs = True
            normalise(scores, single_root, in_logs, weights)
            draw_tree(weights, single_root, in_logs, uniforms[i], chances, heads[i])
    return log_z


@jit_helper
def draw_tree(weights, single_root, in_logs, uniforms, chances, heads):
    """Draw the heads of all words; False if the numbers must be kept ``in_logs``, and are not.

    ``chances`` is working space for the probabilities of one word's heads.
    """
    rows = first_graph(weights)
    right_halves = []
    lo, hi, root, shift, free, rooted = 1, len(weights), 0, 0, len(weights), not single_root
    while True:
        while hi - lo > 1:
            mid = (lo + hi) // 2
            right_halves.append((lo, mid, hi, root, shift, free, rooted))
            root, shift = copy_graph(rows, lo, hi, root, shift, free)
            _, rooted = eliminate(rows, root, shift, lo, hi, mid, hi, rooted, one(in_logs), in_logs)
            hi, free = mid, shift + mid
        if not head_distribution(weights, rows[root], lo, single_root and rooted, in_logs, chances):
            return False
        heads[lo] = draw(chances, uniforms[lo - 1])
        if len(right_halves) == 0:
            return True
        lo, mid, hi, root, shift, free, rooted = right_halves.pop()
        fix_heads(rows, root, shift, lo, mid, hi, heads, in_logs)
        _, rooted = eliminate(rows, root, shift, lo, hi, lo, mid, rooted, one(in_logs), in_logs)
        lo = mid


@jit_helper
def head_distribution(weights, escape, word, root_taken, in_logs, chances):
    """The probability of each head of a word, as in ``_matrix_tree.head_distributions``; False if out of range."""
    for h in range(len(chances)):
        chances[h] = times(weights[h, word], escape[h] if h > 0 else one(in_logs), in_logs)
    chances[word] = zero(in_logs)
    if root_taken:
        chances[0] = zero(in_logs)
    if in_logs:
        top = chances.max()
        for h in range(len(chances)):
            chances[h] = np.exp(chances[h] - top)
    total = chances.sum()
    if not 0.0 < total < np.inf:
        return False
    chances /= total
    return True


@jit_helper
def draw(chances, uniform):
    """The index at which the running sum of the chances exceeds ``uniform``; never one without a chance."""
    chosen = -1
    total = 0.0
    for h in range(len(chances)):
        if chances[h] > 0.0:
            chosen = h
            total += chances[h]
            if total > uniform:
                break
    return chosen


@jit_helper
def fix_heads(rows, root, shift, lo, mid, hi, heads, in_logs):
    """In the graph of the words lo..hi-1, leave the words lo..mid-1 only the heads that were drawn for them."""
    for word in range(lo, mid):
        head = heads[word]
        if 0 < head < lo or head >= hi:
            # an eliminated head: the word goes wherever a walk from there goes
            rows[root, word] = rows[root, head]
            for g in range(shift + lo, shift + hi):
                rows[g, word] = rows[g, head]
        else:
            rows[root, word] = zero(in_logs)
            for g in range(shift + lo, shift + hi):
                rows[g, word] = zero(in_logs)
            rows[root if head == 0 else shift + head, word] = one(in_logs)
