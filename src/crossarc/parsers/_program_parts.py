"""The parts of a space as a program wants them, and the features of what a program has chosen."""

from collections import namedtuple

import numpy as np

from crossarc._kernel import kernel, leaf_kernel
from crossarc.parsers._space import any_sibling_score, grandparent_score, sibling_score
from crossarc.scoring._indices import (
    MOST_COUNTED,
    any_sibling_indices,
    arc_indices,
    grandparent_indices,
    sibling_indices,
    sum_of,
    valency_indices,
)

# Arcs, and pairs of them by their numbers; see crossarc.programs.Parts. ``chosen`` says which of the kinds there are.
PartArrays = namedtuple("PartArrays", "heads modifiers arcs siblings grandparents next_siblings valencies nonprojective")
PairArrays = namedtuple("PairArrays", "first second scores")

NOT_PROJECTIVE = 0x155555  # sets the features of an arc that is not projective apart from those of the arc itself
UNIT = 1 << 16  # parts of features are counted in integers


@kernel
def program_parts(space, with_nonprojective):
    """All parts that the arcs of the space can form, with their scores; a kind without templates has none."""
    numbers, heads, modifiers, arcs = number_arcs(space)
    children = children_of(space)
    return PartArrays(
        heads,
        modifiers,
        arcs,
        pairs_of_siblings(space, numbers, children),
        pairs_of_grandparents(space, numbers),
        pairs_of_next_siblings(space, numbers, children),
        valency_scores(space),
        nonprojective_scores(space, len(heads)) if with_nonprojective else np.empty(0),
    )


@kernel
def number_arcs(space):
    """numbers[m, j] of each candidate arc; heads, modifiers and scores by number."""
    total = space.counts.sum()
    numbers = np.full(space.candidates.shape, -1)
    heads, modifiers, arcs = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total)
    count = 0
    for m in range(1, len(space.counts)):
        for j in range(space.counts[m]):
            numbers[m, j] = count
            heads[count], modifiers[count], arcs[count] = space.candidates[m, j], m, space.arcs[m, j]
            count += 1
    return numbers, heads, modifiers, arcs


@kernel
def children_of(space):
    """(starts, words, choices): the words that have h as a candidate, from starts[h] on, and which candidate it is."""
    size = len(space.counts)
    starts = np.zeros(size + 1, np.int64)
    for m in range(1, size):
        for j in range(space.counts[m]):
            starts[space.candidates[m, j] + 1] += 1
    starts = np.cumsum(starts)
    words, choices, filled = np.empty(starts[-1], np.int64), np.empty(starts[-1], np.int64), starts[:-1].copy()
    for m in range(1, size):
        for j in range(space.counts[m]):
            h = space.candidates[m, j]
            words[filled[h]], choices[filled[h]] = m, j
            filled[h] += 1
    return starts, words, choices


@kernel
def new_pairs(count):
    return PairArrays(np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count))


@kernel
def first_pairs(pairs, count):
    return PairArrays(pairs.first[:count], pairs.second[:count], pairs.scores[:count])


@kernel
def count_pairs(children):
    counts = np.diff(children[0])
    return (counts * (counts - 1)).sum() // 2


@kernel
def pairs_of_siblings(space, numbers, children):
    starts, words, choices = children
    if space.any_siblings.size == 0:
        return new_pairs(0)
    pairs, count = new_pairs(count_pairs(children)), 0
    for h in range(len(space.counts)):
        for y in range(starts[h], starts[h + 1]):
            m, j = words[y], choices[y]
            for x in range(starts[h], y):
                pairs.first[count], pairs.second[count] = numbers[words[x], choices[x]], numbers[m, j]
                pairs.scores[count] = any_sibling_score(space, m, j, words[x])
                count += 1
    return pairs


@kernel
def pairs_of_grandparents(space, numbers):
    if space.grandparents.size == 0:
        return new_pairs(0)
    pairs, count = new_pairs(space.counts.sum() * space.candidates.shape[1]), 0
    for m in range(1, len(space.counts)):
        for j in range(space.counts[m]):
            h = space.candidates[m, j]
            for i in range(space.counts[h]):
                g = space.candidates[h, i]
                if g != m:
                    pairs.first[count], pairs.second[count] = numbers[h, i], numbers[m, j]
                    pairs.scores[count] = grandparent_score(space, m, j, g)
                    count += 1
    return first_pairs(pairs, count)


@kernel
def pairs_of_next_siblings(space, numbers, children):
    starts, words, choices = children
    if space.siblings.size == 0:
        return new_pairs(0)
    pairs, count = new_pairs(count_pairs(children) + len(words)), 0
    for h in range(len(space.counts)):
        for y in range(starts[h], starts[h + 1]):
            m, j = words[y], choices[y]
            pairs.first[count], pairs.second[count] = -1, numbers[m, j]
            pairs.scores[count] = sibling_score(space, m, j, h)
            count += 1
            for x in range(starts[h], starts[h + 1]):
                s = words[x]
                if h < s < m or m < s < h:
                    pairs.first[count], pairs.second[count] = numbers[s, choices[x]], numbers[m, j]
                    pairs.scores[count] = sibling_score(space, m, j, s)
                    count += 1
    return first_pairs(pairs, count)


@kernel
def valency_scores(space):
    """scores[h, side, k]: of k children to the left and to the right."""
    n_templates = space.encoded.valency.shape[2]
    if n_templates == 0:
        return np.empty((0, 0, 0))
    scores = np.zeros((len(space.counts), 2, MOST_COUNTED + 1))
    for h in range(len(scores)):
        for k in range(MOST_COUNTED + 1):
            valency_indices(space.encoded, h, k, k, space.shift, space.buffer)
            for i in range(2 * n_templates):
                scores[h, i % 2, k] += space.weights[space.buffer[i]]
    return scores


@kernel
def nonprojective_scores(space, n_arcs):
    scores, count = np.empty(n_arcs), 0
    for m in range(1, len(space.counts)):
        for j in range(space.counts[m]):
            n_features = nonprojective_indices(space, space.candidates[m, j], m)
            scores[count] = sum_of(space.weights, space.buffer, n_features)
            count += 1
    return scores


@leaf_kernel
def nonprojective_indices(space, h, m):
    """The features of an arc that is not projective, in the space's buffer; their number."""
    count = arc_indices(space.encoded, h, m, space.shift, space.buffer)
    mask = (1 << (64 - np.int64(space.shift))) - 1
    for i in range(count):
        space.buffer[i] = (space.buffer[i] ^ NOT_PROJECTIVE) & mask
    return count
