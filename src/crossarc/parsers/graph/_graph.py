"""Graphs of words with several heads: the scores of extra arcs, the parsing of a batch, labels (MP06, §3).

Arcs of the tree are scored as in the second-order parser; extra arcs have weights of their own, by the features of an
arc and, beyond the paper, by where its words stand in the basic tree: the best second-order tree, from which the search
starts.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc._jit import jit, jit_helper, jit_inline, jit_noinline
from crossarc.features._hashing import hash_slots, mix, sentence_of, sum_of
from crossarc.features.attributes import ATTRIBUTES, PADDING, UPOS
from crossarc.parsers.linear._parse import parts_of_sentence, seed_of
from crossarc.scorers.linear._features import arc_indices, direction_of, most_features
from crossarc.scorers.linear._labels import best_labels_of_tree, label_scores, rows_of_arc
from crossarc.search._find_tree import find_tree
from crossarc.search._graphs import graph_parts, grow_graph
from crossarc.trees._hill_climbing import graph_of


class BasicTree(NamedTuple):
    """The tree that features of extra arcs look at."""

    heads: NDArray[np.int64]
    labels: NDArray[np.int64]
    depths: NDArray[np.int64]
    first_child: NDArray[np.int64]  # [h]: the leftmost child, 0 if there is none
    next_child: NDArray[np.int64]  # [m]: the next child of the same head to the right, 0 if there is none


LOWER, LEMMA, FEATS = ATTRIBUTES.index("lower"), ATTRIBUTES.index("lemma"), ATTRIBUTES.index("feats")
SEEN_BITS = 16  # of the table of pairs of tags
LOWEST = -2.5  # score of an extra arc that is looked at
MOST_CHILDREN = 8  # whose labels are looked at
MOST_PATH_FEATURES = 14 + MOST_CHILDREN
MOST_STEPS = 4  # up or down that are told apart


@jit
def parse_graphs(batch, models, allowed, search, heads, labels, first, extra_labels, scores):
    """Trees, and the labels of extra arcs, -1 where there is none: a matrix for each sentence, at first[b].

    scores[b] is -inf for a sentence without a tree.
    """
    for b in range(len(scores)):
        tree, names = heads[batch.starts[b] : batch.starts[b + 1]], labels[batch.starts[b] : batch.starts[b + 1]]
        attributes = sentence_of(batch, b)
        parts = parts_of_sentence(attributes, models.tree, allowed, search.shape)
        scores[b] = find_tree(search, parts, seed_of(attributes), tree)
        if scores[b] == -np.inf:
            continue
        best_labels_of_tree(attributes.words, models.tree.labels, tree, allowed.labels, names)
        basic = basic_tree(tree, names)
        graph = graph_of(tree)
        extras = extra_scores(parts, attributes, models, basic, allowed.arcs, np.zeros_like(graph))
        scores[b] = grow_graph(search, graph_parts(parts, extras), tree, graph)
        best_labels_of_tree(attributes.words, models.tree.labels, tree, allowed.labels, names)
        size = len(tree)
        found = extra_labels[first[b] : first[b] + size * size].reshape(size, size)
        label_extras(attributes, models, basic, tree, graph, found)


@jit_helper
def basic_tree(heads, labels):
    """The tree that features of extra arcs look at; a copy, since the search may change heads."""
    size = len(heads)
    depths = np.full(size, -1)
    depths[0] = 0
    first_child, next_child = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for m in range(size - 1, 0, -1):
        next_child[m] = first_child[heads[m]]
        first_child[heads[m]] = m
        steps, a = 0, m
        while depths[a] < 0:
            steps += 1
            a = heads[a]
        depths[m] = depths[a] + steps
    return BasicTree(heads.copy(), labels.copy(), depths, first_child, next_child)


@jit_noinline
def path_features(words, basic, h, m, out):
    """Hashes of the way from m to h in the basic tree, and of what stands along it; their number."""
    ups, downs = 0, 0
    up, down = np.uint64(1), np.uint64(2)
    a, b = m, h
    while a != b:
        if basic.depths[a] >= basic.depths[b]:
            up = mix(up ^ mix(np.uint64(basic.labels[a] + 2)))
            a = basic.heads[a]
            ups += 1
        else:
            down = mix(down ^ mix(np.uint64(basic.labels[b] + 2)))
            b = basic.heads[b]
            downs += 1
    direction = direction_of(h, m)
    path = mix(up + mix(down)) + direction
    shape = mix(np.uint64(16 * min(ups, MOST_STEPS) + min(downs, MOST_STEPS) + 1)) + direction
    of_h, of_m, of_head = words[h + PADDING], words[m + PADDING], words[basic.heads[m] + PADDING]
    leftmost = words[basic.first_child[m] + PADDING, LOWER]
    tags = mix(of_h[UPOS] ^ mix(of_m[UPOS]))
    own_label, rival = np.uint64(basic.labels[m] + 2), np.uint64(1)
    count = 14
    child = basic.first_child[h]
    while child > 0:
        if child != m and basic.labels[child] == basic.labels[m]:
            rival = np.uint64(2)
        if count < MOST_PATH_FEATURES:
            out[count] = mix(path ^ mix(np.uint64(1000 + basic.labels[child])))
            count += 1
        child = basic.next_child[child]
    out[0] = path
    out[1] = path ^ tags
    out[2] = path ^ mix(of_h[LEMMA] + np.uint64(3))
    out[3] = path ^ mix(of_m[LEMMA] + np.uint64(4))
    out[4] = path ^ mix(of_head[LEMMA] + np.uint64(5))
    out[5] = path ^ mix(rival)
    out[6] = path ^ mix(tags + rival)
    out[7] = path ^ mix(leftmost + np.uint64(6))
    out[8] = path ^ mix(words[basic.first_child[h] + PADDING, LOWER] + np.uint64(7))
    out[9] = path ^ mix(of_m[FEATS] + np.uint64(8))
    out[10] = path ^ mix(of_h[FEATS] + np.uint64(9))
    out[11] = shape ^ mix(own_label ^ mix(np.uint64(basic.labels[h] + 2)))
    out[12] = shape ^ tags
    out[13] = mix(own_label ^ mix(leftmost))
    for i in range(count):
        out[i] = mix(out[i] + np.uint64(i if i < 14 else 14))
    return count


@jit_inline
def pair_of(words, h, m):
    """The place of the tags of head and modifier in the table of pairs that have been seen on extra arcs."""
    pair = mix(words[h + PADDING, UPOS] ^ mix(words[m + PADDING, UPOS]))
    return np.int64(pair >> np.uint64(64 - SEEN_BITS))


@jit_inline
def extra_indices(encoded, words, models, basic, h, m, hashes, out):
    """Where the weights of the features of an extra arc are; their number."""
    count = arc_indices(encoded, h, m, models.extras.shift, out)
    if models.basic_tree:
        n_path = path_features(words, basic, h, m, hashes)
        for i in range(n_path):
            out[count + i] = hashes[i] >> models.extras.shift
        count += n_path
    return count


@jit_helper
def extra_scores(parts, attributes, models, basic, allowed, kept):
    """scores[h, m] of extra arcs; -inf for those that are far from worth it, unless they are ``kept``."""
    size, words, encoded = len(parts.counts), attributes.words, parts.source.encoded
    scores = np.full((size, size), -np.inf)
    buffer = np.empty(most_features(encoded) + MOST_PATH_FEATURES, np.int64)
    hashes = np.empty(MOST_PATH_FEATURES, np.uint64)
    for h in range(size):
        for m in range(1, size):
            if h != m and (models.seen[pair_of(words, h, m)] or kept[h, m]) and (allowed.size == 0 or allowed[h, m]):
                count = extra_indices(encoded, words, models, basic, h, m, hashes, buffer)
                score = sum_of(models.extras.weights, buffer, count)
                if score > LOWEST or kept[h, m]:
                    scores[h, m] = score
    return scores


@jit_helper
def label_extras(attributes, models, basic, heads, graph, labels):
    """labels[h, m] of each extra arc; the others are left as they are."""
    slots = hash_slots(attributes.words, models.labels.templates.label)
    rows = np.empty(slots.shape[2] + MOST_PATH_FEATURES, np.int64)
    hashes = np.empty(MOST_PATH_FEATURES, np.uint64)
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
    if models.basic_tree:
        n_path = path_features(words, basic, h, m, hashes)
        for i in range(n_path):
            out[count + i] = hashes[i] >> models.labels.shift
        count += n_path
    return count
