"""Training of the classifier behind LINK: an oracle says which actions lose no gold arc, the parser learns to take one.

With a static oracle the parser follows the gold tree. With exploration it follows its own choices, wrong ones too, and
the oracle is dynamic: it knows what is still to be had in any graph (Goldberg and Nivre 2012; for this algorithm
Gómez-Rodríguez and Fernández-González 2015).
"""

from typing import NamedTuple

import numpy as np

from crossarc._jit import jit, jit_helper, jit_inline
from crossarc.features._hashing import mix, sentence_attributes
from crossarc.learning._online import passive_aggressive
from crossarc.learning.online import Learner
from crossarc.parsers.covington._features import (
    extract_features,
    new_link_features,
    score_actions_linearly,
    score_labels_linearly,
    set_symbols,
)
from crossarc.parsers.covington._graph import (
    LEFT_ARC,
    NO_ARC,
    RIGHT_ARC,
    ROOTS,
    add_arc,
    begin_word,
    give_label,
    is_done,
    may_add,
    new_graph,
    pass_over,
    permissible,
)
from crossarc.parsers.covington._parse import best_action


class Learners(NamedTuple):
    """The learners of actions and of labels."""

    links: Learner
    labels: Learner


@jit
def learn_links(batch, chosen, model, learners, gold, options, exploration, seed):
    """Learn from the chosen sentences; how many heads were wrong or missing in the graphs that arose.

    ``exploration`` is the probability of following the parser's own choice where that may be wrong.
    """
    wrong = 0
    for b in chosen:
        heads, labels, graph, extracted = begin_sentence(batch, b, model, gold, options)
        every_label = np.ones((0, gold.n_labels), np.bool_)
        random = mix(seed + np.uint64(b))
        for j in range(1, len(heads)):
            begin_word(graph)
            for i in range(j - 1, -1, -1):
                if is_done(graph, i, j, options.max_degree):
                    break
                right, left = may_add(graph, i, j), may_add(graph, j, i)
                if (right or left) and permissible(graph, i, j, options.max_degree):
                    random = mix(random + np.uint64(1))
                    follow = random >> np.uint64(32) < np.uint64(exploration * 2.0**32)
                    extract_features(extracted, model.features, graph, i, j)
                    learn_link(graph, extracted, model, learners, heads, labels, every_label, i, j, left, right, follow)
                pass_over(graph, i, j)
        for m in range(1, len(heads)):
            wrong += graph.heads[m] != heads[m]
        learners.links.step[0] += 1
        learners.labels.step[0] += 1
    return wrong


@jit_helper
def begin_sentence(batch, b, model, gold, options):
    """The gold heads and labels of a sentence, a graph without arcs, and room for features."""
    nodes = slice(batch.starts[b], batch.starts[b + 1])
    heads, labels = gold.heads[nodes], gold.labels[nodes]
    graph = new_graph(np.full(len(heads), -1), np.ones((0, 0), np.bool_), options.single_root)
    return heads, labels, graph, new_link_features(sentence_attributes(batch, b), model, gold.n_labels)


@jit_inline
def learn_link(graph, extracted, model, learners, heads, labels, every_label, i, j, left, right, follow):
    """Take an action, and learn from it where the oracle would have taken another."""
    score_actions_linearly(extracted, model)
    chosen = best_action(extracted.scores, left, right)
    best, rival = -1, -1
    for action in (NO_ARC, LEFT_ARC, RIGHT_ARC):
        if (action == LEFT_ARC and not left) or (action == RIGHT_ARC and not right):
            continue
        if loses_nothing(graph, heads, action, i, j, left, right):
            if best < 0 or extracted.scores[action] > extracted.scores[best]:
                best = action
        elif rival < 0 or extracted.scores[action] > extracted.scores[rival]:
            rival = action
    if rival >= 0:
        learn_action(extracted, learners.links, best, rival)
    taken = chosen if follow else best
    if taken == NO_ARC:
        return
    h, m = (i, j) if taken == RIGHT_ARC else (j, i)
    add_arc(graph, h, m)
    score_labels_linearly(extracted, model, taken, every_label, m)
    label = np.argmax(extracted.labels)
    if heads[m] == h:
        learn_label(extracted, learners.labels, labels[m])
    give_label(graph, m, label if follow else labels[m])


