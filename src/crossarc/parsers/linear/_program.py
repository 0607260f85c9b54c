"""The parts of a space as a program wants them, and the features of what a program has chosen."""

import numpy as np

from crossarc._jit import jit, jit_helper, jit_inline
from crossarc.features._hashing import hash_slots, sentence_attributes, sum_of
from crossarc.ilp.parts import Pairs, PartArrays
from crossarc.learning._online import hildreth_step
from crossarc.parsers.linear._mira import MIRA, Method, open_task
from crossarc.parsers.linear._parse import label, space_of
from crossarc.scorers.linear._features import (
    MOST_COUNTED,
    any_sibling_indices,
    arc_indices,
    grandparent_indices,
    sibling_indices,
    valency_indices,
)
from crossarc.scorers.linear._labels import label_scores, row_indices, rows_of_arc
from crossarc.scorers.linear._part_scores import any_sibling_score, grandparent_score, sibling_score

NOT_PROJECTIVE = 0x155555  # sets the features of an arc that is not projective apart from those of the arc itself
UNIT = 1 << 16  # fractions of features are counted in integers
SMALLEST = 1e-5  # differences below this are noise


@jit_helper
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
        np.empty(0),
    )


@jit_helper
def number_arcs(space):
    """numbers[m, j] of each candidate arc; heads, modifiers and scores by number."""
    total = count_arcs(space)
    numbers = np.full(space.candidates.shape, -1)
    heads, modifiers, arcs = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total)
    count = 0
    for m in range(1, len(space.counts)):
        for j in range(space.counts[m]):
            numbers[m, j] = count
            heads[count], modifiers[count], arcs[count] = space.candidates[m, j], m, space.arcs[m, j]
            count += 1
    return numbers, heads, modifiers, arcs


@jit_inline
def count_arcs(space):
    total = 0
    for m in range(1, len(space.counts)):
        total += space.counts[m]
    return total


@jit_helper
def children_of(space):
    """(starts, words, choices): the words that have h as a candidate, from starts[h] on, and which candidate it is."""
    size = len(space.counts)
    starts = np.zeros(size + 1, np.int64)
    for m in range(1, size):
        for j in range(space.counts[m]):
            starts[space.candidates[m, j] + 1] += 1
    for h in range(size):
        starts[h + 1] += starts[h]
    words, choices, filled = np.empty(starts[size], np.int64), np.empty(starts[size], np.int64), starts.copy()
    for m in range(1, size):
        for j in range(space.counts[m]):
            h = space.candidates[m, j]
            words[filled[h]], choices[filled[h]] = m, j
            filled[h] += 1
    return starts, words, choices


@jit_helper
def new_pairs(count):
    return Pairs(np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count))


@jit_helper
def first_pairs(pairs, count):
    return Pairs(pairs.first[:count], pairs.second[:count], pairs.scores[:count])


@jit_inline
def count_pairs(starts):
    total = 0
    for h in range(len(starts) - 1):
        count = starts[h + 1] - starts[h]
        total += count * (count - 1) // 2
    return total


@jit_helper
def pairs_of_siblings(space, numbers, children):
    starts, words, choices = children
    if space.any_siblings.size == 0:
        return new_pairs(0)
    pairs, count = new_pairs(count_pairs(starts)), 0
    for h in range(len(space.counts)):
        for y in range(starts[h], starts[h + 1]):
            m, j = words[y], choices[y]
            for x in range(starts[h], y):
                pairs.first[count], pairs.second[count] = numbers[words[x], choices[x]], numbers[m, j]
                pairs.scores[count] = any_sibling_score(space, m, j, words[x])
                count += 1
    return pairs


@jit_helper
def pairs_of_grandparents(space, numbers):
    if space.grandparents.size == 0:
        return new_pairs(0)
    pairs, count = new_pairs(count_arcs(space) * space.candidates.shape[1]), 0
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


@jit_helper
def pairs_of_next_siblings(space, numbers, children):
    starts, words, choices = children
    if space.siblings.size == 0:
        return new_pairs(0)
    pairs, count = new_pairs(count_pairs(starts) + len(words)), 0
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


@jit_helper
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


@jit_helper
def nonprojective_scores(space, n_arcs):
    scores, count = np.empty(n_arcs), 0
    for m in range(1, len(space.counts)):
        for j in range(space.counts[m]):
            n_features = nonprojective_indices(space, space.candidates[m, j], m)
            scores[count] = sum_of(space.weights, space.buffer, n_features)
            count += 1
    return scores


@jit_inline
def nonprojective_indices(space, h, m):
    """The features of an arc that is not projective, in the space's buffer; their number."""
    count = arc_indices(space.encoded, h, m, space.shift, space.buffer)
    mask = (1 << (64 - np.int64(space.shift))) - 1
    for i in range(count):
        space.buffer[i] = (space.buffer[i] ^ NOT_PROJECTIVE) & mask
    return count


