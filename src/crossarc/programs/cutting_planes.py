"""Cycles, excluded only when they turn up: the alternative to flow of Riedel and Clarke (2006).

A set of words S is cut off from the root if too little comes in from outside: every tree has at least one arc from
outside of S into S. Sets that are cut off in a solution become rows, and the program is solved again from there. With
fractional solutions, the sets come from smallest cuts; when none is left, the solution is in the arborescence polytope.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crossarc.programs._cuts import cut_sets
from crossarc.programs.parts import Parts
from crossarc.programs.program import Block

__all__ = ["cuts"]

_TOLERANCE = 1e-5


def cuts(parts: Parts, z: NDArray[np.int64], values: NDArray[np.float64]) -> Block | None:
    """Rows that the arcs' values break; None if there are none."""
    capacity = np.zeros((parts.size, parts.size))
    capacity[parts.heads, parts.modifiers] = values
    sets: NDArray[np.bool_] = cut_sets(capacity, _TOLERANCE)
    if not len(sets):
        return None
    rows, arcs = np.nonzero(sets[:, parts.modifiers] & ~sets[:, parts.heads])
    return Block.of(len(sets), 1.0, np.inf, (rows, z[arcs], 1.0))
