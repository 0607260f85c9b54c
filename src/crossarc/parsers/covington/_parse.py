"""PARSE(x, d) of Nivre (2007): link every permissible pair, as a classifier says."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc._jit import copy_values, jit, jit_helper, jit_inline
from crossarc.features._hashing import sentence_attributes
from crossarc.learning._svm import Svm
from crossarc.parsers.covington._features import extract_features, new_link_features, score_actions, score_labels
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
from crossarc.parsers.covington.features import LinkTemplates
from crossarc.trees._shape import arc_degrees


class LinkModel(NamedTuple):
    """The weights of the linear classifier, or support vector machines; there is only one of them."""

    features: LinkTemplates
    links: NDArray[np.float32]  # weights of actions
    link_shift: np.uint64  # the places of features are the highest bits of their hashes
    labels: NDArray[np.float32]
    label_shift: np.uint64
    svm: Svm
    feats: NDArray[np.uint64]  # those that support vector machines know, sorted
    categories: NDArray[np.int64]  # the number of the category of each, such as case or number


class LinkOptions(NamedTuple):
    """Which links are permissible, and what becomes of words without a head."""

    max_degree: int  # of non-projectivity, or NO_LIMIT
    single_root: bool
    rest_to_root: bool  # rather than to the head that each came closest to


class LinkConstraints(NamedTuple):
    """What the tree of one sentence must have; empty arrays are no constraint."""

    required_heads: NDArray[np.int64]  # by modifier, -1 for none
    allowed_arcs: NDArray[np.bool_]  # [h, m]
    allowed_labels: NDArray[np.bool_]  # [m, l]


class RejectedArcs(NamedTuple):
    """The arcs that were closest to being made."""

    heads: NDArray[np.int64]  # the head other than 0 that was closest to being chosen for each word
    margins: NDArray[np.float64]  # how close: its score less that of no arc
    roots: NDArray[np.float64]  # the same for the head 0


# Evidence of one word: the score of what gave it its head, and of the other actions that were possible; then the scores
# of its labels. Empty if nobody asks
CHOSEN, OTHER, THIRD, LABELS = range(4)


@jit
def parse_batch(batch, model, constraints, options, heads, labels, links, evidence):
    """Trees for all sentences; links[b] is how often LINK asked the classifier; evidence[m] of each word.

    What is left without a head may get an arc of a higher degree than is allowed. Then the sentence is parsed again
    with a lower limit; with the limit 0 this cannot happen.
    """
    for b in range(len(links)):
        nodes = slice(batch.starts[b], batch.starts[b + 1])
        attributes = sentence_attributes(batch, b)
        limit = options.max_degree
        degrees = np.empty(batch.starts[b + 1] - batch.starts[b], np.int64)
        while True:
            links[b] += parse_sentence(
                attributes, model, constraints, limit, options, heads[nodes], labels[nodes], evidence[nodes]
            )
            if limit in (0, NO_LIMIT) or arc_degrees(heads[nodes], degrees) <= options.max_degree:
                break
            limit -= 1


@jit_helper
def parse_sentence(attributes, model, constraints, max_degree, options, heads, labels, evidence):
    """One tree; returns how often LINK asked the classifier."""
    required = constraints.required_heads if len(constraints.required_heads) > 0 else np.full(len(heads), -1)
    graph = new_graph(required, constraints.allowed_arcs, options.single_root)
    extracted = new_link_features(attributes, model, constraints.allowed_labels.shape[1])
    rejected = RejectedArcs(np.full(len(heads), -1), np.full(len(heads), -np.inf), np.full(len(heads), -np.inf))
    begin_evidence(evidence)
    links = 0
    for j in range(1, len(heads)):
        begin_word(graph)
        for i in range(j - 1, -1, -1):
            if is_done(graph, i, j, max_degree):
                break
            links += link(graph, extracted, model, constraints.allowed_labels, rejected, evidence, i, j, max_degree)
            pass_over(graph, i, j)
    attach_the_rest(graph, rejected, evidence, max_degree, options.rest_to_root)
    label_the_rest(graph, extracted, model, constraints.allowed_labels, evidence)
    copy_values(graph.heads, heads)
    copy_values(graph.labels[: len(labels)], labels)
    return links


@jit_inline
def begin_evidence(evidence):
    """As for a required arc: nothing else was possible."""
    for m in range(len(evidence)):
        evidence[m, CHOSEN], evidence[m, OTHER], evidence[m, THIRD] = 0.0, -np.inf, -np.inf


@jit_inline
def link(graph, extracted, model, allowed_labels, rejected, evidence, i, j, max_degree):
    """LINK(i, j), if it is permissible and there is a choice; returns whether there was."""
    is_required = graph.heads[j] == i or graph.heads[i] == j
    if not is_required:
        right, left = may_add(graph, i, j), may_add(graph, j, i)
        if not (right or left) or not permissible(graph, i, j, max_degree):
            return False
    extract_features(extracted, model.features, graph, i, j)
    if not is_required:
        score_actions(extracted, model)
        action = best_action(extracted.scores, left, right)
        if action == NO_ARC:
            remember(rejected, extracted.scores, left, right, i, j)
            return True
        h, m = (i, j) if action == RIGHT_ARC else (j, i)
        add_arc(graph, h, m)
        note_arc(evidence, extracted.scores, left, right, m, action)
    label(graph, extracted, model, allowed_labels, evidence, i, j)
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
def remember(rejected, scores, left, right, i, j):
    """What almost became an arc."""
    for possible, h, m, action in ((right, i, j, RIGHT_ARC), (left, j, i, LEFT_ARC)):
        margin = scores[action] - scores[NO_ARC]
        if possible and h == 0:
            rejected.roots[m] = margin
        elif possible and margin > rejected.margins[m]:
            rejected.heads[m], rejected.margins[m] = h, margin


@jit_inline
def label(graph, extracted, model, allowed, evidence, i, j):
    """The best label of the arc between i and j, which have been looked at."""
    right = graph.heads[j] == i
    m = j if right else i
    score_labels(extracted, model, RIGHT_ARC if right else LEFT_ARC, allowed, m)
    best = 0
    for other in range(1, len(extracted.labels)):
        if extracted.labels[other] > extracted.labels[best]:
            best = other
    give_label(graph, m, best)
    if len(evidence) > 0:
        for other in range(len(extracted.labels)):
            evidence[m, LABELS + other] = extracted.labels[other]


@jit_inline
def attach_the_rest(graph, rejected, evidence, max_degree, to_root):
    """Heads for the words that have none.

    If there must be a single root and there is none yet, it is the word that came closest to it. Any other word takes
    the head that it came closest to, if that is still possible; or else, and always if that is asked for (as in the
    paper), the single root, or 0 if there may be several.
    """
    size = len(graph.heads)
    if graph.single_root and graph.counts[ROOTS] == 0:
        first = -1
        for m in range(1, size):
            if graph.heads[m] < 0 and (first < 0 or rejected.roots[m] > rejected.roots[first]):
                first = m
        if first > 0:
            add_arc(graph, 0, first)
            note_rejected(evidence, first, rejected.roots[first])
    root = graph.leftmost[0] if graph.single_root else 0
    for m in range(1, size):
        if graph.heads[m] < 0:
            prefers_root = to_root or (not graph.single_root and rejected.roots[m] > rejected.margins[m])
            takes_rejected = not prefers_root and may_take(graph, rejected.heads[m], m, max_degree)
            add_arc(graph, rejected.heads[m] if takes_rejected else root, m)
            note_rejected(evidence, m, rejected.margins[m] if takes_rejected else rejected.roots[m])


@jit_inline
def note_rejected(evidence, m, margin):
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
def label_the_rest(graph, extracted, model, allowed, evidence):
    """Labels of the arcs that LINK did not make."""
    for m in range(1, len(graph.heads)):
        if graph.labels[m] < 0:
            i, j = min(graph.heads[m], m), max(graph.heads[m], m)
            begin_word(graph)
            for between in range(j - 1, i, -1):
                pass_over(graph, between, j)
            extract_features(extracted, model.features, graph, i, j)
            label(graph, extracted, model, allowed, evidence, i, j)
