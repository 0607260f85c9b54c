"""Graphs of words with several heads: the scores of extra arcs, the parsing of a batch, labels (MP06, §3).

Arcs of the tree are scored as in the second-order parser; extra arcs have weights of their own, by the features of an
arc and, beyond the paper, by where its words stand in the basic tree: the best second-order tree, from which the search
starts.
"""

import numpy as np

from crossarc._jit import jit, jit_helper, jit_inline
from crossarc.features._hashing import hash_slots, mix, sentence_attributes, sum_of
from crossarc.features.attributes import PADDING, UPOS
from crossarc.parsers.graph._path import basic_tree, max_path_features, path_features
from crossarc.parsers.linear._parse import parts_of_sentence, seed_of
from crossarc.scorers.linear._features import arc_indices, most_features
from crossarc.scorers.linear._labels import best_labels_of_tree, label_scores, rows_of_arc
from crossarc.search._find_tree import find_tree
from crossarc.search._graphs import graph_parts, grow_graph
from crossarc.trees._hill_climbing import graph_of

SEEN_BITS = 16  # of the table of pairs of tags
LOWEST = -2.5  # score of an extra arc that is looked at, if these have weights of their own


@jit
def parse_graphs(batch, models, allowed, search, heads, labels, first, extra_labels, scores):
    """Trees, and the labels of extra arcs, -1 where there is none: a matrix for each sentence, at first[b].

    scores[b] is -inf for a sentence without a tree.
    """
    for b in range(len(scores)):
        tree, names = heads[batch.starts[b] : batch.starts[b + 1]], labels[batch.starts[b] : batch.starts[b + 1]]
        attributes = sentence_attributes(batch, b)
        parts = parts_of_sentence(attributes, models.tree, allowed, search.shape)
        scores[b] = find_tree(search, parts, seed_of(attributes), tree)
        if scores[b] == -np.inf:
            continue
        best_labels_of_tree(attributes.words, models.tree.labels, tree, allowed.labels, names)
        basic = basic_tree(attributes.words, models.path, tree, names)
        graph = graph_of(tree)
        extras = extra_scores(parts, attributes, models, basic, allowed.arcs, np.zeros_like(graph))
        scores[b] = grow_graph(search, graph_parts(parts, extras), tree, graph)
        best_labels_of_tree(attributes.words, models.tree.labels, tree, allowed.labels, names)
        size = len(tree)
        found = extra_labels[first[b] : first[b] + size * size].reshape(size, size)
        label_extras(attributes, models, basic, tree, graph, found)


@jit_inline
def pair_of(words, h, m):
    """The place of the tags of head and modifier in the table of pairs that have been seen on extra arcs."""
    pair = mix(words[h + PADDING, UPOS] ^ mix(words[m + PADDING, UPOS]))
    return np.int64(pair >> np.uint64(64 - SEEN_BITS))


@jit_inline
def extra_indices(encoded, words, models, basic, h, m, hashes, out):
    """Where the weights of the features of an extra arc are; their number."""
    count = arc_indices(encoded, h, m, models.extras.shift, out)
    return add_path(models, basic, h, m, models.extras.shift, hashes, out, count)


@jit_inline
def add_path(models, basic, h, m, shift, hashes, out, count):
    """Put where the weights of the features of a path are behind the first ``count``; the number of all."""
    n_path = path_features(basic, models.path, h, m, hashes)
    for i in range(n_path):
        out[count + i] = hashes[i] >> shift
    return count + n_path


@jit_helper
def extra_scores(parts, attributes, models, basic, allowed, kept):
    """scores[h, m] of extra arcs; -inf for those that are far from worth it, unless they are ``kept``."""
    size, words, encoded = len(parts.counts), attributes.words, parts.source.encoded
    scores = np.full((size, size), -np.inf)
    buffer = np.empty(most_features(encoded) + max_path_features(models.path), np.int64)
    hashes = np.empty(max_path_features(models.path), np.uint64)
    for h in range(size):
        for m in range(1, size):
            seen = models.shared or models.seen[pair_of(words, h, m)] or kept[h, m]
            if h != m and seen and (allowed.size == 0 or allowed[h, m]):
                count = extra_indices(encoded, words, models, basic, h, m, hashes, buffer)
                score = sum_of(models.extras.weights, buffer, count)
                if models.shared or score > LOWEST or kept[h, m]:
                    scores[h, m] = score
    return scores


@jit_helper
def label_extras(attributes, models, basic, heads, graph, labels):
    """labels[h, m] of each extra arc; the others are left as they are."""
    slots = hash_slots(attributes.words, models.labels.templates.label)
    rows = np.empty(slots.shape[2] + max_path_features(models.path), np.int64)
    hashes = np.empty(max_path_features(models.path), np.uint64)
    every = np.ones((0, models.n_labels), np.bool_)
    scores = np.empty(models.n_labels, np.float32)
    for h in range(len(graph)):
        for m in range(1, len(graph)):
            if graph[h, m] and heads[m] != h:
                n_rows = rows_of_extra(slots, attributes.words, models, basic, h, m, hashes, rows)
                label_scores(models.labels.weights, rows, n_rows, every, m, scores)
                labels[h, m] = np.argmax(scores)


@jit_inline
def rows_of_extra(slots, words, models, basic, h, m, hashes, out):
    """Where the rows of the features of an extra arc's label start; their number."""
    count = rows_of_arc(slots, h, m, models.labels.shift, out)
    return add_path(models, basic, h, m, models.labels.shift, hashes, out, count)
