"""Log-linear models of whole labelled trees (MS07 §4.3): the log-likelihood of gold trees, and its gradient.

log p(tree) = score(tree) - log Z. The gradient is the features of the gold tree minus those that are expected: an arc
counts with [it is gold] - p(arc), a label of an arc with [arc and label are gold] - p(arc) p(label | arc). The scores
of arcs have the sum over their labels in them (``Rules.summed``), so that sums over trees are sums over labelled ones.
"""

from collections import namedtuple

import numpy as np

from crossarc._jit import jit, jit_helper, jit_inline
from crossarc.parsers.linear._mira import open_task
from crossarc.scorers.linear._features import (
    arc_indices,
)
from crossarc.scorers.linear._labels import label_scores, probabilities_of_labels, rows_of_arc
from crossarc.scorers.linear._part_scores import arc_matrix
from crossarc.trees import _inside_outside, _matrix_tree

# slopes: of each weight, see parsers/linear.py; touched[:count[0]]: where the gradient may not be zero (nothing is
# noted if that array is empty); what is not greater than ``negligible`` is left out
Gradient = namedtuple("Gradient", "slopes touched count negligible")

NEGLIGIBLE = 1e-3  # what an arc or label must count at least in a single step
FIRST = 10.0  # what sums of squares start from: rare features take small steps; chosen on dev


@jit
def learn_crf(batch, chosen, models, learner, gold, rules, method):
    """A step along the gradient of each chosen sentence, with steps that adapt to each weight (AdaGrad).

    The negative log-likelihood of the sentences, each before its step. The gradient is followed word by word: what
    speaks for and against the heads of one word cancels out first.
    """
    loss = 0.0
    touched = np.empty(1 << 16, np.int64)
    for b in chosen:
        task = open_task(batch, b, models, gold, rules, method)
        most = len(task.heads) * (len(task.space.buffer) + task.slots.shape[2] * gold.n_labels)
        if most > len(touched):
            touched = np.empty(most, np.int64)
        gradient = Gradient(learner.slopes, touched, np.zeros(1, np.int64), NEGLIGIBLE)
        probabilities = np.empty((len(task.heads), len(task.heads)))
        loss -= log_likelihood(task, rules, probabilities)
        for m in range(1, len(task.heads)):
            loss -= add_gradient(task, models, rules, probabilities, m, gold.n_labels, gradient)
            adapt(learner, gradient)
        learner.step[0] += 1
    return loss


@jit
def add_gradients(batch, models, gold, rules, method, slopes):
    """Add the gradient of all sentences to that of ``slopes``; their log-likelihood."""
    total = 0.0
    gradient = Gradient(slopes, np.empty(0, np.int64), np.zeros(1, np.int64), 0.0)
    for b in range(len(batch.starts) - 1):
        task = open_task(batch, b, models, gold, rules, method)
        probabilities = np.empty((len(task.heads), len(task.heads)))
        total += log_likelihood(task, rules, probabilities)
        for m in range(1, len(task.heads)):
            total += add_gradient(task, models, rules, probabilities, m, gold.n_labels, gradient)
    return total


@jit_helper
def log_likelihood(task, rules, probabilities):
    """log p of the heads of the gold tree; the probability of each arc."""
    scores = arc_matrix(task.space)
    if rules.projective:
        total = -_inside_outside.marginals(scores, rules.single_root, probabilities)
    else:
        total = -_matrix_tree.marginals(scores, rules.single_root, probabilities)
    for m in range(1, len(task.heads)):
        total += scores[task.heads[m], m]
    return total


@jit_helper
def add_gradient(task, models, rules, probabilities, m, n_labels, gradient):
    """Add what the arcs into m count; log p of m's gold label given its gold arc, 0 if labels come later."""
    space, log_p = task.space, 0.0
    for j in range(space.counts[m]):
        h = space.candidates[m, j]
        gold = task.labels[m] if h == task.heads[m] else -1
        probability = probabilities[h, m]
        surplus = np.float64(gold >= 0) - probability
        if abs(surplus) > gradient.negligible:
            count = arc_indices(space.encoded, h, m, models.heads.shift, space.buffer)
            for i in range(count):
                add_at(gradient, space.buffer[i], surplus)
        if rules.joint and (gold >= 0 or probability > gradient.negligible):
            log_p += add_gradient_of_labels(task, models, h, m, gold, probability, n_labels, gradient)
    return log_p


@jit_helper
def add_gradient_of_labels(task, models, h, m, gold, probability, n_labels, gradient):
    """Add what the labels of one arc count; log p of the gold label, 0 if the arc is not gold (-1)."""
    rows = np.empty(task.slots.shape[2], np.int64)
    shares = np.empty(n_labels, np.float32)
    n_rows = rows_of_arc(task.slots, h, m, models.labels.shift, rows)
    label_scores(models.labels.weights, rows, n_rows, np.ones((0, n_labels), np.bool_), m, shares)
    log_sum = probabilities_of_labels(shares)
    log_p = label_score(models.labels.weights, rows, n_rows, gold) - log_sum if gold >= 0 else 0.0
    for label in range(n_labels):
        surplus = np.float64(label == gold) - probability * shares[label]
        if abs(surplus) > gradient.negligible:
            for i in range(n_rows):
                add_at(gradient, rows[i] + label + len(models.heads.weights), surplus)
    return log_p


@jit_inline
def label_score(weights, rows, n_rows, label):
    total = 0.0
    for i in range(n_rows):
        total += weights[rows[i] + label]
    return total


@jit_inline
def add_at(gradient, index, value):
    if len(gradient.touched) > 0 and gradient.slopes[index].gradient == 0.0:
        gradient.touched[gradient.count[0]] = index
        gradient.count[0] += 1
    gradient.slopes[index].gradient += value


@jit_inline
def adapt(learner, gradient):
    """Step along the gradient, and forget it: a weight that has changed much already changes little."""
    for i in range(gradient.count[0]):
        slope = learner.slopes[gradient.touched[i]]
        slope.squares += slope.gradient * slope.gradient
        change = learner.rate * slope.gradient / np.sqrt(slope.squares + FIRST)
        slope.gradient = 0.0
        slope.total += learner.step[0] * change
        learner.weights[gradient.touched[i]] += change
    gradient.count[0] = 0


@jit
def shrink(learner, l2):
    """What L2 regularisation asks of an epoch: the proximal step, with the same adaptive steps."""
    for i in range(len(learner.weights)):
        if learner.weights[i] != 0.0:
            slope = learner.slopes[i]
            step = learner.rate * l2 / np.sqrt(slope.squares + FIRST)
            change = -learner.weights[i] * step / (1.0 + step)
            learner.weights[i] += change
            slope.total += learner.step[0] * change
