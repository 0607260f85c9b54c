"""The pruner: a small model that ranks the heads of each word by the features of the arc alone; only the best stay.

It is trained word by word, not by trees (a local ranker, MSX09 §4): its best tree does not matter, but that the right
head is among the first.
"""

import numpy as np

from crossarc._jit import jit, jit_helper, jit_inline, jit_macro
from crossarc.features._hashing import sentence_attributes, sum_of
from crossarc.learning._online import difference, hildreth_step
from crossarc.scorers.linear._features import (
    arc_indices,
    encode,
    most_features,
)

RANK = 5  # the right head is to beat all others but RANK - 1 by a margin of 1; chosen on dev


@jit_helper
def score_arcs(encoded, weights, shift, scores):
    """scores[h, m] of every arc, by the features of the arc alone."""
    n = len(scores) - 1
    buffer = np.empty(most_features(encoded), np.int64)
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h != m and scores[h, m] > -np.inf:
                scores[h, m] = sum_of(weights, buffer, arc_indices(encoded, h, m, shift, buffer))


@jit_macro
def first_order_scores(attributes, model, allowed):
    """scores[h, m] of every allowed arc (all, if that array is empty); -inf for the others."""
    size = len(attributes.counts)
    scores = np.zeros((size, size))
    if allowed.size > 0:
        for h in range(size):
            for m in range(size):
                scores[h, m] = 0.0 if allowed[h, m] else -np.inf
    score_arcs(encode(attributes, model.templates), model.weights, model.shift, scores)
    return scores


@jit_helper
def keep_candidates(scores, max_candidates, pruning_margin, always, candidates, counts):
    """The ``max_candidates`` best heads of each word, if nearly as good as the best; those of ``always`` too."""
    size = len(scores)
    chosen = np.empty(size, np.bool_)
    for m in range(1, size):
        chosen[:] = False
        chosen[m] = True
        best = best_unchosen(scores, m, chosen)
        lowest = scores[best, m] - pruning_margin if best >= 0 else -np.inf
        for _ in range(min(max_candidates, size - 1)):
            h = best_unchosen(scores, m, chosen)
            if h < 0 or scores[h, m] <= lowest:
                break
            chosen[h] = True
        if always[m] >= 0:
            chosen[always[m]] = True
        count = 0
        for h in range(size):
            if h != m and chosen[h]:
                candidates[m, count] = h
                count += 1
        counts[m] = count


@jit_inline
def best_unchosen(scores, m, chosen):
    """The best head of m that is not chosen yet, -1 if there is none."""
    best, highest = -1, -np.inf
    for h in range(len(scores)):
        if not chosen[h] and scores[h, m] > highest:
            best, highest = h, scores[h, m]
    return best


@jit
def count_candidates(batch, pruner, gold, max_candidates, pruning_margin):
    """How many candidates the pruner leaves in all, and how many of the gold heads are among them."""
    everything, right = 0, 0
    for b in range(len(batch.starts) - 1):
        scores = first_order_scores(sentence_attributes(batch, b), pruner, np.ones((0, 0), np.bool_))
        size = len(scores)
        candidates, counts = np.zeros((size, min(max_candidates, size) + 1), np.int64), np.zeros(size, np.int64)
        keep_candidates(scores, min(max_candidates, size), pruning_margin, np.full(size, -1), candidates, counts)
        everything += counts.sum()
        for m in range(1, size):
            for j in range(counts[m]):
                right += candidates[m, j] == gold[batch.starts[b] + m]
    return everything, right


@jit
def learn_ranking(batch, chosen, model, learner, heads):
    """Change the weights where ``RANK`` heads or more come close to the gold one, or are better.

    How many gold heads were not among the first.
    """
    missed = 0
    for b in chosen:
        encoded = encode(sentence_attributes(batch, b), model.templates)
        gold = heads[batch.starts[b] : batch.starts[b + 1]]
        scores = np.zeros((len(gold), len(gold)))
        score_arcs(encoded, learner.weights, model.shift, scores)
        for m in range(1, len(gold)):
            rival = rival_of(scores, gold[m], m) if gold[m] >= 0 else -1
            if rival >= 0 and scores[gold[m], m] < scores[rival, m] + 1.0:
                missed += scores[gold[m], m] < scores[rival, m]
                prefer(encoded, model, learner, gold[m], rival, m)
        learner.step[0] += 1
    return missed


@jit_helper
def rival_of(scores, gold, m):
    """The other head of m that comes ``RANK``-th, or last if there are fewer; -1 if there is none."""
    chosen = np.zeros(len(scores), np.bool_)
    chosen[m] = chosen[gold] = True
    rival = -1
    for _ in range(RANK):
        h = best_unchosen(scores, m, chosen)
        if h < 0:
            break
        chosen[h] = True
        rival = h
    return rival


@jit_helper
def prefer(encoded, model, learner, gold, rival, m):
    """The smallest change of the weights that lets the gold head of m beat its rival by 1."""
    most = most_features(encoded)
    of_gold, of_rival = np.empty(most, np.int64), np.empty(most, np.int64)
    indices, values = np.empty(2 * most, np.int64), np.empty(2 * most, np.float32)
    n_gold = arc_indices(encoded, gold, m, model.shift, of_gold)
    n_rival = arc_indices(encoded, rival, m, model.shift, of_rival)
    count = difference(of_gold, n_gold, of_rival, n_rival, learner.scratch, indices, values)
    hildreth_step(
        learner.weights, learner.totals, learner.step[0], indices[:count], values[:count], 1.0, 0.0, learner.max_step
    )
