"""Where a search by second-order scores starts: a good tree that can be found exactly."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from crossarc.core import NoTreeError
from crossarc.trees._chu_liu_edmonds import best_arborescence
from crossarc.trees._eisner_second_order import best_second_order_projective
from crossarc.trees._hill_climbing import climb, graph_of, graph_score
from crossarc.trees._input import Scores, no_tree

Start = Literal["projective", "nonprojective"]
Heads = NDArray[np.int64]
UNLIMITED = int(np.iinfo(np.int64).max)


def checked_search(start: str, max_changes: int | None) -> int:
    """The largest number of changes; raises ``ValueError`` if an option is not what it can be."""
    if start not in get_args(Start):
        raise ValueError(f"start must be one of {get_args(Start)}, not {start!r}")
    if max_changes is None:
        return UNLIMITED
    if max_changes < 0:
        raise ValueError(f"max_changes must not be negative, but is {max_changes}")
    return max_changes


def find_start(arcs: Scores, siblings: Scores, start: Start, *, single_root: bool) -> Heads:
    """The heads of the best projective tree, or of the best tree by the scores of the arcs alone.

    If a part of the tree asked for is forbidden (-inf), the other one is taken; if both are, one is repaired.
    """
    by_arcs = best_tree_by_arcs(arcs, single_root=single_root)
    permitted = graph_score(arcs, siblings, graph_of(by_arcs)) > -np.inf
    if start == "nonprojective" and permitted:
        return by_arcs
    projective = np.empty_like(by_arcs)
    if best_second_order_projective(arcs, siblings, projective, single_root) > -np.inf:
        return projective
    return by_arcs if permitted else _repaired(arcs, siblings, by_arcs, single_root)


def best_tree_by_arcs(arcs: Scores, *, single_root: bool) -> Heads:
    """The heads of the best tree by the scores of the arcs alone."""
    heads = np.empty(len(arcs), dtype=np.int64)
    if best_arborescence(arcs, single_root, heads) == -np.inf:
        raise no_tree("arcs", single_root=single_root)
    return heads


def _repaired(arcs: Scores, siblings: Scores, heads: Heads, single_root: bool) -> Heads:
    """A tree without forbidden parts, found by climbing from one with some towards fewer of them."""
    forbidden_arcs = np.where(arcs == -np.inf, -1.0, 0.0)
    forbidden_siblings = np.where(siblings == -np.inf, -1.0, 0.0)
    if climb(forbidden_arcs, forbidden_siblings, heads, single_root, UNLIMITED) < 0:
        raise NoTreeError("the search found no tree that the scores and constraints allow")
    return heads
