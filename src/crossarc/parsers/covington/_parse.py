"""PARSE(x, d) of Nivre (2007): link every permissible pair, as a classifier says."""

from collections import namedtuple

import numpy as np

from crossarc._jit import copy_values, jit, jit_helper, jit_inline
from crossarc.features._hashing import sentence_of
from crossarc.parsers.covington._features import look_at, new_view, score_actions, score_labels
from crossarc.parsers.covington._graph import (
    LEFT_ARC,
    NO_ARC,
    NO_LIMIT,
    RIGHT_ARC,
    ROOTS,
    add_arc,
    begin_word,
    find,
    give_label,
    is_done,
    may_add,
    new_graph,
    pass_over,
    permissible,
)
from crossarc.trees._shape import arc_degrees

# The weights of the linear classifier, or support vector machines; there is only one of them
Model = namedtuple("Model", "features links link_shift labels label_shift svm")
Rules = namedtuple("Rules", "max_degree single_root")

# Of one sentence: its required arcs, by modifier; arcs[h, m] and labels[m, l] that are allowed. Empty: no constraint
Wanted = namedtuple("Wanted", "heads arcs labels")

# Evidence of one word: the score of what gave it its head, and of the other actions that were possible; then the scores
# of its labels. Empty if nobody asks
CHOSEN, OTHER, THIRD, LABELS = range(4)

# heads[m] is the head that was closest to being chosen for a word, margins[m] how close; roots[m]: the same for head 0
Missed = namedtuple("Missed", "heads margins roots")


@jit
def parse_batch(batch, model, wanted, rules, heads, labels, links, evidence):
    """Trees for all sentences; links[b] is how often LINK asked the classifier; evidence[m] of each word.

    What is left without a head may get an arc of a higher degree than is allowed. Then the sentence is parsed again
    with a lower limit; with the limit 0 this cannot happen.
    """
    for b in range(len(links)):
        nodes = slice(batch.starts[b], batch.starts[b + 1])
        words = sentence_of(batch, b).words
        limit = rules.max_degree
        degrees = np.empty(batch.starts[b + 1] - batch.starts[b], np.int64)
        while True:
            links[b] += parse_sentence(
                words, model, wanted, limit, rules.single_root, heads[nodes], labels[nodes], evidence[nodes]
            )
            if limit in (0, NO_LIMIT) or arc_degrees(heads[nodes], degrees) <= rules.max_degree:
                break
            limit -= 1


@jit_helper
def parse_sentence(words, model, wanted, max_degree, single_root, heads, labels, evidence):
    """One tree; returns how often LINK asked the classifier."""
    required = wanted.heads if len(wanted.heads) > 0 else np.full(len(heads), -1)
    graph = new_graph(required, wanted.arcs, single_root)
    view = new_view(words, model, wanted.labels.shape[1])
    missed = Missed(np.full(len(heads), -1), np.full(len(heads), -np.inf), np.full(len(heads), -np.inf))
    begin_evidence(evidence)
    links = 0
    for j in range(1, len(heads)):
        begin_word(graph)
        for i in range(j - 1, -1, -1):
            if is_done(graph, i, j, max_degree):
                break
            links += link(graph, view, model, wanted.labels, missed, evidence, i, j, max_degree)
            pass_over(graph, i, j)
    attach_the_rest(graph, missed, evidence, max_degree)
    label_the_rest(graph, view, model, wanted.labels, evidence)
    copy_values(graph.heads, heads)
    copy_values(graph.labels[: len(labels)], labels)
    return links


@jit_inline
def begin_evidence(evidence):
    """As for a required arc: nothing else was possible."""
    for m in range(len(evidence)):
        evidence[m, CHOSEN], evidence[m, OTHER], evidence[m, THIRD] = 0.0, -np.inf, -np.inf


@jit_inline
def link(graph, view, model, allowed_labels, missed, evidence, i, j, max_degree):
    """LINK(i, j), if it is permissible and there is a choice; returns whether there was."""
    is_required = graph.heads[j] == i or graph.heads[i] == j
    if not is_required:
        right, left = may_add(graph, i, j), may_add(graph, j, i)
        if not (right or left) or not permissible(graph, i, j, max_degree):
            return False
    look_at(view, model.features, graph, i, j)
    if not is_required:
        score_actions(view, model)
        action = best_action(view.scores, left, right)
        if action == NO_ARC:
            remember(missed, view.scores, left, right, i, j)
            return True
        h, m = (i, j) if action == RIGHT_ARC else (j, i)
        add_arc(graph, h, m)
        note_arc(evidence, view.scores, left, right, m, action)
    label(graph, view, model, allowed_labels, evidence, i, j)
    return not is_required


