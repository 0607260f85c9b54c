"""Clauses of dual decomposition about arcs that cross, found where a solution breaks them.

An arc and the arcs into one word that cross it exclude each other, unless the arc is marked as one that crosses others:
the rows of ``arborescences.projective`` and ``nonlocal_parts.crossing``, of which few are ever needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.ilp.arborescences import conflicts
from crossarc.ilp.parts import Parts

__all__ = ["Literals", "broken_exclusions", "exclusions", "good_marks_of_arcs", "unfounded_marks"]

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]


class Literals(NamedTuple):
    """The literals of clauses: of which clause, the variable, whether negated; how many are true at least and most."""

    rows: Indices
    variables: Indices
    negated: NDArray[np.bool_]
    least: Floats
    most: Floats


def broken_exclusions(parts: Parts, unmarked: Floats, arcs: Floats, tolerance: float, *, cycles: bool) -> Indices:
    """``[i, (a, k)]``: there is more than 1 of arc a without a mark, and of those into word k that cross it.

    With ``cycles``, the head of a must not depend on a word in its span either.
    """
    own = np.flatnonzero(unmarked > tolerance)
    first, second = np.nonzero(conflicts(parts, cycles=cycles, arcs=own) & (arcs > 0.1 * tolerance))
    sums = np.bincount(first * parts.size + parts.modifiers[second], arcs[second], minlength=len(own) * parts.size)
    which, words = np.nonzero(sums.reshape(len(own), parts.size) + unmarked[own, np.newaxis] > 1.0 + tolerance)
    return np.stack([own[which], words], axis=1)


def exclusions(parts: Parts, pairs: Indices, marks: Indices | None, *, cycles: bool) -> Literals:
    """That at most one is there of arc a and of those into word k that cross it, for pairs (a, k); or a's mark is."""
    arcs, words = pairs.T
    every, ones = np.arange(len(pairs)), np.ones(len(pairs))
    crossing = conflicts(parts, cycles=cycles, arcs=arcs) & (parts.modifiers == words[:, np.newaxis])
    rows, others = np.nonzero(crossing)
    rows, variables = np.concatenate([every, rows]), np.concatenate([arcs, others])
    if marks is None:
        return Literals(rows, variables, np.zeros(len(rows), np.bool_), 0.0 * ones, ones)
    negated = np.arange(len(rows) + len(pairs)) >= len(rows)
    literals = np.concatenate([rows, every]), np.concatenate([variables, marks[arcs]])
    return Literals(*literals, negated, 0.0 * ones, 2.0 * ones)


def good_marks_of_arcs(arcs: Indices, marks: Indices) -> Literals:
    """That an arc is there if it is marked: for marks that are an advantage."""
    every, ones = np.arange(len(marks)), np.ones(len(marks))
    negated = np.repeat([False, True], len(marks))
    return Literals(np.concatenate([every, every]), np.concatenate([arcs, marks]), negated, ones, np.inf * ones)


def unfounded_marks(parts: Parts, own: Indices, marks: Indices) -> Literals:
    """That an arc of these is marked only if one is there that crosses it."""
    rows, others = np.nonzero(conflicts(parts, cycles=False, arcs=own))
    every, ones = np.arange(len(own)), np.ones(len(own))
    negated = np.arange(len(rows) + len(own)) >= len(rows)
    literals = np.concatenate([rows, every]), np.concatenate([others, marks[own]])
    return Literals(*literals, negated, ones, np.inf * ones)
