"""What makes a set of arcs a tree: Martins, Smith and Xing (2009), §3.1, §3.5 and §3.6.

Every function adds rows over the arcs' variables ``z`` to a program; the arcs are those of ``parts``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crossarc.ilp.parts import Parts
from crossarc.ilp.program import Program

__all__ = [
    "conflicts",
    "excludes",
    "multi_commodity_flow",
    "one_head",
    "projective",
    "single_commodity_flow",
    "single_root",
]

Indices = NDArray[np.int64]


def one_head(program: Program, parts: Parts, z: Indices) -> None:
    """Each word has one head (7). That the root has none (8) lies in the candidates."""
    program.add_rows(parts.size - 1, 1.0, 1.0, (parts.modifiers - 1, z, 1.0))


def single_root(program: Program, parts: Parts, z: Indices) -> None:
    """Exactly one word hangs from the root."""
    from_root = z[parts.heads == 0]
    program.add_rows(1, 1.0, 1.0, (np.zeros_like(from_root), from_root, 1.0))


def single_commodity_flow(program: Program, parts: Parts, z: Indices) -> None:
    """No cycles (4-6): the root sends n units of flow through the arcs of the tree, and each word consumes one.

    O(|A|) variables and rows. The relaxation is an outer bound of the arborescence polytope (10).
    """
    n = parts.size - 1
    flow = program.add_variables(np.zeros(len(z)), most=n)
    from_root = parts.heads == 0
    program.add_rows(1, n, n, (np.zeros(from_root.sum(), dtype=np.int64), flow[from_root], 1.0))  # (4)
    within = ~from_root
    program.add_rows(
        n, 1.0, 1.0, (parts.modifiers - 1, flow, 1.0), (parts.heads[within] - 1, flow[within], -1.0)
    )  # (5)
    every = np.arange(len(z))
    program.add_rows(len(z), -np.inf, 0.0, (every, flow, 1.0), (every, z, -n))  # (6)


def multi_commodity_flow(program: Program, parts: Parts, z: Indices) -> Indices:
    """No cycles (22-26): the root sends one unit of a commodity of its own to each word, through arcs of the tree.

    Returns the columns of ``paths[j, k]``: whether there is a path from j to k (27). O(n |A|) variables and rows. The
    relaxation is the arborescence polytope itself.
    """
    n, n_arcs = parts.size - 1, len(z)
    words = np.arange(1, n + 1)
    # A word passes nothing of its own commodity on.
    passes = parts.heads[:, np.newaxis] != words
    flow = program.add_variables(np.where(passes, 0.0, -np.inf))  # flow[a, k - 1]
    heads, modifiers = parts.heads[:, np.newaxis], parts.modifiers[:, np.newaxis]
    commodities = np.broadcast_to(words, flow.shape)
    from_root = parts.heads == 0
    program.add_rows(n, 1.0, 1.0, (commodities[from_root] - 1, flow[from_root], 1.0))  # (22)
    paths = program.add_variables(np.zeros((parts.size, n)))  # (27)
    program.add_rows(n, 1.0, 1.0, (words - 1, paths[0], 1.0))
    arrives = (modifiers - 1) * n + commodities - 1
    every = np.arange(n * n).reshape(n, n)
    program.add_rows(n * n, 0.0, 0.0, (every, paths[1:], 1.0), (arrives, flow, -1.0))
    # (23): what arrives at j is consumed there or leaves it
    within = ~from_root
    leaves = ((heads - 1) * n + commodities - 1)[within]
    program.add_rows(n * n, np.eye(n).ravel(), np.eye(n).ravel(), (every, paths[1:], 1.0), (leaves, flow[within], -1.0))
    every = np.arange(n_arcs * n).reshape(n_arcs, n)
    program.add_rows(n_arcs * n, -np.inf, 0.0, (every, flow, 1.0), (every, z[:, np.newaxis], -1.0))  # (24)
    program.add_rows(1, n, n, (np.zeros_like(z), z, 1.0))  # (25)
    return np.concatenate([np.full((parts.size, 1), -1), paths], axis=1)


def projective(program: Program, parts: Parts, z: Indices) -> None:
    """No cycles and no crossing arcs (Proposition 1).

    A row for each arc and each word k: the arc excludes all arcs into k that leave its span or enter it. (One row for
    each arc would do, as the paper says; its relaxation is weaker.) For k outside of the span, the paper's inequalities
    are strict, which would leave each head one child; they must be strict for the head of the arc only.
    """
    excludes(program, parts, z, conflicts(parts, cycles=True))


def excludes(
    program: Program,
    parts: Parts,
    z: Indices,
    conflicting: NDArray[np.bool_],
    slacks: Indices | None = None,
) -> None:
    """z[a] + (the sum of z[b] over all b into k with conflicting[a, b]) <= 1 for each arc a and word k.

    With ``slacks``, slacks[a] takes up what is above 1.
    """
    first, second = np.nonzero(conflicting)
    pairs, rows = np.unique(first * parts.size + parts.modifiers[second], return_inverse=True)
    arcs = pairs // parts.size
    every = np.arange(len(pairs))
    above = [] if slacks is None else [(every, slacks[arcs], -1.0)]
    program.add_rows(len(pairs), -np.inf, 1.0, (every, z[arcs], 1.0), (rows, z[second], 1.0), *above)


def conflicts(parts: Parts, *, cycles: bool, arcs: Indices | None = None) -> NDArray[np.bool_]:
    """conflicting[a, b]: arcs a (all, or those of these numbers) and b cross.

    With ``cycles`` also: the head of a depends on a word in the span of a, or on its modifier.
    """
    left, right = np.minimum(parts.heads, parts.modifiers), np.maximum(parts.heads, parts.modifiers)
    own = np.arange(len(parts.heads)) if arcs is None else arcs
    low, high = left[own, np.newaxis], right[own, np.newaxis]
    crossing: NDArray[np.bool_] = ((low < left) & (left < high) & (high < right)) | (
        (left < low) & (low < right) & (right < high)
    )
    if cycles:
        into_head = parts.modifiers == parts.heads[own, np.newaxis]
        crossing |= into_head & (low <= parts.heads) & (parts.heads <= high)
    return crossing