@jit_inline
def best_action(scores, left, right):
    """The best of the actions that are possible."""
    action = NO_ARC
    if left and scores[LEFT_ARC] > scores[action]:
        action = LEFT_ARC
    if right and scores[RIGHT_ARC] > scores[action]:
        action = RIGHT_ARC
    return action


@jit_inline
def note_arc(evidence, scores, left, right, m, action):
    """The scores behind an arc into m."""
    if len(evidence) > 0:
        opposite_is_possible = right if action == LEFT_ARC else left
        evidence[m, CHOSEN], evidence[m, OTHER] = scores[action], scores[NO_ARC]
        if opposite_is_possible:
            evidence[m, THIRD] = scores[RIGHT_ARC if action == LEFT_ARC else LEFT_ARC]


@jit_inline
def remember(missed, scores, left, right, i, j):
    """What almost became an arc."""
    for possible, h, m, action in ((right, i, j, RIGHT_ARC), (left, j, i, LEFT_ARC)):
        margin = scores[action] - scores[NO_ARC]
        if possible and h == 0:
            missed.roots[m] = margin
        elif possible and margin > missed.margins[m]:
            missed.heads[m], missed.margins[m] = h, margin


@jit_inline
def label(graph, view, model, allowed, evidence, i, j):
    """The best label of the arc between i and j, which have been looked at."""
    right = graph.heads[j] == i
    m = j if right else i
    score_labels(view, model, RIGHT_ARC if right else LEFT_ARC, allowed, m)
    best = 0
    for other in range(1, len(view.labels)):
        if view.labels[other] > view.labels[best]:
            best = other
    give_label(graph, m, best)
    if len(evidence) > 0:
        for other in range(len(view.labels)):
            evidence[m, LABELS + other] = view.labels[other]


@jit_inline
def attach_the_rest(graph, missed, evidence, max_degree):
    """Heads for the words that have none.

    If there must be a single root and there is none yet, it is the word that came closest to it. Any other word takes
    the head that it came closest to, if that is still possible; or else the single root, or 0 if there may be several
    (as all do in the paper).
    """
    size = len(graph.heads)
    if graph.single_root and graph.counts[ROOTS] == 0:
        first = -1
        for m in range(1, size):
            if graph.heads[m] < 0 and (first < 0 or missed.roots[m] > missed.roots[first]):
                first = m
        if first > 0:
            add_arc(graph, 0, first)
            note_missed(evidence, first, missed.roots[first])
    root = graph.leftmost[0] if graph.single_root else 0
    for m in range(1, size):
        if graph.heads[m] < 0:
            prefers_root = not graph.single_root and missed.roots[m] > missed.margins[m]
            takes_missed = not prefers_root and may_take(graph, missed.heads[m], m, max_degree)
            add_arc(graph, missed.heads[m] if takes_missed else root, m)
            note_missed(evidence, m, missed.margins[m] if takes_missed else missed.roots[m])


@jit_inline
def note_missed(evidence, m, margin):
    """An arc into m that was less likely than none."""
    if len(evidence) > 0:
        evidence[m, CHOSEN], evidence[m, OTHER] = margin, 0.0


@jit_inline
def may_take(graph, h, m, max_degree):
    """Whether h can still become the head of m."""
    return h >= 0 and find(graph.sets, h) != find(graph.sets, m) and stays_within(graph, h, m, max_degree)


@jit_inline
def stays_within(graph, h, m, max_degree):
    """Whether the arc's degree is at most that, seen from the graph as it is."""
    low, high = min(h, m), max(h, m)
    degree = 0
    for w in range(low + 1, high):
        degree += graph.heads[w] < low or graph.heads[w] > high
    return degree <= max_degree


@jit_inline
def label_the_rest(graph, view, model, allowed, evidence):
    """Labels of the arcs that LINK did not make."""
    for m in range(1, len(graph.heads)):
        if graph.labels[m] < 0:
            i, j = min(graph.heads[m], m), max(graph.heads[m], m)
            begin_word(graph)
            for between in range(j - 1, i, -1):
                pass_over(graph, between, j)
            look_at(view, model.features, graph, i, j)
            label(graph, view, model, allowed, evidence, i, j)
