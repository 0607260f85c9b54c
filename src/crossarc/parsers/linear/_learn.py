"""Online training, sentence by sentence: find trees with the current weights, then let a rule update these."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc._jit import by_type, jit, jit_helper, jit_inline, jit_macro
from crossarc.features._hashing import mix, sentence_attributes
from crossarc.learning._online import PASSES, change_weights, difference, hildreth_step
from crossarc.learning.rules import FactoredMira, KBestMira, Mira, Perceptron
from crossarc.parsers.linear._tree_features import append, most_tree_features, tree_indices
from crossarc.scorers._part_scores import arc_matrix, candidate_number
from crossarc.scorers.linear._features import arc_indices
from crossarc.scorers.linear._labels import rows_of_arc
from crossarc.scorers.linear._source import add_labels, is_joint, score_parts
from crossarc.scorers.shape import NonProjective, Projective
from crossarc.search._candidate_tree import find_choices, tree_score
from crossarc.search._find_tree import find_tree
from crossarc.search.methods import Exact, HillClimbing, SecondOrder
from crossarc.trees._camerini import k_best_arborescences
from crossarc.trees._eisner_k_best import k_best_projective

LABEL_LOSS = 0.5  # of a wrong label on a right arc; a wrong arc costs 1


class TrainingSentence(NamedTuple):
    """A sentence to learn from."""

    parts: Any  # ``PartScores``, with losses if the search is to be loss-augmented
    slots: NDArray[np.uint64]  # of the templates of labels; empty if labels come later
    heads: NDArray[np.int64]  # the gold tree
    labels: NDArray[np.int64]
    n_labels: int  # that there are
    label_loss: float  # what has been added to the scores of wrong labels of gold arcs


@jit
def learn(batch, chosen, models, learner, gold, search, rule, seed):
    """Learn from each of the chosen sentences of a batch; the sum of their losses, each before its update."""
    loss = 0.0
    for b in chosen:
        sentence = training_sentence(batch, b, models, gold, search.shape, rule.augmented)
        loss += learn_from(rule, sentence, models, learner, search, mix(seed + np.uint64(b)))
        learner.step[0] += 1
    return loss


@by_type
def learn_from(rule, sentence, models, learner, search, seed):
    """Update the weights by one sentence; its loss before that: wrong heads of the best tree, or -log p."""


@jit_macro
def training_sentence(batch, b, models, gold, shape, augmented):
    """The scores of the parts of a sentence, and its gold tree."""
    attributes = sentence_attributes(batch, b)
    nodes = slice(batch.starts[b], batch.starts[b + 1])
    heads, labels = gold.heads[nodes], gold.labels[nodes]
    parts = score_parts(attributes, models, heads.copy(), np.ones((0, 0), np.bool_), shape)
    every_label = np.ones((0, gold.n_labels), np.bool_)
    loss = LABEL_LOSS if augmented else 0.0
    slots = add_labels(models.labelling, parts, attributes.words, models.labels, every_label, heads, labels, loss)
    if augmented:
        for m in range(1, len(heads)):
            for j in range(parts.counts[m]):
                parts.arcs[m, j] += parts.candidates[m, j] != heads[m]
    return TrainingSentence(parts, slots, heads, labels, gold.n_labels, loss)


@learn_from.register(Mira)
def learn_from_best(rule, sentence, models, learner, search, seed):
    """Compare the gold tree with the best tree that the search finds, which it is to beat by that one's loss.

    A search that is not exact may find a tree worse than the gold one: if it is not worse by its loss, its margin is
    violated all the same (MP06, §4).
    """
    trees = np.empty((1, len(sentence.heads)), np.int64)
    find_tree(search, sentence.parts, seed, trees[0])
    return update(rule, sentence, models, learner, trees)


@learn_from.register(Perceptron)
def learn_from_better(rule, sentence, models, learner, search, seed):
    """Compare the gold tree with the best tree that the search finds, unless the gold one is better."""
    trees = np.empty((1, len(sentence.heads)), np.int64)
    score = find_tree(search, sentence.parts, seed, trees[0])
    return update(rule, sentence, models, learner, trees) if beats_gold(search, sentence, models, score) else 0


@learn_from.register(KBestMira)
def learn_from_k_best(rule, sentence, models, learner, search, seed):
    """Compare the gold tree with the k best trees by arcs."""
    return update(rule, sentence, models, learner, k_best(search.shape, arc_matrix(sentence.parts), rule.k))


@learn_from.register(FactoredMira)
def learn_from_arcs(rule, sentence, models, learner, search, seed):
    """Compare each gold arc with all others into its word, which it is to beat by 1.

    The n² constraints of a sentence are gone through by Hildreth's procedure; their features are found anew in each
    pass.
    """
    found = np.empty_like(sentence.heads)
    find_tree(search, sentence.parts, seed, found)
    multipliers = np.zeros(sentence.parts.arcs.shape)
    for _ in range(PASSES):
        if factored_pass(sentence, models, learner, multipliers) < 1e-3:
            break
    return count_wrong(found, sentence.heads)


@by_type
def beats_gold(search, sentence, models, score):
    """Whether what a search found is better than the gold tree, which it may have missed."""


@beats_gold.register(Exact)
def never_misses(search, sentence, models, score):
    """An exact search misses nothing."""
    return True


@beats_gold.register(SecondOrder)
@beats_gold.register(HillClimbing)
def scores_more_than_gold(search, sentence, models, score):
    """The gold tree may be better than the tree found; not so if its labels are not the best ones."""
    choice = np.zeros_like(sentence.heads)
    find_choices(sentence.parts, sentence.heads, choice)
    if is_joint(models.labelling):
        for m in range(1, len(choice)):
            if sentence.parts.labels[m, choice[m]] != sentence.labels[m]:
                return True
    return tree_score(sentence.parts, sentence.heads, choice) <= score


@by_type
def k_best(shape, scores, k):
    """The heads of the k best trees."""


@k_best.register(NonProjective)
def k_best_nonprojective(shape, scores, k):
    count, heads, _, _ = k_best_arborescences(scores.reshape(len(scores), len(scores), 1), k, shape.single_root)
    return heads[:count].copy()


@k_best.register(Projective)
def k_best_of_projective(shape, scores, k):
    count, heads, _, _ = k_best_projective(scores.reshape(len(scores), len(scores), 1), k, shape.single_root)
    return heads[:count].copy()


@jit_macro
def update(rule, sentence, models, learner, trees):
    """Let the rule change the weights so that the gold tree beats the others; wrong heads of the first of these.

    A tree that is the gold one asks for nothing.
    """
    source = sentence.parts.source
    encoded, shift, buffer = source.encoded, source.shift, source.buffer
    labels = labels_of(sentence, models, trees)
    label_features = len(sentence.heads) * sentence.slots.shape[2]
    of_gold = np.empty(most_tree_features(encoded, sentence.heads) + label_features, np.int64)
    indices, values = np.empty(0, np.int64), np.empty(0, np.float32)
    bounds, losses = np.zeros(len(trees) + 1, np.int64), np.zeros(len(trees))
    for i in range(len(trees)):
        losses[i] = loss_of(trees[i], labels[i], sentence)
        if losses[i] > 0.0:
            of_other = np.empty(most_tree_features(encoded, trees[i]) + label_features, np.int64)
            n_gold = tree_indices(encoded, sentence.heads, trees[i], shift, buffer, of_gold)
            n_other = tree_indices(encoded, trees[i], sentence.heads, shift, buffer, of_other)
            if is_joint(models.labelling):
                gold, other = (sentence.heads, sentence.labels), (trees[i], labels[i])
                n_gold = label_indices(sentence.slots, models, gold, other, of_gold, n_gold)
                n_other = label_indices(sentence.slots, models, other, gold, of_other, n_other)
            new_indices, new_values = np.empty(n_gold + n_other, np.int64), np.empty(n_gold + n_other, np.float32)
            count = difference(of_gold, n_gold, of_other, n_other, learner.scratch, new_indices, new_values)
            indices = np.concatenate((indices, new_indices[:count]))
            values = np.concatenate((values, new_values[:count]))
        bounds[i + 1] = len(indices)
    change_weights(rule, learner, indices, values, bounds, losses)
    return count_wrong(trees[0], sentence.heads)


@jit_helper
def labels_of(sentence, models, trees):
    """The labels of each tree; those of the gold tree if labels come later."""
    labels = np.empty_like(trees)
    for i in range(len(trees)):
        labels[i] = sentence.labels
        if is_joint(models.labelling):
            for m in range(1, trees.shape[1]):
                labels[i, m] = sentence.parts.labels[m, candidate_number(sentence.parts, m, trees[i, m])]
    return labels


@jit_inline
def count_wrong(heads, gold):
    wrong = 0
    for m in range(1, len(gold)):
        wrong += heads[m] != gold[m]
    return wrong


@jit_inline
def loss_of(heads, labels, sentence):
    loss = 0.0
    for m in range(1, len(heads)):
        if heads[m] != sentence.heads[m]:
            loss += 1.0
        elif labels[m] != sentence.labels[m]:
            loss += LABEL_LOSS
    return loss


@jit_helper
def label_indices(slots, models, tree, other, out, count):
    """The features of the labels of a tree's arcs that another tree does not have; what is in ``out`` then."""
    heads, labels = tree
    other_heads, other_labels = other
    for m in range(1, len(heads)):
        if heads[m] != other_heads[m] or labels[m] != other_labels[m]:
            count = append_label(slots, models, heads[m], m, labels[m], out, count)
    return count