@jit_inline
def loses_nothing(graph, gold, action, i, j, left, right):
    """Whether as many gold arcs can be had after this action as before: exact as long as no degree is forbidden.

    What cannot be had are gold arcs whose turn is over, and one more for each cycle of the others with the graph.
    """
    if action == NO_ARC:
        if right and gold[j] == i:
            return i > 0 and closes_cycle(graph, gold, i, j, i, j)
        return not (left and gold[i] == j) or closes_cycle(graph, gold, j, i, i, j)
    h, m = (i, j) if action == RIGHT_ARC else (j, i)
    if gold[m] == h:
        return True
    if h == 0 and graph.single_root and root_is_free(graph, gold):
        return False
    hoped_for = hoped_head(graph, gold, m, i, j)
    if hoped_for >= 0 and not closes_cycle(graph, gold, hoped_for, m, i, j):
        return False
    return not closes_cycle(graph, gold, h, m, i, j)


@jit_inline
def root_is_free(graph, gold):
    """Whether a word that ought to be under 0 could still be."""
    free = False
    for m in range(1, len(gold)):
        free |= gold[m] == 0 and graph.heads[m] < 0
    return free


@jit_inline
def hoped_head(graph, gold, m, i, j):
    """The head of m, or its gold head if their turn is not over, (i, j) being next; else -1.

    A word that stays without a head gets the head 0 in the end.
    """
    if graph.heads[m] >= 0:
        return graph.heads[m]
    h = gold[m]
    if h == 0:
        return -1 if graph.single_root and graph.counts[ROOTS] > 0 else 0
    low, high = min(h, m), max(h, m)
    return h if high > j or (high == j and low <= i) else -1


@jit_inline
def closes_cycle(graph, gold, h, m, i, j):
    """Whether m is above h in the graph with all gold arcs that are hoped for."""
    node = h
    for _ in range(len(gold)):
        if node == m:
            return True
        if node <= 0:
            return False
        node = hoped_head(graph, gold, node, i, j)
    return False


@jit_inline
def learn_action(extracted, learner, best, rival):
    """The best action without loss is to beat the best other by 1."""
    places, scores = extracted.places, extracted.scores
    passive_aggressive(learner, places, extracted.used[0], best, rival, scores[best], scores[rival])


@jit_inline
def learn_label(extracted, learner, gold):
    """The label of a gold arc is to beat the best other label by 1."""
    rival = -1
    for label in range(len(extracted.labels)):
        if label != gold and (rival < 0 or extracted.labels[label] > extracted.labels[rival]):
            rival = label
    if rival >= 0:
        rows, scores = extracted.rows, extracted.labels
        passive_aggressive(learner, rows, extracted.used[1], gold, rival, scores[gold], scores[rival])


@jit
def instances_of(batch, b, model, gold, options):
    """What the static oracle says for each LINK of one sentence with a choice: symbols, class, and the tag of j.

    A gold arc that is not permissible is never made; its word is left to be attached in the end.
    """
    heads, labels, graph, extracted = begin_sentence(batch, b, model, gold, options)
    max_links = len(heads) * (len(heads) - 1) // 2
    sets = len(model.features.set_slots) * extracted.columns.shape[1]
    symbols = np.empty((max_links, len(extracted.values) - 1 + sets), np.uint32)
    classes, tags = np.empty(max_links, np.int64), np.empty(max_links, np.uint64)
    count = 0
    for j in range(1, len(heads)):
        begin_word(graph)
        for i in range(j - 1, -1, -1):
            if is_done(graph, i, j, options.max_degree):
                break
            right, left = may_add(graph, i, j), may_add(graph, j, i)
            if (right or left) and permissible(graph, i, j, options.max_degree):
                extract_features(extracted, model.features, graph, i, j)
                set_symbols(extracted, model.features, symbols[count])
                classes[count] = follow_gold(graph, heads, labels, gold.n_labels, i, j, left, right)
                tags[count] = extracted.tags[j]
                count += 1
            pass_over(graph, i, j)
    return symbols[:count], classes[:count], tags[:count]


@jit_inline
def follow_gold(graph, heads, labels, n_labels, i, j, left, right):
    """Make the gold arc between i and j if there is one; the class of what was done."""
    if right and heads[j] == i:
        h, m, first = i, j, 1 + n_labels
    elif left and heads[i] == j:
        h, m, first = j, i, 1
    else:
        return 0
    add_arc(graph, h, m)
    give_label(graph, m, labels[m])
    return first + labels[m]
