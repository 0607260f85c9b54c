"""What kernels share about score arrays: the score of a tree, and labelled scores as scores of arcs."""

import numpy as np

from crossarc._jit import jit, jit_helper


@jit_helper
def score_of(scores, heads):
    """The sum of the scores of a tree's arcs."""
    total = 0.0
    for m in range(1, len(heads)):
        total += scores[heads[m], m]
    return total


@jit
def best_labels(scores, arcs, labels):
    """arcs[h, m] = max_l scores[h, m, l]; labels[h, m] = the lowest l that reaches it (MS07 §3)."""
    size, _, n_labels = scores.shape
    for h in range(size):
        for m in range(size):
            best = 0
            for label in range(1, n_labels):
                if scores[h, m, label] > scores[h, m, best]:
                    best = label
            arcs[h, m] = scores[h, m, best]
            labels[h, m] = best


@jit
def log_sum_labels(scores, arcs):
    """arcs[h, m] = log sum_l exp scores[h, m, l], with a shift; -inf where every label is forbidden."""
    size, _, n_labels = scores.shape
    for h in range(size):
        for m in range(size):
            top = -np.inf
            for label in range(n_labels):
                top = max(top, scores[h, m, label])
            if top == -np.inf:
                arcs[h, m] = -np.inf
                continue
            total = 0.0
            for label in range(n_labels):
                total += np.exp(scores[h, m, label] - top)
            arcs[h, m] = top + np.log(total)
