"""Labels in a second stage, for the arcs of a finished tree (McDonald, Lerman and Pereira 2006).

A feature has a row of weights, one for each label, that starts at its place in the table; rows of different features
may overlap, as hashed features may collide.
"""

import numpy as np

from crossarc._kernel import kernel
from crossarc.scoring._indices import direction_of, hash_slots


@kernel
def row_indices(slots, heads, m, shift, out):
    """Where the rows of the features of the arc into m start; their number.

    The slots are those of [label]: h, m, g, l, r, a, z.
    """
    n_nodes, n_templates = slots.shape[1], slots.shape[2]
    h = heads[m]
    none = n_nodes - 1
    words = np.full(7, none)
    words[0], words[1] = h, m
    if h > 0:
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


@kernel
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


@kernel
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


@kernel
def label_scores(weights, rows, n_rows, scores):
    """scores[l] of each label: the sum of the rows."""
    scores[:] = 0.0
    for i in range(n_rows):
        first = rows[i]
        for label in range(len(scores)):
            scores[label] += weights[first + label]


@kernel
def best_labels_of_tree(words, model, heads, n_labels, labels):
    """The best label of each arc."""
    slots = hash_slots(words, model.templates.label)
    rows = np.empty(slots.shape[2], np.int64)
    scores = np.empty(n_labels, np.float32)
    labels[0] = -1
    for m in range(1, len(heads)):
        label_scores(model.weights, rows, row_indices(slots, heads, m, model.shift, rows), scores)
        labels[m] = np.argmax(scores)


@kernel
def learn_labels(words, model, learner, heads, gold, n_labels):
    """One step of passive-aggressive learning for each arc of a gold tree; how many labels were wrong."""
    weights, totals, step = model.weights, learner.totals, learner.step[0]
    slots = hash_slots(words, model.templates.label)
    rows = np.empty(slots.shape[2], np.int64)
    scores = np.empty(n_labels, np.float32)
    wrong = 0
    for m in range(1, len(heads)):
        n_rows = row_indices(slots, heads, m, model.shift, rows)
        label_scores(weights, rows, n_rows, scores)
        right = scores[gold[m]]
        wrong += np.argmax(scores) != gold[m]
        scores[gold[m]] = -np.inf
        rival = np.argmax(scores)
        violation = 1.0 - right + scores[rival]
        if n_labels > 1 and violation > 0.0:
            change = min(learner.most, violation / (2.0 * n_rows))
            for i in range(n_rows):
                for label, signed in ((gold[m], change), (rival, -change)):
                    weights[rows[i] + label] += signed
                    totals[rows[i] + label] += step * signed
    return wrong
