"""Which parts a tree has, and what they score."""

import numpy as np

from crossarc._jit import jit, jit_helper
from crossarc.trees._shape import arcs_cross, nonprojective_arcs


@jit
def indicate(parts, heads, indicators):
    """Fill in which parts a tree has; the sum of their scores, -inf if it has an arc that is no candidate."""
    size, count = len(heads), 0
    for a in range(len(parts.heads)):
        indicators.arcs[a] = heads[parts.modifiers[a]] == parts.heads[a]
        count += indicators.arcs[a] > 0.0
    total = sum_of(parts.arcs, indicators.arcs) if count == size - 1 else -np.inf
    if len(parts.siblings.first) > 0:
        total += indicate_pairs(parts.siblings, indicators.arcs, indicators.siblings)
    if len(parts.grandparents.first) > 0:
        total += indicate_pairs(parts.grandparents, indicators.arcs, indicators.grandparents)
    if len(parts.next_siblings.first) > 0:
        total += indicate_next(parts, heads, indicators)
    if parts.valencies.size > 0:
        total += indicate_valencies(parts.valencies, heads, indicators.valencies)
    if len(parts.nonprojective) > 0:
        marked = np.empty(size, np.bool_)
        nonprojective_arcs(heads, marked)
        total += indicate_marks(parts.nonprojective, parts.modifiers, marked, indicators.arcs, indicators.nonprojective)
    if len(parts.crossing) > 0:
        marked = np.empty(size, np.bool_)
        which_cross(heads, marked)
        total += indicate_marks(parts.crossing, parts.modifiers, marked, indicators.arcs, indicators.crossing)
    return total


@jit_helper
def sum_of(scores, indicators):
    """The scores of the parts that are there; others may be -inf."""
    total = 0.0
    for i in range(len(scores)):
        if indicators[i] > 0.0:
            total += scores[i]
    return total


@jit_helper
def indicate_pairs(pairs, arcs, indicators):
    for i in range(len(pairs.first)):
        indicators[i] = arcs[pairs.first[i]] * arcs[pairs.second[i]]
    return sum_of(pairs.scores, indicators)


@jit_helper
def indicate_next(parts, heads, indicators):
    first, second = parts.next_siblings.first, parts.next_siblings.second
    neighbours = inner_neighbours(heads)
    for i in range(len(first)):
        a = second[i]
        wanted = parts.heads[a] if first[i] < 0 else parts.modifiers[first[i]]
        indicators.next_siblings[i] = indicators.arcs[a] > 0.0 and neighbours[parts.modifiers[a]] == wanted
    return sum_of(parts.next_siblings.scores, indicators.next_siblings)


@jit_helper
def inner_neighbours(heads):
    """For each word the sibling next to it towards its head, on the same side; the head itself if there is none."""
    size = len(heads)
    neighbours, last = heads.copy(), np.arange(size)
    for m in range(1, size):
        if heads[m] < m:
            neighbours[m] = last[heads[m]]
            last[heads[m]] = m
    last[:] = np.arange(size)
    for m in range(size - 1, 0, -1):
        if heads[m] > m:
            neighbours[m] = last[heads[m]]
            last[heads[m]] = m
    return neighbours


@jit_helper
def indicate_valencies(scores, heads, indicators):
    n_sides, most = scores.shape[1], scores.shape[2] - 1
    counts = np.zeros((len(heads), n_sides), np.int64)
    for m in range(1, len(heads)):
        counts[heads[m], 1 if n_sides == 2 and m > heads[m] else 0] += 1
    indicators[:] = 0.0
    total = 0.0
    for h in range(len(heads)):
        for side in range(n_sides):
            count = min(counts[h, side], most)
            indicators[h, side, count] = 1.0
            total += scores[h, side, count]
    return total


@jit_helper
def which_cross(heads, crosses):
    """Whether the arc into each word crosses another."""
    crosses[:] = False
    for first in range(1, len(heads)):
        for second in range(first + 1, len(heads)):
            if arcs_cross(heads, first, second):
                crosses[first] = crosses[second] = True


@jit_helper
def indicate_marks(scores, modifiers, marked, arcs, indicators):
    for a in range(len(modifiers)):
        indicators[a] = arcs[a] > 0.0 and marked[modifiers[a]]
    return sum_of(scores, indicators)
