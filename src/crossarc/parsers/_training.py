"""One step of training on one sentence: search with the current weights, then let the learner mend them."""

import numpy as np

from crossarc._kernel import kernel
from crossarc.learning._online import difference, hildreth
from crossarc.parsers._search import (
    best_first_order,
    choose,
    keep_candidates,
    open_space,
    score_arcs,
    search,
    tree_indices,
    tree_score,
)
from crossarc.scoring._indices import encode, most_features


@kernel
def first_order_scores(attributes, templates, weights, shift, allowed):
    """scores[h, m] of every allowed arc; -inf for the others."""
    scores = np.where(allowed, 0.0, -np.inf)
    score_arcs(encode(attributes, templates), weights, shift, scores)
    return scores


@kernel
def candidate_space(attributes, pruner, model, always, allowed, limits, kept):
    """The search space that the pruner leaves to the model.

    The heads of the tree ``always`` are kept: the gold ones in training; else (-1) those of the pruner's best tree,
    so that there is a tree if the allowed arcs have one.
    """
    scores = first_order_scores(attributes, pruner.templates, pruner.weights, pruner.shift, allowed)
    size = len(scores)
    if size > 1 and always[1] < 0:
        best_first_order(scores, limits, always)
    candidates = np.zeros((size, min(kept, size) + 1), np.int64)
    counts = np.zeros(size, np.int64)
    keep_candidates(scores, kept, always, candidates, counts)
    encoded = encode(attributes, model.templates)
    return open_space(encoded, model.weights, model.shift, candidates, counts)


@kernel
def arc_matrix(space):
    """scores[h, m] of the arcs of the space; -inf for the others."""
    size = len(space.counts)
    scores = np.full((size, size), -np.inf)
    for m in range(1, size):
        for j in range(space.counts[m]):
            scores[space.candidates[m, j], m] = space.arcs[m, j]
    return scores


@kernel
def parse_high_order(attributes, pruner, model, allowed, limits, kept, seed, heads):
    """The best tree found; its score, or -inf if there is none."""
    heads[:] = -1
    space = candidate_space(attributes, pruner, model, heads.copy(), allowed, limits, kept)
    return search(space, limits, arc_matrix(space), seed, heads)


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
