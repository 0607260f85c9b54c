"""Online training, sentence by sentence: find trees with the current weights, then let the learner mend these."""

from collections import namedtuple

import numpy as np

from crossarc._jit import jit, jit_helper, jit_inline
from crossarc.features._hashing import hash_slots, mix, sentence_attributes
from crossarc.learning._online import add, difference, hildreth, hildreth_step
from crossarc.scorers.linear._features import (
    arc_indices,
)
from crossarc.scorers.linear._labels import rows_of_arc
from crossarc.scorers.linear._part_scores import (
    append,
    arc_matrix,
    candidate_number,
    candidate_space,
    choose,
    most_tree_features,
    score_labels,
    tree_indices,
    tree_score,
)
from crossarc.search._search import first_order, high_order, second_order
from crossarc.trees._camerini import k_best_arborescences
from crossarc.trees._eisner_k_best import k_best_projective

Task = namedtuple("Task", "space slots heads labels")  # of one sentence; slots of its labels, empty if they come later

# augmented: whether trees are searched for with their loss added to their score
Method = namedtuple("Method", "learner k augmented")

MIRA, PERCEPTRON = range(2)
PASSES = 20  # of Hildreth's procedure

LABEL_LOSS = 0.5  # of a wrong label on a right arc; a wrong arc costs 1

# A kernel for each kind of search and of learner, so that only those in use are compiled.


@jit
def learn_first_order(batch, chosen, models, learner, gold, rules, method):
    """Mend the weights where they prefer another tree to the gold one, for each chosen sentence of the batch.

    How many heads of the best trees were wrong.
    """
    wrong = 0
    for b in chosen:
        task = open_task(batch, b, models, gold, rules, method)
        trees = np.empty((1, len(task.heads)), np.int64)
        first_order(task.space, rules, trees[0])
        wrong += mira_update(task, models, learner, trees, rules, method)
        learner.step[0] += 1
    return wrong


@jit
def learn_second_order(batch, chosen, models, learner, gold, rules, method, seed):
    """The same for order 2."""
    wrong = 0
    for b in chosen:
        task = open_task(batch, b, models, gold, rules, method)
        trees = np.empty((1, len(task.heads)), np.int64)
        if beats_gold(task, second_order(task.space, rules, mix(seed + np.uint64(b)), trees[0]), rules):
            wrong += mira_update(task, models, learner, trees, rules, method)
        learner.step[0] += 1
    return wrong


@jit
def learn_high_order(batch, chosen, models, learner, gold, rules, method, seed):
    """The same for higher orders."""
    wrong = 0
    for b in chosen:
        task = open_task(batch, b, models, gold, rules, method)
        trees = np.empty((1, len(task.heads)), np.int64)
        if beats_gold(task, high_order(task.space, rules, mix(seed + np.uint64(b)), trees[0]), rules):
            wrong += mira_update(task, models, learner, trees, rules, method)
        learner.step[0] += 1
    return wrong


@jit
def learn_from_k_best(batch, chosen, models, learner, gold, rules, method):
    """The same for order 1 with the k best trees: MST05 §3.1."""
    wrong = 0
    for b in chosen:
        task = open_task(batch, b, models, gold, rules, method)
        wrong += mira_update(task, models, learner, k_best(arc_matrix(task.space), method.k, rules), rules, method)
        learner.step[0] += 1
    return wrong


@jit_helper
def open_task(batch, b, models, gold, rules, method):
    """The space of a sentence and its gold tree; with losses if the search is to be loss-augmented."""
    attributes = sentence_attributes(batch, b)
    nodes = slice(batch.starts[b], batch.starts[b + 1])
    heads, labels = gold.heads[nodes], gold.labels[nodes]
    space = candidate_space(attributes, models.pruner, models.heads, heads.copy(), np.ones((0, 0), np.bool_), rules)
    slots = np.empty((0, 0, 0), np.uint64)
    if rules.joint:
        slots = hash_slots(attributes.words, models.labels.templates.label)
        every_label = np.ones((0, gold.n_labels), np.bool_)
        loss = LABEL_LOSS if method.augmented else 0.0
        score_labels(space, slots, models.labels, every_label, heads, labels, loss, rules.summed)
    if method.augmented:
        for m in range(1, len(heads)):
            for j in range(space.counts[m]):
                space.arcs[m, j] += space.candidates[m, j] != heads[m]
    return Task(space, slots, heads, labels)


@jit_helper
def k_best(scores, k, rules):
    """The heads of the k best trees."""
    labelled = scores.reshape(len(scores), len(scores), 1)
    if rules.projective:
        count, heads, _, _ = k_best_projective(labelled, k, rules.single_root)
    else:
        count, heads, _, _ = k_best_arborescences(labelled, k, rules.single_root)
    return heads[:count].copy()


@jit_helper
def beats_gold(task, score, rules):
    """Whether what the search found is better than the gold tree: it may have missed that."""
    choice = np.zeros_like(task.heads)
    choose(task.space, task.heads, choice)
    if rules.joint:
        for m in range(1, len(choice)):
            if task.space.labels[m, choice[m]] != task.labels[m]:
                return True
    return tree_score(task.space, task.heads, choice) <= score


