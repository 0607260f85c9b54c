"""The rules of a sentence as rows over numbered variables, for dual decomposition and for rounding.

Variables are the arcs, then the marks of arcs that are not projective and of arcs that cross others, where rules count
these, then arcs with one of the labels that rules name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.ilp.parts import Parts
from crossarc.ilp.program import Matrix, matrix_of
from crossarc.ilp.rules import Arcs, FewArcs, Rule, Variables

__all__ = ["FORBIDDEN", "RuleRows", "counted_marks", "label_columns", "rule_rows"]

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

FORBIDDEN = 1e6  # less than this no tree has, where -inf cannot be computed with


class RuleRows(NamedTuple):
    """Rows of rules, and the variables that they are about."""

    variables: Variables
    scores: Floats  # of all variables; those of labels are not in those of the arcs
    choices: Indices  # [i, (arc, column)]: the arcs with labels that a tree chooses from; an arc without has its own
    labels: Indices  # [i]: their labels; -1: none is to be chosen
    rows: Matrix
    rule: Indices  # [row]: the rule that it belongs to
    rules: tuple[Rule, ...]

    @property
    def weights(self) -> Floats:
        """What it costs to break each row once."""
        return np.array([rule.weight for rule in self.rules])[self.rule]


def rule_rows(parts: Parts, rules: Sequence[Rule]) -> RuleRows:
    """The rows of rules. ``parts`` have scores of marks (perhaps 0) if some rule counts these."""
    n_arcs = len(parts.arcs)
    labels, scores = label_columns(parts, rules)
    arcs = np.arange(n_arcs)
    nonprojective = n_arcs + np.arange(len(parts.nonprojective))
    crossing = n_arcs + len(nonprojective) + np.arange(len(parts.crossing))
    first = n_arcs + len(nonprojective) + len(crossing)
    kept = scores > -np.inf
    chooses = kept.sum(axis=1) > 1
    columns = np.where(kept, arcs[:, np.newaxis], -1)
    own = kept & chooses[:, np.newaxis]
    columns[own] = first + np.arange(int(own.sum()))
    variables = Variables(parts, arcs, columns, np.where(kept, labels, -1), nonprojective, crossing)
    blocks = [rule.rows(variables) for rule in rules]
    # what an arc has for the only label that is left for it; an arc without any is in no tree
    alone = np.where(kept & ~own, scores, 0.0).sum(axis=1)
    if labels.shape[1]:
        alone[~kept.any(axis=1)] = -FORBIDDEN
    which, label = np.nonzero(kept)
    unlabelled = np.stack([arcs, arcs], axis=1)
    return RuleRows(
        variables,
        np.concatenate([parts.arcs + alone, parts.nonprojective, parts.crossing, scores[own]]),
        np.stack([which, columns[which, label]], axis=1) if labels.shape[1] else unlabelled,
        labels[which, label] if labels.shape[1] else np.full(n_arcs, -1),
        matrix_of(blocks, first + int(own.sum())),
        np.repeat(np.arange(len(rules)), [len(block.lower) for block in blocks]),
        tuple(rules),
    )


def label_columns(parts: Parts, rules: Sequence[Rule]) -> tuple[Indices, Floats]:
    """The labels that each arc may need under rules, and their scores: ``[arc, i]``; -inf where it needs them not.

    These are the labels that rules name, and the best one of the others. Of a label that is no better than that one and
    that no rule wants an arc to have, no tree is better by it.
    """
    n_arcs, n_labels = len(parts.arcs), parts.labels.shape[1]
    named = np.array(sorted(frozenset().union(*(rule.mentioned for rule in rules))), dtype=np.int64)
    if n_labels == 0:
        if len(named):
            raise ValueError("rules about labels need labelled scores")
        return np.empty((n_arcs, 0), dtype=np.int64), np.empty((n_arcs, 0))
    labels = np.tile(named, (n_arcs, 1))
    others = np.setdiff1d(np.arange(n_labels), named)
    if len(others):
        labels = np.concatenate([labels, others[parts.labels[:, others].argmax(axis=1)][:, np.newaxis]], axis=1)
    scores = np.take_along_axis(parts.labels, labels, axis=1)
    needed = np.zeros(labels.shape, np.bool_)
    needed[:, len(named) :] = True
    for rule in rules:
        about = np.isin(labels, list(rule.mentioned))
        needed |= rule.wants(parts)[:, np.newaxis] & about
        if isinstance(rule, Arcs) and rule.weight == np.inf:
            scores[about & rule.forbidden[parts.heads, parts.modifiers][:, np.newaxis]] = -np.inf
    if len(others):
        scores[~needed & (scores <= scores[:, -1:])] = -np.inf
    return labels, scores


def counted_marks(parts: Parts, rules: Sequence[Rule]) -> Parts:
    """The parts, with marks that score nothing where rules count arcs that are not projective or cross others."""
    nothing = np.zeros(len(parts.arcs))
    counts = {rule.crossing for rule in rules if isinstance(rule, FewArcs)}
    if False in counts and not len(parts.nonprojective):
        parts = parts._replace(nonprojective=nothing)
    return parts._replace(crossing=nothing) if True in counts and not len(parts.crossing) else parts
