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
from crossarc.features.attributes import FIRST_FEAT, PADDING, UPOS
from crossarc.learning._svm import Workspace, class_scores, group_of, new_workspace
from crossarc.parsers.covington._graph import LEFT_ARC, NO_ARC, RIGHT_ARC, SIZE
from crossarc.scorers.linear._features import distance_bin
from crossarc.scorers.linear._labels import label_scores


class LinkFeatures(NamedTuple):
    """The features of one link after the other, and the scores that they give."""

    ready: NDArray[np.uint64]  # [node, a]: the number of atom a at a node, the last node being none
    feats: NDArray[np.uint64]  # [node, :feat_counts[node]]: morphological features; after none comes a node with a 0
    feat_counts: NDArray[np.int64]
    numbers: NDArray[np.uint64]  # a random one for each label, distance ...
    nodes: NDArray[np.int64]  # the words in the slots of the current link
    values: NDArray[np.uint64]  # of each atom for the current link
    places: NDArray[np.int64]  # [: used[0]]: where the weights of its features are
    rows: NDArray[np.int64]  # [: used[1]]: the same for features of labels
    used: NDArray[np.int64]
    ends: NDArray[np.int64]  # [t]: where the places of each template with sets end
    scores: NDArray[np.float32]  # of the actions
    sums: NDArray[np.float32]  # [w, node, a]: what templates with i alone (w = 0) or j alone give to action a
    is_summed: NDArray[np.bool_]  # [w, node]: whether that is known yet
    labels: NDArray[np.float32]  # scores of the labels
    tags: NDArray[np.uint64]  # of each node, by which support vector machines are split
    classes: NDArray[np.float32]  # scores of the classes of support vector machines
    columns: NDArray[np.uint32]  # [node, c]: its feature of category c, as a symbol of support vector machines
    svm: Workspace


WIDTH = 4  # weights of a feature of links: three actions, and one for nothing, so that they never straddle two lines
MAX_ROOTS = 4  # that are told apart


@jit_helper
def new_link_features(attributes, model, n_labels):
    """What is ready for a sentence, and space for the rest."""
    words, features = attributes.words, model.features
    n_nodes = len(words) - 2 * PADDING
    n_atoms = len(features.offsets)
    ready = np.empty((n_nodes, n_atoms), np.uint64)
    for node in range(n_nodes):
        for a in range(n_atoms):
            ready[node, a] = mix(
                words[node + PADDING + features.offsets[a], features.attributes[a]] ^ features.seeds[a]
            )
    feats, feat_counts = feats_of(attributes, n_nodes)
    most = max(feats.shape[1], 1)
    numbers = np.empty(n_labels + 16, np.uint64)
    for n in range(len(numbers)):
        numbers[n] = mix(np.uint64(n + 1))
    return LinkFeatures(
        ready,
        feats,
        feat_counts,
        numbers,
        np.empty(9, np.int64),
        np.zeros(len(features.seeds), np.uint64),
        np.empty(len(features.links) + len(features.link_sets.sets) * most * most, np.int64),
        np.empty(len(features.labels) + len(features.label_sets.sets) * most * most, np.int64),
        np.zeros(2, np.int64),
        np.zeros(max(len(features.link_sets.sets), len(features.label_sets.sets)), np.int64),
        np.empty(3, np.float32),
        np.empty((2, n_nodes, 3), np.float32),
        np.zeros((2, n_nodes), np.bool_),
        np.empty(n_labels, np.float32),
        words[PADDING:, UPOS],
        np.empty(1 + 2 * n_labels, np.float32),
        columns_of(feats, feat_counts, model),
        new_workspace(model.svm),
    )


@jit_helper
def feats_of(attributes, n_nodes):
    """The morphological features of each node and their number; the last but one has none, the last a single 0."""
    n_words = len(attributes.counts)
    counts = np.zeros(n_nodes + 1, np.int64)
    counts[n_nodes] = 1
    for node in range(n_words):
        counts[node] = max(attributes.counts[node] - FIRST_FEAT, 0)
    feats = np.zeros((n_nodes + 1, np.max(counts)), np.uint64)
    for node in range(n_words):
        for f in range(counts[node]):
            feats[node, f] = attributes.features[node, FIRST_FEAT + f]
    return feats, counts


@jit_helper
def columns_of(feats, feat_counts, model):
    """[node, c]: the feature of category c that a node has, 0 for none, or for one that was not in training."""
    categories = np.max(model.categories) + 1 if len(model.categories) > 0 else 0
    columns = np.zeros((len(feats) - 1, categories), np.uint32)
    if categories > 0:
        for node in range(len(columns)):
            for f in range(feat_counts[node]):
                feat = feats[node, f]
                known = np.searchsorted(model.feats, feat)
                if known < len(model.feats) and model.feats[known] == feat:
                    columns[node, model.categories[known]] = symbol_of(feat)
    return columns


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
    nodes[8] = graph.context[0] if height > 0 else none
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
        score_actions_by_words(extracted, model)
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
    """From all features, which are left in ``places``."""
    features = model.features
    extracted.used[0] = place_features(extracted, model, 0, len(features.links), 0, len(features.link_sets.sets))
    scores = sum_weights(extracted, model, extracted.used[0])
    extracted.scores[0], extracted.scores[1], extracted.scores[2] = scores


