"""The features of LINK(i, j) (Nivre 2007, section 5), and the scores of actions and labels.

What an atom takes from one word is hashed once per sentence. For the linear classifier, a feature is then the sum of
one to four ready numbers, and its place in a table of weights is given by the sum's highest bits. The weights of the
three actions lie side by side; a feature of labels has a row of weights, one for each label, and rows may overlap.

For support vector machines, the atoms themselves are the symbols. Their classes are: no arc, then the arcs to the left
with each label, then those to the right.
"""

from collections import namedtuple

import numpy as np

from crossarc._jit import jit_helper, jit_inline, jit_noinline
from crossarc.features._hashing import mix
from crossarc.features.attributes import PADDING, UPOS
from crossarc.learning._svm import class_scores, group_of, new_room
from crossarc.parsers.covington._graph import LEFT_ARC, NO_ARC, RIGHT_ARC, SIZE
from crossarc.scorers.linear._features import (
    place_of,
)
from crossarc.scorers.linear._labels import label_scores

# ready[node, a]: the number of atom a at a node, the last node being none; numbers: a random one for each label;
# places, rows: where the weights of the current features are; scores of the actions; scores of the labels; what support
# vector machines need: the tag of each node, scores of the classes, room
View = namedtuple("View", "ready numbers nodes values places rows scores labels tags classes room")

WIDTH = 4  # weights of a feature of links: three actions, and one for nothing, so that they never straddle two lines
MOST_ROOTS = 4  # that are told apart


@jit_helper
def new_view(words, model, n_labels):
    """What is ready for a sentence, and room for the rest."""
    features = model.features
    n_nodes = len(words) - 2 * PADDING
    n_atoms = len(features.offsets)
    ready = np.empty((n_nodes, n_atoms), np.uint64)
    for node in range(n_nodes):
        for a in range(n_atoms):
            ready[node, a] = mix(
                words[node + PADDING + features.offsets[a], features.attributes[a]] ^ features.seeds[a]
            )
    numbers = np.empty(n_labels + 16, np.uint64)
    for n in range(len(numbers)):
        numbers[n] = mix(np.uint64(n + 1))
    return View(
        ready,
        numbers,
        np.empty(8, np.int64),
        np.zeros(len(features.seeds), np.uint64),
        np.empty(len(features.links), np.int64),
        np.empty(len(features.labels), np.int64),
        np.empty(3, np.float32),
        np.empty(n_labels, np.float32),
        words[PADDING:, UPOS],
        np.empty(1 + 2 * n_labels, np.float32),
        new_room(model.svm),
    )


@jit_inline
def look_at(view, features, graph, i, j):
    """The number of each atom for the link between i and j."""
    nodes, values, none = view.nodes, view.values, len(view.ready) - 1
    height = graph.counts[SIZE]
    nodes[0], nodes[1] = i, j
    nodes[2] = graph.context[height - 1] if height > 0 else none
    nodes[3] = graph.context[height - 2] if height > 1 else none
    nodes[4], nodes[5], nodes[6], nodes[7] = graph.heads[i], graph.leftmost[i], graph.rightmost[i], graph.leftmost[j]
    for address in range(4, 8):
        if nodes[address] < 0:
            nodes[address] = none
    n_words, n_labels, n_named = len(features.offsets), features.n_labels, len(features.slots)
    for a in range(n_words):
        values[a] = view.ready[nodes[features.slots[a]], a]
    for a in range(n_words, n_words + n_labels):
        values[a] = view.numbers[graph.labels[nodes[features.slots[a]]] + 1] * features.seeds[a]
    for a in range(n_words + n_labels, n_named):
        values[a] = graph.dependents[nodes[features.slots[a]]] * features.seeds[a]
    values[n_named] = view.numbers[place_of(j - i)] * features.seeds[n_named]
    values[n_named + 1] = view.numbers[min(height, MOST_ROOTS)] * features.seeds[n_named + 1]


@jit_inline
def is_linear(model):
    return len(model.svm.keys) == 0


@jit_inline
def score_actions(view, model):
    """scores[a] of each action for the link last looked at."""
    if is_linear(model):
        score_actions_linearly(view, model)
    else:
        score_classes(view, model)
        view.scores[NO_ARC] = view.classes[0]
        view.scores[LEFT_ARC] = view.scores[RIGHT_ARC] = -np.inf
        n_labels = len(view.labels)
        for label in range(n_labels):
            view.scores[LEFT_ARC] = max(view.scores[LEFT_ARC], view.classes[1 + label])
            view.scores[RIGHT_ARC] = max(view.scores[RIGHT_ARC], view.classes[1 + n_labels + label])


@jit_inline
def score_labels(view, model, action, allowed, m):
    """labels[l] of each label for an arc into m; ``action`` tells its direction."""
    if is_linear(model):
        score_labels_linearly(view, model, action, allowed, m)
    else:
        score_classes(view, model)
        first = 1 if action == LEFT_ARC else 1 + len(view.labels)
        for label in range(len(view.labels)):
            is_allowed = len(allowed) == 0 or allowed[m, label]
            view.labels[label] = view.classes[first + label] if is_allowed else -np.inf


@jit_inline
def score_actions_linearly(view, model):
    atoms, values, places, weights = model.features.links, view.values, view.places, model.links
    for f in range(len(atoms)):
        x = values[atoms[f, 0]] + values[atoms[f, 1]] + values[atoms[f, 2]] + values[atoms[f, 3]]
        places[f] = (x >> model.link_shift) * np.uint64(WIDTH)
    none, left, right = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for f in range(len(places)):
        place = places[f]
        none += weights[place]
        left += weights[place + 1]
        right += weights[place + 2]
    view.scores[0], view.scores[1], view.scores[2] = none, left, right


@jit_inline
def score_labels_linearly(view, model, action, allowed, m):
    atoms, values, rows = model.features.labels, view.values, view.rows
    direction = view.numbers[action]
    for f in range(len(atoms)):
        x = values[atoms[f, 0]] + values[atoms[f, 1]] + values[atoms[f, 2]] + values[atoms[f, 3]] + direction
        rows[f] = x >> model.label_shift
    label_scores(model.labels, rows, len(rows), allowed, m, view.labels)


@jit_noinline
def score_classes(view, model):
    """classes[c] of each class of the support vector machines, which are split by the tag of j."""
    set_symbols(view, view.room.symbols)
    class_scores(model.svm, group_of(model.svm, view.tags[view.nodes[1]]), view.room, view.classes)


@jit_inline
def set_symbols(view, symbols):
    """The atoms as symbols; the last atom is always the same."""
    for a in range(len(symbols)):
        symbols[a] = view.values[a] >> np.uint64(32)
