"""Graphs of words with several heads: their scores, the search for the best one, their labels (MP06, §3).

A graph is a tree and extra arcs. Arcs of the tree are scored as in the second-order parser; extra arcs have weights of
their own, by the features of an arc and, beyond the paper, by where its words stand in the basic tree: the best
second-order tree, from which the search starts. Siblings are adjacent children in the graph, by whatever arc.
"""

from collections import namedtuple

import numpy as np

from crossarc._jit import jit, jit_helper, jit_inline, jit_noinline
from crossarc.features._hashing import hash_slots, mix, sentence_attributes, sum_of
from crossarc.features.attributes import PADDING, UPOS
from crossarc.parsers.graph._path import basic_tree, max_path_features, path_features
from crossarc.parsers.linear._parse import label, seed_of, space_of
from crossarc.scorers.linear._features import (
    arc_indices,
    most_features,
    sibling_indices,
)
from crossarc.scorers.linear._labels import label_scores, rows_of_arc
from crossarc.scorers.linear._part_scores import arc_matrix
from crossarc.search._search import LONG, second_order, sibling_array
from crossarc.trees._graph_search import add_descendants, find_descendants, set_arcs
from crossarc.trees._hill_climbing import find_gains as find_worth
from crossarc.trees._hill_climbing import graph_of, graph_score

# What graphs of one sentence are made of: arcs[h, m] in the tree, extras[h, m] beside it, siblings[h, s, m] (without
# elements if the sentence is too long for them); -inf for arcs that are not looked at
Parts = namedtuple("Parts", "arcs extras siblings")

SEEN_BITS = 16  # of the table of pairs of tags
LOWEST = -2.5  # score of an extra arc that is looked at


@jit
def parse_graphs(batch, models, allowed, rules, heads, labels, first, extra_labels, scores):
    """Trees, and the labels of extra arcs, -1 where there is none: a matrix for each sentence, at first[b].

    scores[b] is -inf for a sentence without a tree.
    """
    for b in range(len(scores)):
        tree, names = heads[batch.starts[b] : batch.starts[b + 1]], labels[batch.starts[b] : batch.starts[b + 1]]
        attributes = sentence_attributes(batch, b)
        space = space_of(attributes, models.tree, allowed, rules)
        scores[b] = second_order(space, rules, seed_of(attributes), tree)
        if scores[b] == -np.inf:
            continue
        label(space, attributes, models.tree, allowed, rules, tree, names)
        basic = basic_tree(attributes.words, models.path, tree, names)
        graph = graph_of(tree)
        nothing = np.zeros_like(graph)
        parts = parts_of(space, attributes, models, basic, allowed.arcs, nothing)
        scores[b] = grow_graph(parts, tree, graph, rules)
        label(space, attributes, models.tree, allowed, rules, tree, names)
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
    n_path = path_features(basic, models.path, h, m, hashes)
    for i in range(n_path):
        out[count + i] = hashes[i] >> models.extras.shift
    return count + n_path


@jit_helper
def parts_of(space, attributes, models, basic, allowed, kept):
    """The parts of graphs of a sentence, without extra arcs that are far from worth it, unless they are ``kept``."""
    arcs = arc_matrix(space)
    extras = np.full(arcs.shape, -np.inf)
    words = attributes.words
    buffer = np.empty(most_features(space.encoded) + max_path_features(models.path), np.int64)
    hashes = np.empty(max_path_features(models.path), np.uint64)
    for h in range(len(arcs)):
        for m in range(1, len(arcs)):
            if h != m and (models.seen[pair_of(words, h, m)] or kept[h, m]) and (allowed.size == 0 or allowed[h, m]):
                count = extra_indices(space.encoded, words, models, basic, h, m, hashes, buffer)
                score = sum_of(models.extras.weights, buffer, count)
                if score > LOWEST or kept[h, m]:
                    extras[h, m] = score
    siblings = np.empty((0, 0, 0)) if len(arcs) > LONG + 1 else graph_siblings(space, arcs, extras)
    return Parts(arcs, extras, siblings)