@jit_inline
def score_actions_by_words(extracted, model):
    """Scores while weights do not change: what depends on i alone or on j alone is summed once for each word."""
    features, sums, i, j = model.features, extracted.sums, extracted.nodes[0], extracted.nodes[1]
    plain, with_sets = features.alone[0], features.alone[1]
    if not extracted.is_summed[0, i]:
        sum_of_word(extracted, model, 0, i, 0, plain[0], 0, with_sets[0])
    first, first_set = plain[0] + plain[1], with_sets[0] + with_sets[1]
    if not extracted.is_summed[1, j]:
        sum_of_word(extracted, model, 1, j, plain[0], first, with_sets[0], first_set)
    used = place_features(extracted, model, first, len(features.links), first_set, len(features.link_sets.sets))
    scores = sum_weights(extracted, model, used)
    for action in range(3):
        extracted.scores[action] = scores[action] + sums[0, i, action] + sums[1, j, action]


@jit_noinline
def sum_of_word(extracted, model, which, node, first, last, first_set, last_set):
    used = place_features(extracted, model, first, last, first_set, last_set)
    scores = sum_weights(extracted, model, used)
    for action in range(3):
        extracted.sums[which, node, action] = scores[action]
    extracted.is_summed[which, node] = True


@jit_inline
def place_features(extracted, model, first, last, first_set, last_set):
    """places[: count] of the features of these templates, without sets and with; their number."""
    atoms, values, places = model.features.links, extracted.values, extracted.places
    for f in range(first, last):
        x = values[atoms[f, 0]] + values[atoms[f, 1]] + values[atoms[f, 2]] + values[atoms[f, 3]]
        places[f - first] = (x >> model.link_shift) * np.uint64(WIDTH)
    sets, shift, start = model.features.link_sets, model.link_shift, np.uint64(0)
    return add_sets(extracted, model.features, sets, first_set, last_set, start, shift, WIDTH, last - first, places)


@jit_inline
def sum_weights(extracted, model, count):
    """What the features whose places are known give to each action."""
    places, weights = extracted.places, model.links
    none, left, right = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for f in range(count):
        place = places[f]
        none += weights[place]
        left += weights[place + 1]
        right += weights[place + 2]
    return none, left, right


@jit_inline
def score_labels_linearly(extracted, model, action, allowed, m):
    atoms, values, rows = model.features.labels, extracted.values, extracted.rows
    direction = extracted.numbers[action]
    for f in range(len(atoms)):
        x = values[atoms[f, 0]] + values[atoms[f, 1]] + values[atoms[f, 2]] + values[atoms[f, 3]] + direction
        rows[f] = x >> model.label_shift
    sets, shift = model.features.label_sets, model.label_shift
    count = add_sets(extracted, model.features, sets, 0, len(sets.sets), direction, shift, 1, len(atoms), rows)
    extracted.used[1] = count
    label_scores(model.labels, rows, count, allowed, m, extracted.labels)


@jit_inline
def add_sets(extracted, features, templates, from_template, to_template, start, shift, width, count, out):
    """The places of the features of some templates with sets, from out[count] on; where they end."""
    atoms, values, ends = templates.atoms, extracted.values, extracted.ends
    for t in range(from_template, to_template):
        x = start + values[atoms[t, 0]] + values[atoms[t, 1]] + values[atoms[t, 2]]
        first, second = templates.sets[t, 0], templates.sets[t, 1]
        one, other = set_node(extracted, features, first), set_node(extracted, features, second)
        for f in range(extracted.feat_counts[one]):
            y = x + extracted.feats[one, f] * features.set_seeds[first]
            for g in range(extracted.feat_counts[other]):
                z = y + extracted.feats[other, g] * features.set_seeds[second]
                out[count] = (z >> shift) * np.uint64(width)
                count += 1
        ends[t] = count
    return count


@jit_inline
def set_node(extracted, features, which):
    """The node whose features are the values of a set; the last set is that of the node with a single 0."""
    if which == len(features.set_slots):
        return len(extracted.feats) - 1
    return extracted.nodes[features.set_slots[which]]


@jit_noinline
def score_classes(extracted, model):
    """classes[c] of each class of the support vector machines, which are split by the tag of j."""
    set_symbols(extracted, model.features, extracted.svm.symbols)
    class_scores(model.svm, group_of(model.svm, extracted.tags[extracted.nodes[1]]), extracted.svm, extracted.classes)


@jit_inline
def set_symbols(extracted, features, symbols):
    """The atoms as symbols, but for the last, which is always the same; then each set, a symbol for each category."""
    count = len(extracted.values) - 1
    for a in range(count):
        symbols[a] = symbol_of(extracted.values[a])
    for s in range(len(features.set_slots)):
        own = extracted.columns[extracted.nodes[features.set_slots[s]]]
        for c in range(len(own)):
            symbols[count] = own[c]
            count += 1


@jit_inline
def symbol_of(value):
    """32 bits of a number; 0 stands for nothing."""
    return np.uint32(value >> np.uint64(32)) | np.uint32(1)
