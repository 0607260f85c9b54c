"""Parts of more than one arc: Martins, Smith and Xing (2009), §3.3 to §3.5.

Every function adds the variables of one kind of part and the rows that tie them to the arcs' variables ``z``. It
returns the columns of these variables, in the order of the parts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crossarc.ilp.arborescences import conflicts, excludes
from crossarc.ilp.parts import Pairs, Parts
from crossarc.ilp.program import Program

__all__ = [
    "conjunctions",
    "counting_automata",
    "crossing",
    "head_automata",
    "nonprojective",
    "nonprojective_marks",
    "one_grandparent",
    "siblings",
]

Indices = NDArray[np.int64]


def siblings(program: Program, parts: Parts, z: Indices) -> Indices:
    """Two children of one head (14). O(n |A|) variables and rows."""
    return conjunctions(program, parts.siblings, z)


def one_grandparent(program: Program, parts: Parts, z: Indices) -> Indices:
    """An arc and the arc into its head, of which there is exactly one: the relaxation is tighter than that of (15).

    O(n |A|) variables and rows.
    """
    first, second, scores = parts.grandparents
    columns = program.add_variables(scores)
    rows = np.arange(len(columns))
    program.add_rows(len(rows), -np.inf, 0.0, (rows, columns, 1.0), (rows, z[first], -1.0))
    arcs = np.flatnonzero(parts.heads > 0)
    program.add_rows(len(z), 0.0, 0.0, (second, columns, 1.0), (arcs, z[arcs], -1.0))
    return columns


def conjunctions(program: Program, pairs: Pairs, z: Indices) -> Indices:
    """z_ab = z_a ∧ z_b (13). The score's sign says which of the rows can ever hold back: only those are added."""
    columns = program.add_variables(pairs.scores)
    first, second = z[pairs.first], z[pairs.second]
    good, bad = np.flatnonzero(pairs.scores >= 0), np.flatnonzero(pairs.scores < 0)
    rows = np.arange(len(good))
    program.add_rows(len(good), -np.inf, 0.0, (rows, columns[good], 1.0), (rows, first[good], -1.0))
    program.add_rows(len(good), -np.inf, 0.0, (rows, columns[good], 1.0), (rows, second[good], -1.0))
    rows = np.arange(len(bad))
    program.add_rows(
        len(bad), -1.0, np.inf, (rows, columns[bad], 1.0), (rows, first[bad], -1.0), (rows, second[bad], -1.0)
    )
    return columns


def head_automata(program: Program, parts: Parts, z: Indices) -> Indices:
    """Next siblings and first children: the children on one side of a head are a path from the first to the last.

    The parts of ``paper_formulation.consecutive_siblings``, but the relaxation is as tight as can be for each head,
    with O(|A|) rows instead of O(n |A|).
    """
    first, second, scores = parts.next_siblings
    columns = program.add_variables(scores)
    n_arcs = len(z)
    every = np.arange(n_arcs)
    program.add_rows(n_arcs, 0.0, 0.0, (second, columns, 1.0), (every, z, -1.0))
    follows = first >= 0
    program.add_rows(n_arcs, -np.inf, 0.0, (first[follows], columns[follows], 1.0), (every, z, -1.0))
    begins = second[~follows]
    side = 2 * parts.heads[begins] + parts.sides[begins]
    program.add_rows(2 * parts.size, -np.inf, 1.0, (side, columns[~follows], 1.0))
    return columns


