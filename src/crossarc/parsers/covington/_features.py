"""The features of LINK(i, j) (Nivre 2007, section 5), and the scores of actions and labels.

What an atom takes from one word is hashed once per sentence. For the linear classifier, a feature is then the sum of
one to four ready numbers, and its place in a table of weights is given by the sum's highest bits. The weights of the
three actions lie side by side; a feature of labels has a row of weights, one for each label, and rows may overlap.

For support vector machines, the atoms themselves are the symbols. Their classes are: no arc, then the arcs to the left
with each label, then those to the right.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc._jit import jit_helper, jit_inline, jit_noinline
from crossarc.features._hashing import mix
from crossarc.features.attributes import PADDING, UPOS
from crossarc.learning._svm import Workspace, class_scores, group_of, new_workspace
from crossarc.parsers.covington._graph import LEFT_ARC, NO_ARC, RIGHT_ARC, SIZE
from crossarc.scorers.linear._features import distance_bin
from crossarc.scorers.linear._labels import label_scores


class LinkFeatures(NamedTuple):
    """The features of one link after the other, and the scores that they give."""

    ready: NDArray[np.uint64]  # [node, a]: the number of atom a at a node, the last node being none
    numbers: NDArray[np.uint64]  # a random one for each label, distance ...
    nodes: NDArray[np.int64]  # the words in the slots of the current link
    values: NDArray[np.uint64]  # of each atom for the current link
    places: NDArray[np.int64]  # where the weights of its features are
    rows: NDArray[np.int64]  # the same for features of labels
    scores: NDArray[np.float32]  # of the actions
    labels: NDArray[np.float32]  # scores of the labels
    tags: NDArray[np.uint64]  # of each node, by which support vector machines are split
    classes: NDArray[np.float32]  # scores of the classes of support vector machines
    svm: Workspace


WIDTH = 4  # weights of a feature of links: three actions, and one for nothing, so that they never straddle two lines
MAX_ROOTS = 4  # that are told apart


@jit_helper
def new_link_features(words, model, n_labels):
    """What is ready for a sentence, and space for the rest."""
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
    return LinkFeatures(
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
        new_workspace(model.svm),
    )


@jit_inline
def extract_features(extracted, features, graph, i, j):
    """The number of each atom for the link between i and j."""
    nodes, values, none = extracted.nodes, extracted.values, len(extracted.ready) - 1
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
        values[a] = extracted.ready[nodes[features.slots[a]], a]
    for a in range(n_words, n_words + n_labels):
        values[a] = extracted.numbers[graph.labels[nodes[features.slots[a]]] + 1] * features.seeds[a]
    for a in range(n_words + n_labels, n_named):
        values[a] = graph.dependents[nodes[features.slots[a]]] * features.seeds[a]
    values[n_named] = extracted.numbers[distance_bin(j - i)] * features.seeds[n_named]
    values[n_named + 1] = extracted.numbers[min(height, MAX_ROOTS)] * features.seeds[n_named + 1]


@jit_inline
def is_linear(model):
    return len(model.svm.keys) == 0


@jit_inline
def score_actions(extracted, model):
    """scores[a] of each action for the link last looked at."""
    if is_linear(model):
        score_actions_linearly(extracted, model)
    else:
        score_classes(extracted, model)
        extracted.scores[NO_ARC] = extracted.classes[0]
        extracted.scores[LEFT_ARC] = extracted.scores[RIGHT_ARC] = -np.inf
        n_labels = len(extracted.labels)
        for label in range(n_labels):
            extracted.scores[LEFT_ARC] = max(extracted.scores[LEFT_ARC], extracted.classes[1 + label])
            extracted.scores[RIGHT_ARC] = max(extracted.scores[RIGHT_ARC], extracted.classes[1 + n_labels + label])


@jit_inline
def score_labels(extracted, model, action, allowed, m):
    """labels[l] of each label for an arc into m; ``action`` tells its direction."""
    if is_linear(model):
        score_labels_linearly(extracted, model, action, allowed, m)
    else:
        score_classes(extracted, model)
        first = 1 if action == LEFT_ARC else 1 + len(extracted.labels)
        for label in range(len(extracted.labels)):
            is_allowed = len(allowed) == 0 or allowed[m, label]
            extracted.labels[label] = extracted.classes[first + label] if is_allowed else -np.inf


@jit_inline
def score_actions_linearly(extracted, model):
    atoms, values, places, weights = model.features.links, extracted.values, extracted.places, model.links
    for f in range(len(atoms)):
        x = values[atoms[f, 0]] + values[atoms[f, 1]] + values[atoms[f, 2]] + values[atoms[f, 3]]
        places[f] = (x >> model.link_shift) * np.uint64(WIDTH)
    none, left, right = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for f in range(len(places)):
        place = places[f]
        none += weights[place]
        left += weights[place + 1]
        right += weights[place + 2]
    extracted.scores[0], extracted.scores[1], extracted.scores[2] = none, left, right


@jit_inline
def score_labels_linearly(extracted, model, action, allowed, m):
    atoms, values, rows = model.features.labels, extracted.values, extracted.rows
    direction = extracted.numbers[action]
    for f in range(len(atoms)):
        x = values[atoms[f, 0]] + values[atoms[f, 1]] + values[atoms[f, 2]] + values[atoms[f, 3]] + direction
        rows[f] = x >> model.label_shift
    label_scores(model.labels, rows, len(rows), allowed, m, extracted.labels)


@jit_noinline
def score_classes(extracted, model):
    """classes[c] of each class of the support vector machines, which are split by the tag of j."""
    set_symbols(extracted, extracted.svm.symbols)
    class_scores(model.svm, group_of(model.svm, extracted.tags[extracted.nodes[1]]), extracted.svm, extracted.classes)


@jit_inline
def set_symbols(extracted, symbols):
    """The atoms as symbols; the last atom is always the same."""
    for a in range(len(symbols)):
        symbols[a] = extracted.values[a] >> np.uint64(32)
