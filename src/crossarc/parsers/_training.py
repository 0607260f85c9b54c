"""One step of training on one sentence: search with the current weights, then let the learner mend them."""

import numpy as np

from crossarc._kernel import kernel
from crossarc.learning._online import difference, hildreth
from crossarc.parsers._search import (
    arc_matrix,
    best_first_order,
    candidate_space,
    choose,
    score_arcs,
    search,
    tree_indices,
    tree_score,
)
from crossarc.scoring._indices import encode, most_features


@kernel
def learn_high_order(attributes, pruner, model, learner, gold, limits, kept, seed):
    """The number of wrong heads of the tree that violates the margin most, as far as the search finds it."""
    allowed = np.full((len(gold), len(gold)), True)
    space = candidate_space(attributes, pruner, model, gold, allowed, limits, kept)
    for m in range(1, len(gold)):
        for j in range(space.counts[m]):
            space.arcs[m, j] += space.candidates[m, j] != gold[m]
    heads = np.empty_like(gold)
    score = search(space, limits, arc_matrix(space), seed, heads)
    choice = np.zeros_like(gold)
    choose(space, gold, choice)
    if tree_score(space, gold, choice) >= score:
        return 0
    return mend(space.encoded, model, learner, gold, heads, True)


@kernel
def learn_first_order(attributes, model, learner, gold, limits):
    """The number of wrong heads of the tree that violates the margin most."""
    encoded = encode(attributes, model.templates)
    scores = np.zeros((len(gold), len(gold)))
    score_arcs(encoded, model.weights, model.shift, scores)
    for h in range(len(gold)):
        for m in range(1, len(gold)):
            scores[h, m] += h != gold[m]
    heads = np.empty_like(gold)
    best_first_order(scores, limits, heads)
    return mend(encoded, model, learner, gold, heads, False)


@kernel
def mend(encoded, model, learner, gold, heads, high_order):
    """The smallest change of the weights that makes the gold tree beat the other by the number of its wrong heads."""
    wrong = 0
    for m in range(1, len(gold)):
        wrong += heads[m] != gold[m]
    if wrong == 0:
        return 0
    buffer = np.empty(most_features(encoded), np.int64)
    most = len(gold) * len(buffer) * (3 if high_order else 1)
    of_gold, of_other = np.empty(most, np.int64), np.empty(most, np.int64)
    n_gold = tree_indices(encoded, gold, heads, high_order, model.shift, buffer, of_gold)
    n_other = tree_indices(encoded, heads, gold, high_order, model.shift, buffer, of_other)
    indices = np.empty(n_gold + n_other, np.int64)
    values = np.empty(n_gold + n_other, np.float32)
    count = difference(of_gold, n_gold, of_other, n_other, learner.scratch, indices, values)
    bounds, losses = np.array([0, count]), np.array([float(wrong)])
    hildreth(model.weights, learner.totals, learner.step[0], indices, values, bounds, losses, learner.most, 1)
    return wrong