@jit_helper
def append_label(slots, models, h, m, label, out, count):
    """The features of one arc's label. Their weights come after those of the arcs, in one table."""
    n_rows = rows_of_arc(slots, h, m, models.labels.shift, out[count:])
    for i in range(count, count + n_rows):
        out[i] += label + len(models.heads.weights)
    return count + n_rows


@jit_helper
def factored_pass(sentence, models, learner, multipliers):
    """One pass over all constraints of a sentence; the largest change of a margin."""
    parts, most = sentence.parts, len(sentence.parts.source.buffer) + sentence.slots.shape[2]
    of_gold, of_other = np.empty(most, np.int64), np.empty(most, np.int64)
    indices, values = np.empty(2 * most, np.int64), np.empty(2 * most, np.float32)
    largest = 0.0
    for m in range(1, len(sentence.heads)):
        n_gold = arc_and_label(sentence, models, sentence.heads[m], m, sentence.labels[m], of_gold)
        for j in range(parts.counts[m]):
            h, label = parts.candidates[m, j], parts.labels[m, j]
            if h == sentence.heads[m] and (not is_joint(models.labelling) or label == sentence.labels[m]):
                continue
            n_other = arc_and_label(sentence, models, h, m, label, of_other)
            count = difference(of_gold, n_gold, of_other, n_other, learner.scratch, indices, values)
            loss = 1.0 if h != sentence.heads[m] else LABEL_LOSS
            multipliers[m, j], moved = hildreth_step(
                learner.weights,
                learner.totals,
                learner.step[0],
                indices[:count],
                values[:count],
                loss,
                multipliers[m, j],
                learner.max_step,
            )
            largest = max(largest, moved)
    return largest


@jit_helper
def arc_and_label(sentence, models, h, m, label, out):
    """The features of one arc, and of its label if labels are joint."""
    source = sentence.parts.source
    count = append(arc_indices(source.encoded, h, m, source.shift, source.buffer), source.buffer, out, 0)
    return append_label(sentence.slots, models, h, m, label, out, count) if is_joint(models.labelling) else count
