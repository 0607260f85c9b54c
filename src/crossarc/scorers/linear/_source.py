"""Scores of parts by the weights of their features: arcs at once, larger parts when they are first looked at.

A small first-order model (the pruner) leaves each word its most likely heads, its candidates. The list of parts is that
of the templates: a part without templates is not scored.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc._jit import by_type, by_type_inline, jit_helper, jit_inline, jit_macro, jit_noinline
from crossarc.features._hashing import hash_slots, sum_of
from crossarc.scorers._part_scores import (
    best_by_arcs,
    score_any_sibling,
    score_grandparent,
    score_sibling,
    score_valency,
)
from crossarc.scorers.linear._features import (
    MOST_COUNTED,
    any_sibling_triple,
    arc_indices,
    counted_indices,
    encode,
    grandparent_triple,
    most_features,
    sibling_triple,
    triple_indices,
)
from crossarc.scorers.linear._labels import label_scores, log_sum, rows_of_arc
from crossarc.scorers.linear._pruner import first_order_scores, keep_candidates
from crossarc.scorers.linear.scorer import JointLabels, LaterLabels
from crossarc.scorers.part_scores import PartScores


class LinearSource(NamedTuple):
    """What the scores of a sentence's parts are computed from."""

    encoded: Any  # ``Encoded``: the features of its words
    weights: Any
    shift: np.uint64  # a feature's place in the weights is given by the highest bits of its hash
    buffer: NDArray[np.int64]  # for the places of one part's features


@jit_macro
def score_parts(attributes, models, always, allowed, shape):
    """The scores of the parts that the pruner leaves; those of arcs are without labels.

    The heads of the tree ``always`` are kept: the gold ones in training. Where there is none (-1), that of the pruner's
    best tree with the others is put there, so that there is a tree if the allowed arcs have one.
    """
    size = len(attributes.counts)
    most = min(models.max_candidates, size) if models.max_candidates > 0 else size
    candidates = np.zeros((size, most + 1), np.int64)
    counts = np.zeros(size, np.int64)
    if models.max_candidates > 0:
        scores = first_order_scores(attributes, models.pruner, allowed)
        complete_tree(shape, scores, always)
        keep_candidates(scores, most, models.pruning_margin, always, candidates, counts)
    else:
        keep_all(allowed, candidates, counts)
    return open_parts(
        encode(attributes, models.heads.templates), models.heads.weights, models.heads.shift, candidates, counts
    )


@jit_helper
def complete_tree(shape, scores, heads):
    """Give words without a head (-1) that of the best tree in which the others have theirs."""
    known, size = 0, len(heads)
    for m in range(1, size):
        known += heads[m] >= 0
    if known == size - 1:
        return
    if known == 0:
        best_by_arcs(shape, scores, heads)
        return
    left = scores.copy()
    for m in range(1, size):
        for h in range(size):
            if heads[m] >= 0 and h != heads[m]:
                left[h, m] = -np.inf
    best_by_arcs(shape, left, heads)


@jit_inline
def keep_all(allowed, candidates, counts):
    """All allowed heads of each word as candidates."""
    for m in range(1, len(counts)):
        for h in range(len(counts)):
            if h != m and (allowed.size == 0 or allowed[h, m]):
                candidates[m, counts[m]] = h
                counts[m] += 1


@jit_macro
def open_parts(encoded, weights, shift, candidates, counts):
    """The scores of the parts of these candidates: those of arcs are known."""
    size, width = candidates.shape
    buffer = np.empty(most_features(encoded), np.int64)
    counted = MOST_COUNTED + 1 if encoded.valency.shape[2] > 0 else 0
    parts = PartScores(
        candidates,
        counts,
        np.empty((size, width)),
        np.full((size, width), -1),
        unknown_triples(candidates, encoded.sibling),
        unknown_triples(candidates, encoded.grandparent),
        unknown_triples(candidates, encoded.any_sibling),
        np.full((size, counted, counted), np.nan, np.float32),
        LinearSource(encoded, weights, shift, buffer),
    )
    for m in range(1, size):
        for j in range(counts[m]):
            count = arc_indices(encoded, candidates[m, j], m, shift, buffer)
            parts.arcs[m, j] = sum_of(weights, buffer, count)
    return parts


@jit_helper
def unknown_triples(candidates, slots):
    """An array for the scores of a candidate with each third word; empty if there are no templates for it."""
    size, width = candidates.shape
    return np.full((size, width, size) if slots.shape[2] > 0 else (0, 0, 0), np.nan, np.float32)


@jit_noinline
def triple_score(triple, weights, shift, buffer):
    """The score of a part of three words (not of the whole source: every call copies its arguments)."""
    return np.float32(sum_of(weights, buffer, triple_indices(triple, shift, buffer)))


@jit_noinline
def counted_score(head, left, right, weights, shift, buffer):
    """The score of a head and the numbers of its children."""
    return np.float32(sum_of(weights, buffer, counted_indices(head, left, right, shift, buffer)))


@score_sibling.register(LinearSource)
def score_linear_sibling(source, h, s, m):
    return triple_score(sibling_triple(source.encoded, h, s, m), source.weights, source.shift, source.buffer)


@score_grandparent.register(LinearSource)
def score_linear_grandparent(source, g, h, m):
    return triple_score(grandparent_triple(source.encoded, g, h, m), source.weights, source.shift, source.buffer)


@score_any_sibling.register(LinearSource)
def score_linear_any_sibling(source, h, s, m):
    return triple_score(any_sibling_triple(source.encoded, h, s, m), source.weights, source.shift, source.buffer)


@score_valency.register(LinearSource)
def score_linear_valency(source, h, left, right):
    return counted_score(source.encoded.valency[0, h], left, right, source.weights, source.shift, source.buffer)


@by_type_inline
def is_joint(labelling):
    """Whether labels are chosen with the arcs: known to the compiler."""


@is_joint.register(JointLabels)
def labels_come_with_arcs(labelling):
    return True


@is_joint.register(LaterLabels)
def labels_come_later(labelling):
    return False


@by_type
def add_labels(labelling, parts, words, model, allowed_labels, gold, gold_labels, loss):
    """Score arcs with their labels, if these are joint. The slots of [label]; none if labels come later.

    ``loss`` is added to a wrong label of a gold arc. An arc without an allowed label can be in no tree.
    """


@add_labels.register(LaterLabels)
def add_no_labels(labelling, parts, words, model, allowed_labels, gold, gold_labels, loss):
    return np.empty((0, 0, 0), np.uint64)


@add_labels.register(JointLabels)
def add_best_labels(labelling, parts, words, model, allowed_labels, gold, gold_labels, loss):
    """Give each arc its best label, and add the label's score to the arc's (the multi-digraph of MS07).

    If labels are summed, what is added is the sum over all of them, as a score.
    """
    slots = hash_slots(words, model.templates.label)
    rows = np.empty(slots.shape[2], np.int64)
    scores = np.empty(allowed_labels.shape[1], np.float32)
    for m in range(1, len(parts.counts)):
        for j in range(parts.counts[m]):
            n_rows = rows_of_arc(slots, parts.candidates[m, j], m, model.shift, rows)
            label_scores(model.weights, rows, n_rows, allowed_labels, m, scores)
            if gold[m] == parts.candidates[m, j]:
                scores += np.float32(loss)
                scores[gold_labels[m]] -= np.float32(loss)
            label = np.argmax(scores)
            parts.labels[m, j] = label
            parts.arcs[m, j] += log_sum(scores) if labelling.summed and scores[label] > -np.inf else scores[label]
    return slots