@jit_helper
def label_matrix(space, attributes, models, allowed, rules, heads):
    """scores[a, l]: how much worse than its best label the label l of an arc is; -inf unless it is allowed.

    Labels of a second stage are looked at as if all other arcs were those of a tree.
    """
    slots = hash_slots(attributes.words, models.labels.templates.label)
    rows = np.empty(slots.shape[2], np.int64)
    one = np.empty(allowed.labels.shape[1], np.float32)
    scores, count = np.empty((count_arcs(space), len(one))), 0
    for m in range(1, len(heads)):
        head = heads[m]
        for j in range(space.counts[m]):
            heads[m] = space.candidates[m, j]
            if rules.joint:
                n_rows = rows_of_arc(slots, heads[m], m, models.labels.shift, rows)
            else:
                n_rows = row_indices(slots, heads, m, models.labels.shift, rows)
            label_scores(models.labels.weights, rows, n_rows, allowed.labels, m, one)
            best = one[np.argmax(one)]
            for i in range(len(one)):
                scores[count, i] = one[i] - best
            count += 1
        heads[m] = head
    return scores


@jit_helper
def differing_features(space, parts, differences, n_different, scratch):
    """The features of all parts, times the differences: (indices, values). ``scratch`` is zero before and after.

    ``n_different`` parts have differences that are not nearly 0.
    """
    places = np.empty(n_different * len(space.buffer), np.int64)
    count = 0
    for a in range(len(parts.heads)):
        h, m = parts.heads[a], parts.modifiers[a]
        if abs(differences.arcs[a]) > SMALLEST:
            n_features = arc_indices(space.encoded, h, m, space.shift, space.buffer)
            count = note(space.buffer, n_features, differences.arcs[a], scratch, places, count)
        if len(differences.nonprojective) > 0 and abs(differences.nonprojective[a]) > SMALLEST:
            n_features = nonprojective_indices(space, h, m)
            count = note(space.buffer, n_features, differences.nonprojective[a], scratch, places, count)
    for i in range(len(differences.siblings)):
        if abs(differences.siblings[i]) > SMALLEST:
            s, m = parts.modifiers[parts.siblings.first[i]], parts.modifiers[parts.siblings.second[i]]
            h = parts.heads[parts.siblings.first[i]]
            n_features = any_sibling_indices(space.encoded, h, s, m, space.shift, space.buffer)
            count = note(space.buffer, n_features, differences.siblings[i], scratch, places, count)
    for i in range(len(differences.grandparents)):
        if abs(differences.grandparents[i]) > SMALLEST:
            a, b = parts.grandparents.first[i], parts.grandparents.second[i]
            n_features = grandparent_indices(
                space.encoded, parts.heads[a], parts.heads[b], parts.modifiers[b], space.shift, space.buffer
            )
            count = note(space.buffer, n_features, differences.grandparents[i], scratch, places, count)
    for i in range(len(differences.next_siblings)):
        if abs(differences.next_siblings[i]) > SMALLEST:
            a, b = parts.next_siblings.first[i], parts.next_siblings.second[i]
            h = parts.heads[b]
            s = h if a < 0 else parts.modifiers[a]
            n_features = sibling_indices(space.encoded, h, s, parts.modifiers[b], space.shift, space.buffer)
            count = note(space.buffer, n_features, differences.next_siblings[i], scratch, places, count)
    count = note_valencies(space, differences.valencies, scratch, places, count)
    return gather(scratch, places, count)


@jit_helper
def note_valencies(space, differences, scratch, places, count):
    side_of = np.empty(len(space.buffer), np.int64)
    for h in range(differences.shape[0]):
        for side in range(differences.shape[1]):
            for k in range(differences.shape[2]):
                if abs(differences[h, side, k]) > SMALLEST:
                    n_features = valency_indices(space.encoded, h, k, k, space.shift, space.buffer)
                    for i in range(n_features // 2):
                        side_of[i] = space.buffer[2 * i + side]
                    count = note(side_of, n_features // 2, differences[h, side, k], scratch, places, count)
    return count


@jit_inline
def note(indices, n_features, difference, scratch, places, count):
    amount = round(difference * UNIT)
    for i in range(n_features):
        scratch[indices[i]] += amount
        places[count + i] = indices[i]
    return count + n_features


@jit_helper
def gather(scratch, places, count):
    indices, values, n_different = np.empty(count, np.int64), np.empty(count, np.float32), 0
    for i in range(count):
        if scratch[places[i]] != 0:
            indices[n_different] = places[i]
            values[n_different] = scratch[places[i]] / UNIT
            scratch[places[i]] = 0
            n_different += 1
    return indices[:n_different], values[:n_different]


@jit
def ilp_update(space, parts, differences, n_different, loss, learner):
    """The smallest change of the weights by which the gold tree beats a solution by its loss."""
    indices, values = differing_features(space, parts, differences, n_different, learner.scratch)
    hildreth_step(learner.weights, learner.totals, learner.step[0], indices, values, loss, 0.0, learner.max_step)


@jit
def learning_space(batch, b, models, gold, rules, with_nonprojective):
    """The space of a sentence to learn from, and its parts; wrong arcs score 1 more."""
    task = open_task(batch, b, models, gold, rules, Method(MIRA, 1, True))
    return task.space, program_parts(task.space, with_nonprojective)


@jit
def parsing_space(batch, models, allowed, rules, with_nonprojective):
    """The space of the only sentence of a batch, and its parts."""
    space = space_of(sentence_attributes(batch, 0), models, allowed, rules)
    return space, program_parts(space, with_nonprojective)


@jit
def labels_of_tree(batch, space, models, allowed, rules, heads, labels):
    label(space, sentence_attributes(batch, 0), models, allowed, rules, heads, labels)


@jit
def labels_of_arcs(batch, space, models, allowed, rules, heads):
    return label_matrix(space, sentence_attributes(batch, 0), models, allowed, rules, heads)
