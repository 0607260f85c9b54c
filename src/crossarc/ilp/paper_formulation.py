"""Parts of more than one arc with the rows of the paper: Martins, Smith and Xing (2009), (14) to (21).

``nonlocal_parts`` has rows of our own, whose relaxation is tighter; these are there to be compared with them
(``solve(as_in_paper=True)``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crossarc.ilp.nonlocal_parts import conjunctions, siblings
from crossarc.ilp.parts import Parts
from crossarc.ilp.program import Program

__all__ = ["variables_of_parts"]

Indices = NDArray[np.int64]

_NOTHING = np.empty(0, dtype=np.int64)


def variables_of_parts(program: Program, parts: Parts, z: Indices) -> tuple[Indices, Indices, Indices, Indices]:
    """The variables of siblings, grandparents, next siblings and valencies (14-21)."""
    return (
        siblings(program, parts, z),
        grandparents(program, parts, z),
        consecutive_siblings(program, parts, z) if len(parts.next_siblings.first) else _NOTHING,
        valency(program, parts, z) if parts.valencies.size else _NOTHING,
    )


def grandparents(program: Program, parts: Parts, z: Indices) -> Indices:
    """An arc and the arc into its head (15). O(n |A|) variables and rows."""
    return conjunctions(program, parts.grandparents, z)


def consecutive_siblings(program: Program, parts: Parts, z: Indices) -> Indices:
    """Next siblings and first children by the paper's dynamic constraints (16-20). O(n |A|) variables and rows."""
    first, second, scores = parts.next_siblings
    columns = program.add_variables(scores)
    begins = first < 0
    _first_children(program, parts, z, columns[begins], second[begins])
    _next_siblings(program, parts, z, columns[~begins], first[~begins], second[~begins])
    return columns


def _first_children(program: Program, parts: Parts, z: Indices, columns: Indices, arcs: Indices) -> None:
    """z^first_ij = z_ij ∧ ¬γ_ij, where γ_ij says that i has a child before j, on the same side (17, 18, 20)."""
    nodes = np.arange(parts.size)
    i, j = np.nonzero(nodes[:, np.newaxis] != nodes)
    gamma = np.full((parts.size, parts.size), -1)
    gamma[i, j] = program.add_variables(np.where(abs(i - j) > 1, 0.0, -np.inf))  # γ_i(i+1) = 0
    arc = np.full((parts.size, parts.size), -1)
    arc[parts.heads, parts.modifiers] = z
    _conjunction_with_negation(program, columns, z[arcs], gamma[parts.heads[arcs], parts.modifiers[arcs]])
    after = np.where(j > i, j + 1, j - 1)
    inside = (after >= 0) & (after < parts.size)
    i, j, after = i[inside], j[inside], after[inside]
    _dynamic(program, gamma[i, after], gamma[i, j], np.flatnonzero(arc[i, j] >= 0), arc[i, j][arc[i, j] >= 0])


def _next_siblings(
    program: Program, parts: Parts, z: Indices, columns: Indices, inner: Indices, outer: Indices
) -> None:
    """z^next_ijk = z^sibl_ijk ∧ ¬β_jk; β_jk says that j has a sibling between itself and k (17, 18, 19)."""
    both = program.add_variables(np.zeros(len(columns)))
    rows = np.arange(len(both))
    program.add_rows(len(both), -np.inf, 0.0, (rows, both, 1.0), (rows, z[inner], -1.0))
    program.add_rows(len(both), -np.inf, 0.0, (rows, both, 1.0), (rows, z[outer], -1.0))
    program.add_rows(len(both), -1.0, np.inf, (rows, both, 1.0), (rows, z[inner], -1.0), (rows, z[outer], -1.0))
    nodes = np.arange(parts.size)
    j, k = np.nonzero(nodes[:, np.newaxis] != nodes)
    beta = np.full((parts.size, parts.size), -1)
    beta[j, k] = program.add_variables(np.where(abs(j - k) > 1, 0.0, -np.inf))  # β_j(j+1) = 0
    of_inner, of_outer = parts.modifiers[inner], parts.modifiers[outer]
    _conjunction_with_negation(program, columns, both, beta[of_inner, of_outer])
    after = np.where(k > j, k + 1, k - 1)
    inside = (after >= 0) & (after < parts.size)
    j, k, after = j[inside], k[inside], after[inside]
    number = np.full((parts.size, parts.size), -1)
    number[j, k] = np.arange(len(j))
    rows = number[of_inner, of_outer]
    _dynamic(program, beta[j, after], beta[j, k], rows[rows >= 0], both[rows >= 0])


def _conjunction_with_negation(program: Program, columns: Indices, given: Indices, unless: Indices) -> None:
    """x = given ∧ ¬unless (18)."""
    rows = np.arange(len(columns))
    program.add_rows(len(rows), -np.inf, 0.0, (rows, columns, 1.0), (rows, given, -1.0))
    program.add_rows(len(rows), -np.inf, 1.0, (rows, columns, 1.0), (rows, unless, 1.0))
    program.add_rows(len(rows), 0.0, np.inf, (rows, columns, 1.0), (rows, given, -1.0), (rows, unless, 1.0))


def _dynamic(program: Program, after: Indices, before: Indices, rows: Indices, event: Indices) -> None:
    """after = before ∨ event, row by row (19, 20); the events of a row exclude each other."""
    every = np.arange(len(after))
    program.add_rows(len(after), 0.0, np.inf, (every, after, 1.0), (every, before, -1.0))
    program.add_rows(len(after), 0.0, np.inf, (every, after, 1.0), (rows, event, -1.0))
    program.add_rows(len(after), -np.inf, 0.0, (every, after, 1.0), (every, before, -1.0), (rows, event, -1.0))


def valency(program: Program, parts: Parts, z: Indices) -> Indices:
    """Numbers of children (21), of each head or of each side of it. O(n K) variables, O(n) rows."""
    n_sides, most = parts.valencies.shape[1], parts.valencies.shape[2] - 1
    group = parts.heads * n_sides + (parts.sides if n_sides == 2 else 0)
    n_groups = parts.size * n_sides
    possible = np.bincount(group, minlength=n_groups)
    counts = np.arange(most + 1)
    scores = parts.valencies.reshape(n_groups, most + 1)
    columns = program.add_variables(np.where(counts <= possible[:, np.newaxis], scores, -np.inf), integral=True)
    rows = np.arange(n_groups)[:, np.newaxis]
    program.add_rows(n_groups, 1.0, 1.0, (rows, columns, 1.0))
    above = np.maximum(possible - most, 0.0)
    more = program.add_variables(np.zeros(n_groups), most=above)  # children beyond the K-th
    program.add_rows(n_groups, 0.0, 0.0, (rows, columns, counts), (rows[:, 0], more, 1.0), (group, z, -1.0))
    program.add_rows(n_groups, -np.inf, 0.0, (rows[:, 0], more, 1.0), (rows[:, 0], columns[:, -1], -above))
    return columns.reshape(parts.valencies.shape)
