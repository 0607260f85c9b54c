"""Cycles, excluded only when they turn up: the alternative to flow of Riedel and Clarke (2006).

A set of words S is cut off from the root if too little comes in from outside: every tree has at least one arc from
outside of S into S. Sets that are cut off in a solution become rows, and the program is solved again from there. With
fractional solutions, the sets come from smallest cuts; when none is left, the solution is in the arborescence polytope.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from crossarc.programs.parts import Parts
from crossarc.programs.program import Block

__all__ = ["cuts"]

Indices = NDArray[np.int64]

_UNIT = 1 << 20  # flows are integers
_TOLERANCE = 1e-4


def cuts(parts: Parts, z: Indices, values: NDArray[np.float64]) -> Block | None:
    """Rows that the arcs' values break; None if there are none."""
    capacities = np.rint(np.clip(values, 0.0, 1.0) * _UNIT).astype(np.int32)
    used = capacities > 0
    graph = csr_array(
        (capacities[used], (parts.heads[used], parts.modifiers[used])), shape=(parts.size, parts.size), dtype=np.int32
    )
    sets: set[tuple[int, ...]] = set()
    separated = np.zeros(parts.size, dtype=np.bool_)
    for word in range(1, parts.size):
        if not separated[word]:
            apart = _cut_off(graph, word)
            if apart is not None:
                separated |= apart
                sets.add(tuple(np.flatnonzero(apart).tolist()))
    if not sets:
        return None
    rows, columns = [], []
    for i, words in enumerate(sorted(sets)):
        inside = np.isin(parts.modifiers, words) & ~np.isin(parts.heads, words)
        columns.append(z[inside])
        rows.append(np.full(inside.sum(), i))
    return Block.of(len(sets), 1.0, np.inf, (np.concatenate(rows), np.concatenate(columns), 1.0))


def _cut_off(graph: csr_array, word: int) -> NDArray[np.bool_] | None:
    """The smallest set around the word that less than one arc enters; None if there is no such set."""
    result = maximum_flow(graph, 0, word)
    if result.flow_value >= _UNIT * (1.0 - _TOLERANCE):
        return None
    residual = csr_array(graph - result.flow)
    residual.eliminate_zeros()
    apart = np.zeros(graph.shape[0], dtype=np.bool_)
    # backwards from the word: what still reaches it
    apart[breadth_first_order(csr_array(residual.T), word, return_predecessors=False)] = True
    return apart
