"""Trees near a fractional solution, and better ones that differ in the head of one word."""

import numpy as np

from crossarc._jit import jit, jit_helper
from crossarc.ilp._indicators import indicate
from crossarc.trees._chu_liu_edmonds import best_arborescence


@jit
def best_of_nearest(parts, many_values, arcs, single_root, heads, indicators):
    """The best of the maximal arborescences over values of the arcs, each improved by some arcs; its score."""
    weights, tree = np.full((len(heads), len(heads)), -np.inf), heads.copy()
    best = -np.inf
    for values in many_values:
        for a in range(len(values)):
            weights[parts.heads[a], parts.modifiers[a]] = values[a]
        if best_arborescence(weights, single_root, tree) == -np.inf:
            continue
        score = climb(parts, tree, arcs, single_root, indicators)
        if score > best:
            best, heads[:] = score, tree
    return best


@jit
def climb(parts, heads, arcs, single_root, indicators):
    """Take one of the arcs after the other into the tree, as long as that makes it better; its score."""
    score = indicate(parts, heads, indicators)
    since = 0  # arcs that were tried without success
    while since < len(arcs):
        for a in arcs:
            m, h = parts.modifiers[a], parts.heads[a]
            old = heads[m]
            since += 1
            if h == old or not may_change(heads, m, h, single_root):
                continue
            heads[m] = h
            changed = indicate(parts, heads, indicators)
            if changed > score:
                score, since = changed, 0
            else:
                heads[m] = old
    return score


@jit_helper
def may_change(heads, m, h, single_root):
    """Whether m may hang from h instead: no cycle, and no second child of the root where it has one only."""
    if single_root and (h == 0 or heads[m] == 0):
        return False
    while h > 0 and h != m:
        h = heads[h]
    return h != m
