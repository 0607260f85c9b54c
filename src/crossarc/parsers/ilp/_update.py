"""What a program has chosen, as features; the update by which the gold tree beats it."""

import numpy as np

from crossarc._jit import jit, jit_helper, jit_inline
from crossarc.learning._online import hildreth_step
from crossarc.parsers.linear._learn import append_label, training_sentence
from crossarc.parsers.linear._program import CROSSING, NOT_PROJECTIVE, mark_indices
from crossarc.scorers._part_scores import candidate_number
from crossarc.scorers.linear._features import (
    any_sibling_indices,
    arc_indices,
    grandparent_indices,
    sibling_indices,
    valency_indices,
)
from crossarc.scorers.linear._source import is_joint

UNIT = 1 << 16  # fractions of features are counted in integers
SMALLEST = 1e-5  # differences below this are noise


@jit
def score_with_losses(batch, b, models, gold, shape):
    """A sentence to learn from, with the scores of its parts; wrong arcs score 1 more, wrong labels half as much."""
    return training_sentence(batch, b, models, gold, shape, True)


@jit_helper
def differing_features(sentence, models, parts, differences, n_different, scratch):
    """The features of all parts, times the differences: (indices, values). ``scratch`` is zero before and after.

    ``n_different`` parts have differences that are not nearly 0.
    """
    source = sentence.parts.source
    of_labels = 2 * len(parts.heads) * sentence.slots.shape[2]
    places = np.empty(n_different * len(source.buffer) + of_labels, np.int64)
    count = 0
    for a in range(len(parts.heads)):
        h, m = parts.heads[a], parts.modifiers[a]
        if abs(differences.arcs[a]) > SMALLEST:
            n_features = arc_indices(source.encoded, h, m, source.shift, source.buffer)
            count = note(source.buffer, n_features, differences.arcs[a], scratch, places, count)
        if len(differences.nonprojective) > 0 and abs(differences.nonprojective[a]) > SMALLEST:
            n_features = mark_indices(source, h, m, NOT_PROJECTIVE)
            count = note(source.buffer, n_features, differences.nonprojective[a], scratch, places, count)
        if len(differences.crossing) > 0 and abs(differences.crossing[a]) > SMALLEST:
            n_features = mark_indices(source, h, m, CROSSING)
            count = note(source.buffer, n_features, differences.crossing[a], scratch, places, count)
    for i in range(len(differences.siblings)):
        if abs(differences.siblings[i]) > SMALLEST:
            s, m = parts.modifiers[parts.siblings.first[i]], parts.modifiers[parts.siblings.second[i]]
            h = parts.heads[parts.siblings.first[i]]
            n_features = any_sibling_indices(source.encoded, h, s, m, source.shift, source.buffer)
            count = note(source.buffer, n_features, differences.siblings[i], scratch, places, count)
    for i in range(len(differences.grandparents)):
        if abs(differences.grandparents[i]) > SMALLEST:
            a, b = parts.grandparents.first[i], parts.grandparents.second[i]
            n_features = grandparent_indices(
                source.encoded, parts.heads[a], parts.heads[b], parts.modifiers[b], source.shift, source.buffer
            )
            count = note(source.buffer, n_features, differences.grandparents[i], scratch, places, count)
    for i in range(len(differences.next_siblings)):
        if abs(differences.next_siblings[i]) > SMALLEST:
            a, b = parts.next_siblings.first[i], parts.next_siblings.second[i]
            h = parts.heads[b]
            s = h if a < 0 else parts.modifiers[a]
            n_features = sibling_indices(source.encoded, h, s, parts.modifiers[b], source.shift, source.buffer)
            count = note(source.buffer, n_features, differences.next_siblings[i], scratch, places, count)
    count = note_valencies(source, differences.valencies, scratch, places, count)
    if is_joint(models.labelling):
        count = note_labels(sentence, models, parts, differences.arcs, scratch, places, count)
    return gather(scratch, places, count)


@jit_helper
def note_valencies(source, differences, scratch, places, count):
    side_of = np.empty(len(source.buffer), np.int64)
    for h in range(differences.shape[0]):
        for side in range(differences.shape[1]):
            for k in range(differences.shape[2]):
                if abs(differences[h, side, k]) > SMALLEST:
                    n_features = valency_indices(source.encoded, h, k, k, source.shift, source.buffer)
                    for i in range(n_features // 2):
                        side_of[i] = source.buffer[2 * i + side]
                    count = note(side_of, n_features // 2, differences[h, side, k], scratch, places, count)
    return count


@jit_helper
def note_labels(sentence, models, parts, differences, scratch, places, count):
    """The gold tree has the gold labels, a solution the best label of each arc, as much as it has of the arc."""
    own = np.empty(sentence.slots.shape[2], np.int64)
    for a in range(len(parts.heads)):
        h, m = parts.heads[a], parts.modifiers[a]
        in_gold = 1.0 if sentence.heads[m] == h else 0.0
        in_solution = in_gold - differences[a]
        if in_gold > 0.0:
            n_features = append_label(sentence.slots, models, h, m, sentence.labels[m], own, 0)
            count = note(own, n_features, in_gold, scratch, places, count)
        if in_solution > SMALLEST:
            label = sentence.parts.labels[m, candidate_number(sentence.parts, m, h)]
            n_features = append_label(sentence.slots, models, h, m, label, own, 0)
            count = note(own, n_features, -in_solution, scratch, places, count)
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
def ilp_update(sentence, models, parts, differences, n_different, loss, learner):
    """The smallest change of the weights by which the gold tree beats a solution by its loss."""
    indices, values = differing_features(sentence, models, parts, differences, n_different, learner.scratch)
    hildreth_step(learner.weights, learner.totals, learner.step[0], indices, values, loss, 0.0, learner.max_step)
