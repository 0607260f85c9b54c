"""Cycles, excluded only when they turn up: the alternative to flow of Riedel and Clarke (2006).

A set of words S is cut off from the root if too little comes in from outside: every tree has at least one arc from
outside of S into S. Sets that are cut off in a solution become rows, and the program is solved again from there. With
fractional solutions, the sets come from smallest cuts; when none is left, the solution is in the arborescence polytope.

Non-projective arcs are marked in the same way, without a flow for each word: only where a solution marks them wrongly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crossarc.ilp._cuts import cut_sets, unreached_spans
from crossarc.ilp.parts import Parts
from crossarc.ilp.program import Block
from crossarc.trees import nonprojective_arcs

__all__ = ["cuts", "nonprojective_cuts", "projective_cuts"]

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

_TOLERANCE = 1e-5


def cuts(parts: Parts, z: Indices, values: Floats) -> Block | None:
    """Rows against cycles that the values of arcs break; None if there are none."""
    sets: NDArray[np.bool_] = cut_sets(_capacity(parts, values), _TOLERANCE)
    if not len(sets):
        return None
    rows, arcs = np.nonzero(sets[:, parts.modifiers] & ~sets[:, parts.heads])
    return Block.of(len(sets), 1.0, np.inf, (rows, z[arcs], 1.0))


def nonprojective_cuts(parts: Parts, z: Indices, values: Floats, marks: Indices, marked: Floats) -> Block | None:
    """Rows against arcs that are not projective but not marked so; None if there are none.

    Let S have the head of an arc, but not some word in its span. The arc is projective only if an arc leaves S.
    """
    arcs, sets = unreached_spans(_capacity(parts, values), parts.heads, parts.modifiers, values, marked, _TOLERANCE)
    if not len(arcs):
        return None
    rows, leaving = np.nonzero(sets[:, parts.heads] & ~sets[:, parts.modifiers])
    every = np.arange(len(arcs))
    return Block.of(len(arcs), 0.0, np.inf, (every, marks[arcs], 1.0), (every, z[arcs], -1.0), (rows, z[leaving], 1.0))


def projective_cuts(parts: Parts, z: Indices, tree: Indices, marks: Indices, marked: Floats) -> Block | None:
    """Rows against arcs of a tree that are projective but marked as if they were not; None if there are none.

    All the arcs on the paths from the head to the words in the span exclude that mark.
    """
    wrong = np.flatnonzero((marked > 0.5) & (tree[parts.modifiers] == parts.heads))
    wrong = wrong[~nonprojective_arcs(tree)[parts.modifiers[wrong]]]
    if not len(wrong):
        return None
    number = np.full(parts.size, -1)
    chosen = np.flatnonzero(tree[parts.modifiers] == parts.heads)
    number[parts.modifiers[chosen]] = chosen
    rows, columns, most = [], [], []
    for i, arc in enumerate(wrong.tolist()):
        words = _words_on_paths(tree, int(parts.heads[arc]), int(parts.modifiers[arc]))
        rows += [i] * len(words)
        columns += [int(z[number[word]]) for word in words]
        most.append(len(words))
    return Block.of(len(wrong), -np.inf, most, (np.arange(len(wrong)), marks[wrong], 1.0), (rows, columns, 1.0))


def _words_on_paths(tree: Indices, head: int, modifier: int) -> list[int]:
    """The words on the paths from the head to all words in the span of an arc, the head left out."""
    words = set()
    for word in range(min(head, modifier) + 1, max(head, modifier)):
        while word != head and word not in words:
            words.add(word)
            word = int(tree[word])
    return sorted(words)


def _capacity(parts: Parts, values: Floats) -> Floats:
    capacity = np.zeros((parts.size, parts.size))
    capacity[parts.heads, parts.modifiers] = values
    return capacity