@jit_helper
def mira_update(task, models, learner, trees, rules, method):
    """The smallest change of the weights that makes the gold tree beat the others by their losses.

    A tree that is the gold one asks for nothing; the perceptron takes one step for any other. Returns how many heads
    of the first tree are wrong.
    """
    encoded, shift, buffer = task.space.encoded, models.heads.shift, task.space.buffer
    labels = labels_of(task, trees, rules)
    label_features = len(task.heads) * task.slots.shape[2]
    of_gold = np.empty(most_tree_features(encoded, task.heads) + label_features, np.int64)
    indices, values = np.empty(0, np.int64), np.empty(0, np.float32)
    bounds, losses = np.zeros(len(trees) + 1, np.int64), np.zeros(len(trees))
    for i in range(len(trees)):
        losses[i] = loss_of(trees[i], labels[i], task)
        if losses[i] > 0.0:
            of_other = np.empty(most_tree_features(encoded, trees[i]) + label_features, np.int64)
            n_gold = tree_indices(encoded, task.heads, trees[i], shift, buffer, of_gold)
            n_other = tree_indices(encoded, trees[i], task.heads, shift, buffer, of_other)
            if rules.joint:
                gold, other = (task.heads, task.labels), (trees[i], labels[i])
                n_gold = label_indices(task.slots, models, gold, other, of_gold, n_gold)
                n_other = label_indices(task.slots, models, other, gold, of_other, n_other)
            new_indices, new_values = np.empty(n_gold + n_other, np.int64), np.empty(n_gold + n_other, np.float32)
            count = difference(of_gold, n_gold, of_other, n_other, learner.scratch, new_indices, new_values)
            indices = np.concatenate((indices, new_indices[:count]))
            values = np.concatenate((values, new_values[:count]))
        bounds[i + 1] = len(indices)
    if method.learner == PERCEPTRON:
        add(learner.weights, learner.totals, learner.step[0], 1.0, indices, values)
    else:
        passes = 1 if len(trees) == 1 else PASSES
        hildreth(
            learner.weights, learner.totals, learner.step[0], indices, values, bounds, losses, learner.max_step, passes
        )
    return count_wrong(trees[0], task.heads)


@jit_helper
def labels_of(task, trees, rules):
    """The labels of each tree; those of the gold tree if labels come later."""
    labels = np.empty_like(trees)
    for i in range(len(trees)):
        labels[i] = task.labels
        if rules.joint:
            for m in range(1, trees.shape[1]):
                labels[i, m] = task.space.labels[m, candidate_number(task.space, m, trees[i, m])]
    return labels


@jit_inline
def count_wrong(heads, gold):
    wrong = 0
    for m in range(1, len(gold)):
        wrong += heads[m] != gold[m]
    return wrong


@jit_inline
def loss_of(heads, labels, task):
    loss = 0.0
    for m in range(1, len(heads)):
        if heads[m] != task.heads[m]:
            loss += 1.0
        elif labels[m] != task.labels[m]:
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


@jit
def learn_factored(batch, chosen, models, learner, gold, rules, method):
    """The same for order 1, factored (MST05 §3.2): each gold arc is to beat all others into its word by 1.

    The n² constraints of a sentence are gone through by Hildreth's procedure; their features are found anew in each
    pass.
    """
    wrong = 0
    for b in chosen:
        task = open_task(batch, b, models, gold, rules, method)
        found = np.empty_like(task.heads)
        first_order(task.space, rules, found)
        wrong += count_wrong(found, task.heads)
        multipliers = np.zeros(task.space.arcs.shape)
        for _ in range(PASSES):
            if factored_pass(task, models, learner, rules, multipliers) < 1e-3:
                break
        learner.step[0] += 1
    return wrong


@jit_helper
def factored_pass(task, models, learner, rules, multipliers):
    """One pass over all constraints of a sentence; the largest change of a margin."""
    space, most = task.space, len(task.space.buffer) + task.slots.shape[2]
    of_gold, of_other = np.empty(most, np.int64), np.empty(most, np.int64)
    indices, values = np.empty(2 * most, np.int64), np.empty(2 * most, np.float32)
    largest = 0.0
    for m in range(1, len(task.heads)):
        n_gold = arc_and_label(task, models, task.heads[m], m, task.labels[m], rules, of_gold)
        for j in range(space.counts[m]):
            h, label = space.candidates[m, j], space.labels[m, j]
            if h == task.heads[m] and (not rules.joint or label == task.labels[m]):
                continue
            n_other = arc_and_label(task, models, h, m, label, rules, of_other)
            count = difference(of_gold, n_gold, of_other, n_other, learner.scratch, indices, values)
            loss = 1.0 if h != task.heads[m] else LABEL_LOSS
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
def arc_and_label(task, models, h, m, label, rules, out):
    """The features of one arc, and of its label if labels are joint."""
    buffer = task.space.buffer
    count = append(arc_indices(task.space.encoded, h, m, models.heads.shift, buffer), buffer, out, 0)
    return append_label(task.slots, models, h, m, label, out, count) if rules.joint else count
