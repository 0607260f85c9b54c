"""Online training of graphs: MIRA, the loss being the arcs that are too many plus those that are missing (MP06)."""

import numpy as np

from crossarc._jit import jit, jit_helper
from crossarc.features._hashing import hash_slots, mix, sentence_attributes
from crossarc.learning._online import difference, hildreth, passive_aggressive
from crossarc.parsers.graph._graph import (
    extra_indices,
    extra_scores,
    pair_of,
    rows_of_extra,
)
from crossarc.parsers.graph._path import basic_tree, max_path_features
from crossarc.parsers.linear._tree_features import append
from crossarc.scorers.linear._features import arc_indices, most_features, sibling_indices
from crossarc.scorers.linear._labels import best_labels_of_tree, label_scores
from crossarc.scorers.linear._source import score_parts
from crossarc.search._find_tree import find_tree
from crossarc.search._graphs import graph_parts, grow_graph
from crossarc.trees._hill_climbing import graph_of


@jit
def see_pairs(batch, extra, seen):
    """Note the tags at the ends of all extra arcs."""
    for b in range(len(batch.starts) - 1):
        words = sentence_attributes(batch, b).words
        for i in range(extra.starts[b], extra.starts[b + 1]):
            seen[pair_of(words, extra.heads[i], extra.modifiers[i])] = True


@jit
def learn_graphs(batch, chosen, models, learners, gold, extra, search, augmented, seed):
    """Change the weights where the gold graph does not beat another by its loss, and those of the labels of extra arcs.

    The tree is searched for as in parsing; the graph, if ``augmented``, with its loss added to its score. Returns the
    loss of the graphs.
    """
    loss = 0.0
    no_limit = np.ones((0, 0), np.bool_)
    every_label = np.ones((0, gold.n_labels), np.bool_)
    for b in chosen:
        attributes = sentence_attributes(batch, b)
        gold_heads = gold.heads[batch.starts[b] : batch.starts[b + 1]]
        gold_graph = graph_of(gold_heads)
        for i in range(extra.starts[b], extra.starts[b + 1]):
            gold_graph[extra.heads[i], extra.modifiers[i]] = True
        scores = score_parts(attributes, models.tree, gold_heads.copy(), no_limit, search.shape)
        heads = np.empty_like(gold_heads)
        find_tree(search, scores, mix(seed + np.uint64(b)), heads)
        labels = np.empty_like(heads)
        best_labels_of_tree(attributes.words, models.tree.labels, heads, every_label, labels)
        basic = basic_tree(attributes.words, models.path, heads, labels)
        learn_extra_labels(attributes, models, learners.labels, basic, extra, b)
        parts = graph_parts(scores, extra_scores(scores, attributes, models, basic, no_limit, gold_graph))
        if augmented:
            add_losses(parts, gold_heads, gold_graph, models.shared)
        graph = graph_of(heads)
        grow_graph(search, parts, heads, graph)
        other, right = (heads, graph), (gold_heads, gold_graph)
        loss += graph_mira_update(scores.source, attributes, models, learners.graphs, basic, right, other)
        learners.graphs.step[0] += 1
        learners.labels.step[0] += 1
    return loss


@jit_helper
def add_losses(parts, heads, graph, shared):
    """An arc that is too many costs 1, one that is missing too: it saves 1 to have it."""
    for h in range(len(graph)):
        for m in range(1, len(graph)):
            parts.arcs[h, m] += -1.0 if heads[m] == h or (shared and graph[h, m]) else 1.0
            parts.extras[h, m] += -1.0 if graph[h, m] and (shared or heads[m] != h) else 1.0