@jit_helper
def graph_siblings(space, arcs, extras):
    """scores[h, s, m] of two arcs side by side, each in the tree or extra."""
    scores = sibling_array(space)
    for h in range(len(arcs)):
        for m in range(1, len(arcs)):
            in_tree = arcs[h, m] > -np.inf
            if not in_tree and extras[h, m] > -np.inf:
                scores[h, h, m] = sibling_part(space, h, h, m)
            if in_tree or extras[h, m] > -np.inf:
                for s in range(min(h, m) + 1, max(h, m)):
                    both_in_tree = in_tree and arcs[h, s] > -np.inf
                    if not both_in_tree and max(arcs[h, s], extras[h, s]) > -np.inf:
                        scores[h, s, m] = sibling_part(space, h, s, m)
    return scores


@jit_noinline
def sibling_part(space, h, s, m):
    count = sibling_indices(space.encoded, h, s, m, space.shift, space.buffer)
    return sum_of(space.weights, space.buffer, count)


@jit_helper
def score_of_graph(parts, heads, graph):
    """The sum of all parts of a graph whose tree has these heads."""
    total = graph_score(np.zeros_like(parts.arcs), parts.siblings, graph)
    for h in range(len(graph)):
        for m in range(1, len(graph)):
            if graph[h, m]:
                total += parts.arcs[h, m] if heads[m] == h else parts.extras[h, m]
    return total


@jit_helper
def grow_graph(parts, heads, graph, rules):
    """Change a head or add one, the best step first, while the score grows; returns the score.

    As ``crossarc.trees._graph_search.grow``, which knows no tree among the arcs. The tree stays one: no step makes a
    cycle, and each word keeps one head in it.
    """
    size = len(heads)
    no_arcs = np.zeros_like(parts.arcs)
    beside = np.empty_like(parts.arcs)  # what an arc is worth by its siblings
    for h in range(size):
        find_worth(no_arcs, parts.siblings, graph, beside, h)
    descends = np.empty_like(graph)
    find_descendants(graph, descends)
    score = score_of_graph(parts, heads, graph)
    for _ in range(size * size):
        old, head, m = best_step(parts, beside, heads, graph, descends, rules)
        if m == 0:
            break
        in_tree = old == heads[m]
        set_arcs(graph, old, head, m, True)
        if in_tree:
            heads[m] = head
        # Adding up anew, instead of the change, keeps rounding from sending the search in circles
        new_score = score_of_graph(parts, heads, graph)
        if not new_score > score:
            set_arcs(graph, old, head, m, False)
            if in_tree:
                heads[m] = old
            break
        score = new_score
        find_worth(no_arcs, parts.siblings, graph, beside, head)
        if old >= 0:
            find_worth(no_arcs, parts.siblings, graph, beside, old)
            find_descendants(graph, descends)
        else:
            add_descendants(descends, head, m)
    return score


@jit_helper
def best_step(parts, beside, heads, graph, descends, rules):
    """The head that goes (-1 for an addition), the head that comes, and the word; (-1, 0, 0) for no step.

    The extra head that may go is the one that lowers the score most. With a single root, its child cannot change; if
    arcs of the tree must not cross, none of them does.
    """
    size = len(heads)
    losers, loss = np.full(size, -1), np.zeros(size)
    for h in range(size):
        for m in range(1, size):
            if graph[h, m] and heads[m] != h and beside[h, m] + parts.extras[h, m] < loss[m]:
                losers[m], loss[m] = h, beside[h, m] + parts.extras[h, m]
    best = 0.0
    old, best_head, best_m = -1, 0, 0
    for h in range(size):
        for m in range(1, size):
            if h == m or graph[h, m] or descends[m, h]:
                continue
            gain = beside[h, m] + parts.extras[h, m] - loss[m]
            if gain > best:
                best = gain
                old, best_head, best_m = losers[m], h, m
            if rules.projective or (rules.single_root and (h == 0 or heads[m] == 0)):
                continue
            gain = beside[h, m] + parts.arcs[h, m] - beside[heads[m], m] - parts.arcs[heads[m], m]
            if gain > best:
                best = gain
                old, best_head, best_m = heads[m], h, m
    return old, best_head, best_m


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
    n_path = path_features(basic, models.path, h, m, hashes)
    for i in range(n_path):
        out[count + i] = hashes[i] >> models.labels.shift
    return count + n_path
