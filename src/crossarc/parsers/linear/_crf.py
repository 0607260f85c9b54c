"""Log-linear models of whole labelled trees (MS07 §4.3): the log-likelihood of gold trees, and its gradient.

log p(tree) = score(tree) - log Z. The gradient is the features of the gold tree minus those that are expected: an arc
counts with [it is gold] - p(arc), a label of an arc with [arc and label are gold] - p(arc) p(label | arc). The scores
of arcs have the sum over their labels in them (``ScorerOptions.summed``): sums over trees are sums over labelled ones.

Of a sentence whose heads are not all known, the likelihood is that of all trees that have the known ones, log Z of
these minus log Z of all; then p(arc | the known heads) stands for [it is gold].

With losses added to the scores of wrong arcs, all this is the softmax margin (Gimpel and Smith 2010).
"""

import numpy as np

from crossarc._jit import by_type, copy_values, jit, jit_helper, jit_inline, jit_macro
from crossarc.learning._adagrad import Gradient, adapt, add_at
from crossarc.learning.rules import Crf
from crossarc.parsers.linear._learn import learn_from, training_sentence
from crossarc.scorers._part_scores import arc_matrix
from crossarc.scorers.linear._features import arc_indices
from crossarc.scorers.linear._labels import label_scores, probabilities_of_labels, rows_of_arc
from crossarc.scorers.linear._source import is_joint
from crossarc.scorers.shape import NonProjective, Projective
from crossarc.trees import _inside_outside, _matrix_tree

NEGLIGIBLE = 1e-3  # what an arc or label must count at least in a single step
GRADIENT = np.dtype([("gradient", np.float64)])  # of each weight, where nothing else is needed


@learn_from.register(Crf)
def follow_gradient(rule, sentence, models, learner, search, seed):
    """A step along the gradient of a sentence, word by word: what speaks for and against the heads of one cancels."""
    return -step_along_gradient(sentence, models, learner, search)


@jit_macro
def step_along_gradient(sentence, models, learner, search):
    """The log-likelihood of the gold tree before the step."""
    most_of_word = len(sentence.parts.source.buffer) + sentence.slots.shape[2] * sentence.n_labels
    most = len(sentence.heads) * most_of_word
    gradient = Gradient(learner.slopes, np.empty(most, np.int64), np.zeros(1, np.int64), NEGLIGIBLE)
    size = len(sentence.heads)
    probabilities, wanted = np.empty((size, size)), np.zeros((size, size))
    total = log_likelihood(sentence, search.shape, probabilities, wanted)
    for m in range(1, size):
        total += add_gradient(sentence, models, probabilities, wanted, m, gradient)
        adapt(learner, gradient)
    return total


@jit
def add_gradients(batch, models, gold, search, augmented, slopes):
    """Add the gradient of all sentences to that of ``slopes``; their log-likelihood."""
    total = 0.0
    gradient = Gradient(slopes, np.empty(0, np.int64), np.zeros(1, np.int64), 0.0)
    for b in range(len(batch.starts) - 1):
        sentence = training_sentence(batch, b, models, gold, search.shape, augmented)
        size = len(sentence.heads)
        probabilities, wanted = np.empty((size, size)), np.zeros((size, size))
        total += log_likelihood(sentence, search.shape, probabilities, wanted)
        for m in range(1, size):
            total += add_gradient(sentence, models, probabilities, wanted, m, gradient)
    return total


@jit_helper
def log_likelihood(sentence, shape, probabilities, wanted):
    """log p of the known heads; the probability of each arc, and what it is given these: 0 or 1 if all are known."""
    heads, scores = sentence.heads, arc_matrix(sentence.parts)
    total, known = -log_partition(shape, scores, probabilities), 0
    for m in range(1, len(heads)):
        known += heads[m] >= 0
    if known == len(heads) - 1:
        for m in range(1, len(heads)):
            total += scores[heads[m], m]
            wanted[heads[m], m] = 1.0
        return total
    if known == 0:  # every tree has them
        copy_values(probabilities.ravel(), wanted.ravel())
        return 0.0
    for m in range(1, len(heads)):
        for h in range(len(heads)):
            if heads[m] >= 0 and h != heads[m]:
                scores[h, m] = -np.inf
    return total + log_partition(shape, scores, wanted)


@by_type
def log_partition(shape, scores, probabilities):
    """log Z; the probability of each arc."""


@log_partition.register(NonProjective)
def log_partition_by_matrix_tree(shape, scores, probabilities):
    return _matrix_tree.marginals(scores, shape.single_root, probabilities)


@log_partition.register(Projective)
def log_partition_by_inside_outside(shape, scores, probabilities):
    return _inside_outside.marginals(scores, shape.single_root, probabilities)


@jit_helper
def add_gradient(sentence, models, probabilities, wanted, m, gradient):
    """Add what the arcs into m count; log p of m's gold label given its gold arc, 0 if labels come later."""
    parts, source, log_p = sentence.parts, sentence.parts.source, 0.0
    for j in range(parts.counts[m]):
        h = parts.candidates[m, j]
        gold = sentence.labels[m] if h == sentence.heads[m] else -1
        probability = probabilities[h, m]
        surplus = wanted[h, m] - probability
        if abs(surplus) > gradient.negligible:
            count = arc_indices(source.encoded, h, m, source.shift, source.buffer)
            for i in range(count):
                add_at(gradient, source.buffer[i], surplus)
        if is_joint(models.labelling) and (gold >= 0 or max(probability, wanted[h, m]) > gradient.negligible):
            # what is known of the label is the gold one, or nothing: then it has the same share with and without
            expected = probability if gold >= 0 else -surplus
            log_p += add_gradient_of_labels(sentence, models, h, m, gold, expected, gradient)
    return log_p


@jit_helper
def add_gradient_of_labels(sentence, models, h, m, gold, probability, gradient):
    """Add what the labels of one arc count; log p of the gold label, 0 if there is none (-1)."""
    n_labels = sentence.n_labels
    rows = np.empty(sentence.slots.shape[2], np.int64)
    shares = np.empty(n_labels, np.float32)
    n_rows = rows_of_arc(sentence.slots, h, m, models.labels.shift, rows)
    label_scores(models.labels.weights, rows, n_rows, np.ones((0, n_labels), np.bool_), m, shares)
    for label in range(n_labels):
        shares[label] += np.float32(sentence.label_loss if gold >= 0 and label != gold else 0.0)
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