def counting_automata(program: Program, parts: Parts, z: Indices) -> Indices:
    """Numbers of children: the candidates on one side of a head are gone through and counted, one after the other.

    The parts of ``paper_formulation.valency``, but the relaxation is as tight as can be for each head; O(K |A|)
    variables and rows.
    """
    n_sides, most = parts.valencies.shape[1], parts.valencies.shape[2] - 1
    n_groups, n_arcs, counts = parts.size * n_sides, len(z), np.arange(most + 1)
    columns = program.add_variables(parts.valencies.reshape(n_groups, most + 1))
    group = parts.heads * n_sides + (parts.sides if n_sides == 2 else 0)
    order = np.argsort(group, kind="stable")
    first = np.r_[True, np.diff(group[order]) > 0]
    place = np.arange(n_arcs) - np.flatnonzero(first)[np.cumsum(first) - 1]
    # what is so far counted when the candidate comes, and whether it is taken
    reached = np.where(counts <= place[:, np.newaxis], 0.0, -np.inf)
    taken, left = program.add_variables(reached), program.add_variables(reached)
    arcs = np.arange(n_arcs)[:, np.newaxis]
    program.add_rows(n_arcs, 0.0, 0.0, (arcs, taken, 1.0), (arcs[:, 0], z[order], -1.0))
    # row (state, k): what comes in is what goes out, to the next candidate of the group or to its count in the end
    first_row = np.where(np.r_[first[1:], True], n_arcs + group[order], np.arange(1, n_arcs + 1))[:, np.newaxis]
    state = np.arange(n_arcs + n_groups)[:, np.newaxis] * (most + 1)
    into = first_row * (most + 1)
    begins = np.zeros((n_arcs + n_groups, most + 1))
    begins[:n_arcs, 0][first] = 1.0
    begins[n_arcs:, 0][np.bincount(group, minlength=n_groups) == 0] = 1.0
    program.add_rows(
        begins.size,
        begins.ravel(),
        begins.ravel(),
        (state[:n_arcs] + counts, taken, 1.0),
        (state[:n_arcs] + counts, left, 1.0),
        (state[n_arcs:] + counts, columns, 1.0),
        (into + counts, left, -1.0),
        (into + np.minimum(counts + 1, most), taken, -1.0),
    )
    return columns.reshape(parts.valencies.shape)


def nonprojective(program: Program, parts: Parts, z: Indices, paths: Indices) -> Indices:
    """Arcs with a word in their span to which there is no path from their head (after 27). O(n |A|) rows.

    ``paths`` come from ``multi_commodity_flow``. Arcs from the root are projective.
    """
    columns = nonprojective_marks(program, parts, z)
    span = abs(parts.heads - parts.modifiers) - 1
    every = np.arange(len(z))
    low, high = np.minimum(parts.heads, parts.modifiers), np.maximum(parts.heads, parts.modifiers)
    nodes = np.arange(parts.size)
    arcs, words = np.nonzero((low[:, np.newaxis] < nodes) & (nodes < high[:, np.newaxis]))
    arcs, words = arcs[parts.heads[arcs] > 0], words[parts.heads[arcs] > 0]
    path = paths[parts.heads[arcs], words]
    rows = np.arange(len(arcs))
    program.add_rows(len(arcs), 0.0, np.inf, (rows, columns[arcs], 1.0), (rows, z[arcs], -1.0), (rows, path, 1.0))
    program.add_rows(len(z), -np.inf, span, (every, columns, 1.0), (arcs, path, 1.0))
    return columns


def nonprojective_marks(program: Program, parts: Parts, z: Indices) -> Indices:
    """The variables of ``nonprojective``; what is not projective is left to cutting planes."""
    span = abs(parts.heads - parts.modifiers) - 1
    scores = parts.nonprojective if len(parts.nonprojective) else np.zeros(len(z))
    columns = program.add_variables(np.where((parts.heads > 0) & (span > 0), scores, -np.inf))
    every = np.arange(len(z))
    program.add_rows(len(z), -np.inf, 0.0, (every, columns, 1.0), (every, z, -1.0))
    return columns


def crossing(program: Program, parts: Parts, z: Indices) -> Indices:
    """Arcs that cross others (end of §3.5). O(n |A|) rows: one for each arc and each word whose head crosses it."""
    pairs = conflicts(parts, cycles=False)
    scores = parts.crossing if len(parts.crossing) else np.zeros(len(z))
    columns = program.add_variables(np.where(pairs.any(axis=1), scores, -np.inf))
    every = np.arange(len(z))
    program.add_rows(len(z), -np.inf, 0.0, (every, columns, 1.0), (every, z, -1.0))
    first, second = np.nonzero(pairs)
    program.add_rows(len(z), -np.inf, 0.0, (every, columns, 1.0), (first, z[second], -1.0))
    excludes(program, parts, z, pairs, slacks=columns)
    return columns
