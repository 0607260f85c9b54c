"""Scores of parts as an integer program wants them: arcs by number, and pairs of arcs."""

import numpy as np

from crossarc._jit import by_type, jit, jit_helper, jit_inline
from crossarc.ilp.parts import Pairs, Parts
from crossarc.scorers._part_scores import any_sibling_score, count_arcs, grandparent_score, sibling_score


@jit
def ilp_parts(parts):
    """All parts that the candidate arcs can form, with their scores; a kind that is not scored has none."""
    numbers, heads, modifiers, arcs = number_arcs(parts)
    children = children_of(parts)
    return Parts(
        len(parts.counts),
        heads,
        modifiers,
        arcs,
        pairs_of_siblings(parts, numbers, children),
        pairs_of_grandparents(parts, numbers),
        pairs_of_next_siblings(parts, numbers, children),
        valency_sides(parts.source, parts.valencies) if parts.valencies.size > 0 else np.empty((0, 0, 0)),
        np.empty(0),
        np.empty(0),
        np.empty((len(heads), 0)),
    )


@by_type
def valency_sides(source, valencies):
    """scores[h, side, k] of k children to the left and to the right of h; those of both sides add up."""


@valency_sides.register(type(None))
def known_valency_sides(source, valencies):
    """Taken from the scores for both numbers, which are sums."""
    scores = np.empty((len(valencies), 2, valencies.shape[1]))
    for h in range(len(valencies)):
        for k in range(valencies.shape[1]):
            scores[h, 0, k] = valencies[h, k, 0]
            scores[h, 1, k] = valencies[h, 0, k] - valencies[h, 0, 0]
    return scores


@jit_helper
def number_arcs(parts):
    """numbers[m, j] of each candidate arc; heads, modifiers and scores by number."""
    total = count_arcs(parts)
    numbers = np.full(parts.candidates.shape, -1)
    heads, modifiers, arcs = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total)
    count = 0
    for m in range(1, len(parts.counts)):
        for j in range(parts.counts[m]):
            numbers[m, j] = count
            heads[count], modifiers[count], arcs[count] = parts.candidates[m, j], m, parts.arcs[m, j]
            count += 1
    return numbers, heads, modifiers, arcs


@jit_helper
def children_of(parts):
    """(starts, words, choices): the words that have h as a candidate, from starts[h] on, and which candidate it is."""
    size = len(parts.counts)
    starts = np.zeros(size + 1, np.int64)
    for m in range(1, size):
        for j in range(parts.counts[m]):
            starts[parts.candidates[m, j] + 1] += 1
    for h in range(size):
        starts[h + 1] += starts[h]
    words, choices, filled = np.empty(starts[size], np.int64), np.empty(starts[size], np.int64), starts.copy()
    for m in range(1, size):
        for j in range(parts.counts[m]):
            h = parts.candidates[m, j]
            words[filled[h]], choices[filled[h]] = m, j
            filled[h] += 1
    return starts, words, choices


@jit_helper
def new_pairs(count):
    """Room for so many pairs."""
    return Pairs(np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count))


@jit_helper
def first_pairs(pairs, count):
    """Those pairs that have been filled in."""
    return Pairs(pairs.first[:count], pairs.second[:count], pairs.scores[:count])


@jit_inline
def count_pairs(starts):
    """How many pairs of words have a candidate head in common."""
    total = 0
    for h in range(len(starts) - 1):
        count = starts[h + 1] - starts[h]
        total += count * (count - 1) // 2
    return total


@jit_helper
def pairs_of_siblings(parts, numbers, children):
    """Every two candidate arcs from one head."""
    starts, words, choices = children
    if parts.any_siblings.size == 0:
        return new_pairs(0)
    pairs, count = new_pairs(count_pairs(starts)), 0
    for h in range(len(parts.counts)):
        for y in range(starts[h], starts[h + 1]):
            m, j = words[y], choices[y]
            for x in range(starts[h], y):
                pairs.first[count], pairs.second[count] = numbers[words[x], choices[x]], numbers[m, j]
                pairs.scores[count] = any_sibling_score(parts, m, j, words[x])
                count += 1
    return pairs


@jit_helper
def pairs_of_grandparents(parts, numbers):
    """Every candidate arc with every candidate arc into its head."""
    if parts.grandparents.size == 0:
        return new_pairs(0)
    pairs, count = new_pairs(count_arcs(parts) * parts.candidates.shape[1]), 0
    for m in range(1, len(parts.counts)):
        for j in range(parts.counts[m]):
            h = parts.candidates[m, j]
            for i in range(parts.counts[h]):
                g = parts.candidates[h, i]
                if g != m:
                    pairs.first[count], pairs.second[count] = numbers[h, i], numbers[m, j]
                    pairs.scores[count] = grandparent_score(parts, m, j, g)
                    count += 1
    return first_pairs(pairs, count)


@jit_helper
def pairs_of_next_siblings(parts, numbers, children):
    """Every candidate arc as the first on its side, and after every other that may stand before it."""
    starts, words, choices = children
    if parts.siblings.size == 0:
        return new_pairs(0)
    pairs, count = new_pairs(count_pairs(starts) + len(words)), 0
    for h in range(len(parts.counts)):
        for y in range(starts[h], starts[h + 1]):
            m, j = words[y], choices[y]
            pairs.first[count], pairs.second[count] = -1, numbers[m, j]
            pairs.scores[count] = sibling_score(parts, m, j, h)
            count += 1
            for x in range(starts[h], starts[h + 1]):
                s = words[x]
                if h < s < m or m < s < h:
                    pairs.first[count], pairs.second[count] = numbers[s, choices[x]], numbers[m, j]
                    pairs.scores[count] = sibling_score(parts, m, j, s)
                    count += 1
    return first_pairs(pairs, count)
