"""What becomes of a tree that constraints do not allow: the allowed one that is nearest to it.

Greedy decisions may end where no allowed tree is left. The best tree over all arcs is easy to find, and so is the best
projective one. Neither may exist within a degree of non-projectivity that others keep to; those are the solutions of
an integer program.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crossarc.core import NoTreeError
from crossarc.ilp.deadline import Deadline
from crossarc.ilp.highs import Infeasible, Solver
from crossarc.ilp.program import Block, Program
from crossarc.parsers.covington._graph import NO_LIMIT
from crossarc.trees import best_tree
from crossarc.trees.shape import arc_degrees, degree

__all__ = ["nearest_tree"]

Heads = NDArray[np.int64]

_SECONDS = 5.0  # for the nearest tree; then any will do


def nearest_tree(heads: Heads, allowed: NDArray[np.bool_], *, single_root: bool, max_degree: int) -> Heads:
    """The heads of an allowed tree with many arcs of the given one; as many as there can be if no degree is forbidden.

    ``heads[0]`` is ignored, ``allowed[h, m]`` says which arcs there may be.

    Raises
    ------
    NoTreeError : if there is none

    >>> allowed = np.array([[False, True, False], [False, False, True], [False, True, False]])
    >>> nearest_tree(np.array([-1, 0, 0]), allowed, single_root=False, max_degree=0).tolist()
    [-1, 0, 1]
    """
    scores = np.where(allowed, 0.0, -np.inf)
    words = np.arange(1, len(heads))
    scores[heads[1:], words] += 1.0
    nearest = best_tree(scores, single_root=single_root, projective=max_degree == 0).heads
    if max_degree == NO_LIMIT or degree(nearest) <= max_degree:
        return nearest
    try:
        return best_tree(scores, single_root=single_root, projective=True).heads
    except NoTreeError:
        pass
    found = _tree_of_degree(scores, single_root, max_degree, time_limit=_SECONDS)
    if found is None:
        found = _tree_of_degree(np.minimum(scores, 0.0), single_root, max_degree, time_limit=None)
    assert found is not None  # there was no limit to its time
    return found


def _tree_of_degree(
    scores: NDArray[np.float64], single_root: bool, max_degree: int, *, time_limit: float | None
) -> Heads | None:
    """The best tree within a degree, by an integer program; of two that are as good, the one with shorter arcs.

    Cycles and arcs of a higher degree are excluded when they turn up. None if that takes more seconds than it may.
    """
    size = len(scores)
    nodes = np.arange(size)
    lengths = abs(nodes[:, None] - nodes)
    program = Program()
    arcs = program.add_variables(scores - 0.5 * lengths / size**2, integral=True)
    words = nodes[1:]
    program.add_rows(len(words), 1.0, 1.0, (words - 1, arcs[:, 1:], 1.0))
    if single_root:
        program.add_rows(1, 1.0, 1.0, (0, arcs[0], 1.0))
    solver = Solver(program, Deadline.after(time_limit))
    try:
        while True:
            answer = solver.integer(np.empty(0, dtype=np.int64), np.empty(0))
            if answer.values is None or not answer.done:
                return None
            heads = np.append(-1, answer.values[arcs[:, 1:]].argmax(axis=0))
            rows = _cycles(heads, arcs) or _degrees(heads, arcs, max_degree)
            if not rows:
                return heads
            for row in rows:
                solver.add(row)
    except Infeasible:
        raise NoTreeError(f"the constraints allow no tree of degree {max_degree} or less") from None


def _cycles(heads: Heads, arcs: Heads) -> list[Block]:
    """For each cycle: one of its words has a head outside."""
    found, seen = [], {0}
    for word in range(1, len(heads)):
        path: list[int] = []
        while word not in seen:
            seen.add(word)
            path.append(word)
            word = int(heads[word])
        if word in path:
            cycle = np.array(path[path.index(word) :])
            outside = np.setdiff1d(np.arange(len(heads)), cycle)
            found.append(Block.of(1, 1.0, np.inf, (0, arcs[np.ix_(outside, cycle)], 1.0)))
    return found


def _degrees(heads: Heads, arcs: Heads, max_degree: int) -> list[Block]:
    """For each arc of a higher degree: if there is one between its words, few of those between have heads outside."""
    found = []
    for word in np.flatnonzero(arc_degrees(heads) > max_degree).tolist():
        low, high = sorted((word, int(heads[word])))
        inside, outside = np.arange(low + 1, high), np.r_[:low, high + 1 : len(heads)]
        ends = arcs[[low, high], [high, low]]
        terms = (0, arcs[np.ix_(outside, inside)], 1.0), (0, ends, len(inside) - max_degree)
        found.append(Block.of(1, -np.inf, len(inside), *terms))
    return found
