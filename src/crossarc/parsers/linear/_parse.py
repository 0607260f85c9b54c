"""Trees and labels of a batch of sentences by a linear scorer; what their parts score."""

import numpy as np

from crossarc._jit import by_type, jit, jit_helper, jit_macro
from crossarc.features._hashing import hash_slots, sentence_attributes
from crossarc.scorers._part_scores import candidate_number, count_arcs
from crossarc.scorers.linear._labels import (
    best_labels_of_tree,
    label_scores,
    row_indices,
    rows_of_arc,
    score_labels_of_tree,
)
from crossarc.scorers.linear._pruner import first_order_scores
from crossarc.scorers.linear._source import add_labels, is_joint, score_parts
from crossarc.scorers.linear.scorer import JointLabels, LaterLabels
from crossarc.search._candidate_tree import (
    attach,
    attachment_gain,
    candidate_tree,
    detach,
    find_choices,
    tree_score,
)
from crossarc.search._find_tree import find_tree


@jit
def parse_batch(batch, models, allowed, search, heads, labels, scores):
    """The tree that the search finds for each sentence, with its labels; scores[b] is -inf where there is none."""
    for b in range(len(scores)):
        nodes = slice(batch.starts[b], batch.starts[b + 1])
        attributes = sentence_attributes(batch, b)
        parts = parts_of_sentence(attributes, models, allowed, search.shape)
        scores[b] = find_tree(search, parts, seed_of(attributes), heads[nodes])
        if scores[b] > -np.inf:
            label_tree(models.labelling, parts, attributes, models.labels, allowed, heads[nodes], labels[nodes])


@jit_helper
def seed_of(attributes):
    """A number that depends on the sentence alone: it is parsed the same in any company."""
    seed = np.uint64(0)
    for word in attributes.words:
        seed = seed * np.uint64(31) + word[0]
    return seed


@jit_macro
def parts_of_sentence(attributes, models, allowed, shape):
    """The scores of the parts of a sentence to be parsed."""
    nothing = np.full(len(attributes.counts), -1)
    parts = score_parts(attributes, models, nothing.copy(), allowed.arcs, shape)
    add_labels(models.labelling, parts, attributes.words, models.labels, allowed.labels, nothing, nothing, 0.0)
    return parts


@by_type
def label_tree(labelling, parts, attributes, model, allowed, heads, labels):
    """The labels of a tree."""


@label_tree.register(JointLabels)
def take_labels_of_arcs(labelling, parts, attributes, model, allowed, heads, labels):
    labels[0] = -1
    for m in range(1, len(heads)):
        labels[m] = parts.labels[m, candidate_number(parts, m, heads[m])]


@label_tree.register(LaterLabels)
def find_best_labels(labelling, parts, attributes, model, allowed, heads, labels):
    best_labels_of_tree(attributes.words, model, heads, allowed.labels, labels)


@jit
def scores_of_arcs(batch, model, allowed):
    """scores[h, m] of the only sentence of a batch."""
    return first_order_scores(sentence_attributes(batch, 0), model, allowed.arcs)


@jit_helper
def score_changes(parts, heads, scores):
    """scores[h, m] of the candidate arcs: what each adds to a tree whose other arcs stay."""
    tree = candidate_tree(parts, heads)
    for m in range(1, len(heads)):
        choice = tree.choice[m]
        detach(tree, m)
        for j in range(parts.counts[m]):
            scores[parts.candidates[m, j], m] = attachment_gain(parts, tree, m, j)
        attach(parts, tree, m, choice)


@jit
def potentials_of(batch, models, allowed, shape, heads, first, out):
    """scores[h, m] around a tree of each sentence, one matrix after the other: that of sentence b is at first[b]."""
    for b in range(len(first)):
        tree = heads[batch.starts[b] : batch.starts[b + 1]]
        size = len(tree)
        scores = out[first[b] : first[b] + size * size].reshape(size, size)
        score_changes(parts_of_sentence(sentence_attributes(batch, b), models, allowed, shape), tree, scores)


@jit
def score_trees(batch, models, allowed, shape, trees, labels, scores):
    """The scores of some trees of the only sentence of a batch, and their labels."""
    attributes = sentence_attributes(batch, 0)
    parts = parts_of_sentence(attributes, models, allowed, shape)
    choice = np.zeros_like(trees[0])
    for k in range(len(trees)):
        find_choices(parts, trees[k], choice)
        label_tree(models.labelling, parts, attributes, models.labels, allowed, trees[k], labels[k])
        scores[k] = tree_score(parts, trees[k], choice)


@jit
def scores_of_labels(batch, model, heads, out):
    """out[i, l] of each label of the arc into node i of many trees."""
    for b in range(len(batch.starts) - 1):
        first, last = batch.starts[b], batch.starts[b + 1]
        score_labels_of_tree(sentence_attributes(batch, b).words, model, heads[first:last], out[first:last])


@jit
def score_sentence(batch, models, allowed, shape):
    """The scores of the parts of the only sentence of a batch."""
    return parts_of_sentence(sentence_attributes(batch, 0), models, allowed, shape)


@jit
def labels_of_tree(batch, parts, models, allowed, heads, labels):
    """The labels of a tree of the only sentence of a batch."""
    label_tree(models.labelling, parts, sentence_attributes(batch, 0), models.labels, allowed, heads, labels)


@jit
def labels_of_arcs(batch, parts, models, allowed, heads):
    """scores[a, l]: how much worse than its best label the label l of each candidate arc is; -inf unless allowed.

    Labels of a second stage are looked at as if all other arcs were those of a tree.
    """
    slots = hash_slots(sentence_attributes(batch, 0).words, models.labels.templates.label)
    rows = np.empty(slots.shape[2], np.int64)
    one = np.empty(allowed.labels.shape[1], np.float32)
    scores, count = np.empty((count_arcs(parts), len(one))), 0
    for m in range(1, len(heads)):
        head = heads[m]
        for j in range(parts.counts[m]):
            heads[m] = parts.candidates[m, j]
            if is_joint(models.labelling):
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
