"""Labels of arcs: in a second stage, for a finished tree (McDonald, Lerman and Pereira 2006), or for any arc.

A feature has a row of weights, one for each label, that starts at its place in the table; rows of different features
may overlap, as hashed features may collide.
"""

import numpy as np

from crossarc._jit import jit, jit_helper, jit_inline
from crossarc.features._hashing import hash_slots, sentence_attributes
from crossarc.learning._online import passive_aggressive
from crossarc.scorers.linear._features import (
    direction_of,
)


@jit_helper
def row_indices(slots, heads, m, shift, out):
    """Where the rows of the features of the arc into m start; their number.

    The slots are those of [label]: h, m, g, l, r, a, z.
    """
    n_nodes, n_templates = slots.shape[1], slots.shape[2]
    h = heads[m]
    none = n_nodes - 1
    words = np.full(7, none)
    words[0], words[1] = h, m
    if h > 0 and heads[h] >= 0:
        words[2] = heads[h]
    find_siblings(heads, m, words)
    find_outer_children(heads, m, words)
    direction = direction_of(h, m)
    for t in range(n_templates):
        x = direction
        for s in range(7):
            x += slots[s, words[s], t]
        out[t] = x >> shift
    return n_templates


@jit_inline
def rows_of_arc(slots, h, m, shift, out):
    """Where the rows of an arc start that is in no tree yet, by templates of h and m only; their number."""
    direction = direction_of(h, m)
    for t in range(slots.shape[2]):
        out[t] = (direction + slots[0, h, t] + slots[1, m, t]) >> shift
    return slots.shape[2]


@jit_inline
def find_siblings(heads, m, words):
    """words[3], words[4]: the nearest words with the same head to the left and to the right of m."""
    for x in range(m - 1, 0, -1):
        if heads[x] == heads[m]:
            words[3] = x
            break
    for x in range(m + 1, len(heads)):
        if heads[x] == heads[m]:
            words[4] = x
            break


@jit_inline
def find_outer_children(heads, m, words):
    """words[5], words[6]: the leftmost and the rightmost child of m."""
    for x in range(1, len(heads)):
        if heads[x] == m:
            words[5] = x
            break
    for x in range(len(heads) - 1, 0, -1):
        if heads[x] == m:
            words[6] = x
            break


@jit_inline
def label_scores(weights, rows, n_rows, allowed, m, scores):
    """scores[l] of each label of the arc into m: the sum of the rows; -inf unless allowed[m, l].

    All labels are allowed if that array is empty.
    """
    scores[:] = np.float32(0.0)
    for i in range(n_rows):
        row = weights[rows[i] : rows[i] + len(scores)]
        for label in range(len(scores)):
            scores[label] += row[label]
    if len(allowed) > 0:
        for label in range(len(scores)):
            if not allowed[m, label]:
                scores[label] = -np.inf


@jit_inline
def log_sum(scores):
    """The logarithm of the sum of the exponentials of scores, not all of them -inf."""
    top = scores[0]
    for label in range(1, len(scores)):
        top = max(top, scores[label])
    total = 0.0
    for label in range(len(scores)):
        if scores[label] > top - 40.0:
            total += np.exp(np.float64(scores[label] - top))
    return top + np.log(total)


@jit_inline
def probabilities_of_labels(scores):
    """Turn scores into probabilities; the logarithm of the sum of their exponentials."""
    total = log_sum(scores)
    for label in range(len(scores)):
        scores[label] = np.exp(np.float64(scores[label]) - total)
    return total


@jit_helper
def best_labels_of_tree(words, model, heads, allowed, labels):
    """The best allowed label of each arc."""
    slots = hash_slots(words, model.templates.label)
    rows = np.empty(slots.shape[2], np.int64)
    scores = np.empty(allowed.shape[1], np.float32)
    labels[0] = -1
    for m in range(1, len(heads)):
        label_scores(model.weights, rows, row_indices(slots, heads, m, model.shift, rows), allowed, m, scores)
        labels[m] = np.argmax(scores)


@jit_helper
def score_labels_of_tree(words, model, heads, out):
    """out[m, l] of each label of the arc into m."""
    slots = hash_slots(words, model.templates.label)
    rows = np.empty(slots.shape[2], np.int64)
    every = np.ones((0, out.shape[1]), np.bool_)
    for m in range(1, len(heads)):
        label_scores(model.weights, rows, row_indices(slots, heads, m, model.shift, rows), every, m, out[m])


@jit
def learn_labels(batch, chosen, model, learner, gold):
    """One step of passive-aggressive learning for each arc of the chosen gold trees; how many labels were wrong."""
    wrong = 0
    for b in chosen:
        nodes = slice(batch.starts[b], batch.starts[b + 1])
        slots = hash_slots(sentence_attributes(batch, b).words, model.templates.label)
        wrong += learn_labels_of_tree(slots, model, learner, gold.heads[nodes], gold.labels[nodes], gold.n_labels)
        learner.step[0] += 1
    return wrong


@jit_helper
def learn_labels_of_tree(slots, model, learner, heads, gold, n_labels):
    allowed = np.ones((0, n_labels), np.bool_)
    rows = np.empty(slots.shape[2], np.int64)
    scores = np.empty(n_labels, np.float32)
    wrong = 0
    for m in range(1, len(heads)):
        if heads[m] < 0 or gold[m] < 0:  # not annotated
            continue
        n_rows = row_indices(slots, heads, m, model.shift, rows)
        label_scores(model.weights, rows, n_rows, allowed, m, scores)
        right = scores[gold[m]]
        wrong += np.argmax(scores) != gold[m]
        scores[gold[m]] = -np.inf
        rival = np.argmax(scores)
        passive_aggressive(learner, rows, n_rows, gold[m], rival, right, scores[rival])
    return wrong
