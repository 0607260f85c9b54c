"""Heads and labels of a batch of sentences, by each order of search; other trees of one sentence."""

import numpy as np

from crossarc._jit import jit, jit_helper, jit_macro
from crossarc.features._hashing import hash_slots, sentence_attributes
from crossarc.scorers.linear._labels import best_labels_of_tree, score_labels_of_tree
from crossarc.scorers.linear._part_scores import (
    attach,
    candidate_number,
    candidate_space,
    choose,
    detach,
    score_labels,
    tree_of,
    tree_score,
    worth,
)
from crossarc.scorers.linear._pruner import first_order_scores
from crossarc.search._search import first_order, high_order, second_order

# A kernel for each kind of search, so that only those in use are compiled.


@jit
def parse_first_order(batch, models, allowed, rules, heads, labels, scores):
    """Trees of order 1; scores[b] is -inf for a sentence without one."""
    for b in range(len(scores)):
        nodes = slice(batch.starts[b], batch.starts[b + 1])
        attributes = sentence_attributes(batch, b)
        space = space_of(attributes, models, allowed, rules)
        scores[b] = first_order(space, rules, heads[nodes])
        if scores[b] > -np.inf:
            label(space, attributes, models, allowed, rules, heads[nodes], labels[nodes])


@jit
def parse_second_order(batch, models, allowed, rules, heads, labels, scores):
    """The same for order 2."""
    for b in range(len(scores)):
        nodes = slice(batch.starts[b], batch.starts[b + 1])
        attributes = sentence_attributes(batch, b)
        space = space_of(attributes, models, allowed, rules)
        scores[b] = second_order(space, rules, seed_of(attributes), heads[nodes])
        if scores[b] > -np.inf:
            label(space, attributes, models, allowed, rules, heads[nodes], labels[nodes])


@jit
def parse_high_order(batch, models, allowed, rules, heads, labels, scores):
    """The same for higher orders."""
    for b in range(len(scores)):
        nodes = slice(batch.starts[b], batch.starts[b + 1])
        attributes = sentence_attributes(batch, b)
        space = space_of(attributes, models, allowed, rules)
        scores[b] = high_order(space, rules, seed_of(attributes), heads[nodes])
        if scores[b] > -np.inf:
            label(space, attributes, models, allowed, rules, heads[nodes], labels[nodes])


@jit_helper
def seed_of(attributes):
    """A number that depends on the sentence alone: it is parsed the same in any company."""
    seed = np.uint64(0)
    for word in attributes.words:
        seed = seed * np.uint64(31) + word[0]
    return seed


@jit_macro
def space_of(attributes, models, allowed, rules):
    """The space of a sentence, for trees without gold ones."""
    nothing = np.full(len(attributes.counts), -1)
    space = candidate_space(attributes, models.pruner, models.heads, nothing.copy(), allowed.arcs, rules)
    if rules.joint:
        slots = hash_slots(attributes.words, models.labels.templates.label)
        score_labels(space, slots, models.labels, allowed.labels, nothing, nothing, 0.0, rules.summed)
    return space


@jit_macro
def label(space, attributes, models, allowed, rules, heads, labels):
    """The labels of a tree: those of its arcs, or from the second stage."""
    labels[0] = -1
    if rules.joint:
        for m in range(1, len(heads)):
            labels[m] = space.labels[m, candidate_number(space, m, heads[m])]
    else:
        best_labels_of_tree(attributes.words, models.labels, heads, allowed.labels, labels)


@jit
def scores_of_arcs(batch, model, allowed):
    """scores[h, m] of the only sentence of a batch."""
    return first_order_scores(sentence_attributes(batch, 0), model, allowed.arcs)


@jit_helper
def score_changes(space, heads, scores):
    """scores[h, m] of the arcs of the space: what each adds to a tree whose other arcs stay."""
    tree = tree_of(space, heads)
    for m in range(1, len(heads)):
        choice = tree.choice[m]
        detach(tree, m)
        for j in range(space.counts[m]):
            scores[space.candidates[m, j], m] = worth(space, tree, m, j)
        attach(space, tree, m, choice)


@jit
def potentials_of(batch, models, allowed, rules, heads, first, out):
    """scores[h, m] around a tree of each sentence, one matrix after the other: that of sentence b is at first[b]."""
    for b in range(len(first)):
        tree = heads[batch.starts[b] : batch.starts[b + 1]]
        size = len(tree)
        scores = out[first[b] : first[b] + size * size].reshape(size, size)
        score_changes(space_of(sentence_attributes(batch, b), models, allowed, rules), tree, scores)


@jit
def score_trees(batch, models, allowed, rules, trees, labels, scores):
    """The scores of some trees of the only sentence of a batch, and their labels."""
    attributes = sentence_attributes(batch, 0)
    space = space_of(attributes, models, allowed, rules)
    choice = np.zeros_like(trees[0])
    for k in range(len(trees)):
        choose(space, trees[k], choice)
        label(space, attributes, models, allowed, rules, trees[k], labels[k])
        scores[k] = tree_score(space, trees[k], choice)


@jit
def scores_of_labels(batch, model, heads, out):
    """out[i, l] of each label of the arc into node i of many trees."""
    for b in range(len(batch.starts) - 1):
        first, last = batch.starts[b], batch.starts[b + 1]
        score_labels_of_tree(sentence_attributes(batch, b).words, model, heads[first:last], out[first:last])