@jit_helper
def graph_mira_update(source, attributes, models, learner, basic, right, other):
    """The smallest change of the weights that makes the right graph beat the other by its loss, which is returned."""
    of_right = np.empty(most_graph_features(source.encoded, models, right[1]), np.int64)
    of_other = np.empty(most_graph_features(source.encoded, models, other[1]), np.int64)
    n_right = graph_indices(source, attributes.words, models, basic, right, other, of_right)
    n_other = graph_indices(source, attributes.words, models, basic, other, right, of_other)
    indices, values = np.empty(n_right + n_other, np.int64), np.empty(n_right + n_other, np.float32)
    count = difference(of_right, n_right, of_other, n_other, learner.scratch, indices, values)
    missing, too_many = count_missing(right, other, models.shared), count_missing(other, right, models.shared)
    losses = np.array([np.float64(missing + too_many)])
    if losses[0] > 0.0:
        bounds = np.array([0, count])
        hildreth(learner.weights, learner.totals, learner.step[0], indices, values, bounds, losses, learner.max_step, 1)
    return losses[0]


@jit_helper
def count_missing(graph, other, shared):
    """How many arcs of a graph another does not have, or not in the same role, which does not matter if ``shared``."""
    (heads, arcs), (other_heads, other_arcs) = graph, other
    missing = 0
    for h in range(len(arcs)):
        for m in range(1, len(arcs)):
            same = other_arcs[h, m] and (shared or (heads[m] == h) == (other_heads[m] == h))
            missing += arcs[h, m] and not same
    return missing


@jit_helper
def most_graph_features(encoded, models, graph):
    """An upper bound of the number of features of a graph."""
    return 2 * graph.sum() * (most_features(encoded) + max_path_features(models.path))


@jit_helper
def graph_indices(source, words, models, basic, graph, other, out):
    """The features of a graph's parts that another graph does not have; their number.

    The weights of extra arcs come after those of the tree, in one table, or are the same.
    """
    (heads, arcs), (other_heads, other_arcs) = graph, other
    encoded, shift = source.encoded, source.shift
    buffer = np.empty(most_features(encoded) + max_path_features(models.path), np.int64)
    hashes = np.empty(max_path_features(models.path), np.uint64)
    size, count = len(heads), 0
    for h in range(size):
        for end, step in ((size, 1), (0, -1)):
            s = other_s = h
            for m in range(h + step, end, step):
                if arcs[h, m]:
                    if not other_arcs[h, m] or (not models.shared and (heads[m] == h) != (other_heads[m] == h)):
                        if heads[m] == h or models.shared:
                            n_new = arc_indices(encoded, h, m, shift, buffer)
                        else:
                            n_new = extra_indices(encoded, words, models, basic, h, m, hashes, buffer)
                            buffer[:n_new] += len(models.tree.heads.weights)
                        count = append(n_new, buffer, out, count)
                    if not other_arcs[h, m] or s != other_s:
                        count = append(sibling_indices(encoded, h, s, m, shift, buffer), buffer, out, count)
                    s = m
                if other_arcs[h, m]:
                    other_s = m
    return count


@jit_helper
def learn_extra_labels(attributes, models, learner, basic, extra, b):
    """A step of passive-aggressive learning for the label of each extra arc of a gold graph."""
    if extra.starts[b] == extra.starts[b + 1]:
        return
    slots = hash_slots(attributes.words, models.labels.templates.label)
    rows = np.empty(slots.shape[2] + max_path_features(models.path), np.int64)
    hashes = np.empty(max_path_features(models.path), np.uint64)
    every = np.ones((0, models.n_labels), np.bool_)
    scores = np.empty(models.n_labels, np.float32)
    for i in range(extra.starts[b], extra.starts[b + 1]):
        h, m, gold = extra.heads[i], extra.modifiers[i], extra.labels[i]
        n_rows = rows_of_extra(slots, attributes.words, models, basic, h, m, hashes, rows)
        label_scores(models.labels.weights, rows, n_rows, every, m, scores)
        right = scores[gold]
        scores[gold] = -np.inf
        rival = np.argmax(scores)
        passive_aggressive(learner, rows, n_rows, gold, rival, right, scores[rival])
