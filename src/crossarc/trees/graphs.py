"""Dependency graphs: words may have several heads, but there is no cycle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import Constraints, UnsupportedConstraint
from crossarc.trees._graph_search import grow
from crossarc.trees._hill_climbing import graph_of
from crossarc.trees._hill_climbing import graph_score as sum_of_parts
from crossarc.trees._initial_tree import Start, best_tree_by_arcs, checked_search, find_start
from crossarc.trees._input import Scores, best_label_of_each_arc, checked_scores, checked_siblings, masked

__all__ = ["best_graph", "graph_score"]


def best_graph(
    arcs: ArrayLike,
    siblings: ArrayLike | None = None,
    *,
    constraints: Constraints | None = None,
    start: Start = "projective",
    max_changes: int | None = None,
) -> NDArray[np.bool_]:
    """A good acyclic graph in which every word has one or more heads.

    To find the best one is NP-hard. From a good tree, the search takes the change of a head or the
    additional head that raises the score most and makes no cycle, again and again, until none does. An
    arc is added if it is worth more than 0. The graph never scores lower than the tree it started from.

    Parameters
    ----------
    arcs : array of shape (n+1, n+1) or (n+1, n+1, L)
        ``arcs[h, m]`` is the score of the arc from head h to modifier m; -inf forbids it. The best label
        counts.
    siblings : array of shape (n+1, n+1, n+1), optional
        Scores of adjacent siblings, as in ``best_second_order_tree``.
    constraints : Constraints, optional
        Forbidden arcs and labels; required labels; required arcs, one for each word at most, beside which the word
        may have other heads.
    start : "projective" or "nonprojective"
        With siblings, the tree to start from, as in ``best_second_order_tree``. Without, it is always the
        best tree.
    max_changes : int, optional
        Stop after so many steps.

    Returns
    -------
    bool array of shape (n+1, n+1)
        ``heads[h, m]`` says whether h is a head of m. Every word can be reached from node 0.

    Raises
    ------
    NoTreeError
        There is no tree to start from; with siblings: the search found none.
    UnsupportedConstraint
        ``constraints`` has another constraint, or two required heads for a word.

    Notes
    -----
    A step takes O(n²) as long as there are O(n) arcs.

    References
    ----------
    Ryan McDonald and Fernando Pereira (2006), *Online Learning of Approximate Dependency Parsing
    Algorithms*, §3. EACL.

    Examples
    --------
    He (1) is the subject of both looks (2) and sees (3):

    >>> import numpy as np
    >>> arcs = np.full((4, 4), -1.0)
    >>> arcs[0, 2] = arcs[2, 3] = arcs[2, 1] = arcs[3, 1] = 1
    >>> heads = best_graph(arcs)
    >>> np.argwhere(heads).tolist()
    [[0, 2], [2, 1], [2, 3], [3, 1]]
    >>> graph_score(heads, arcs)
    4.0
    """
    limit = checked_search(start, max_changes)
    allowed, on_tree = _split(constraints or Constraints())
    arc_scores, sibling_scores = _checked(arcs, siblings, allowed)
    tree_scores = masked(arc_scores, on_tree)
    if siblings is None:
        heads = best_tree_by_arcs(tree_scores, single_root=False)
    else:
        heads = find_start(tree_scores, sibling_scores, start, single_root=False)
    graph: NDArray[np.bool_] = graph_of(heads)
    required = np.zeros_like(graph)
    for head, modifier in on_tree.required_arcs:
        required[head, modifier] = True
    grow(arc_scores, sibling_scores, graph, required, limit)
    return graph


def _split(constraints: Constraints) -> tuple[Constraints, Constraints]:
    """The constraints on all arcs of a graph, and those on the tree that it grows from."""
    if constraints.single_root or constraints.projective:
        raise UnsupportedConstraint("single_root and projective are constraints on trees, not on graphs")
    required = constraints.required_arcs
    if len({modifier for _, modifier in required}) < len(required):
        raise UnsupportedConstraint("only one head of each word of a graph can be required")
    return replace(constraints, required_arcs=frozenset()), Constraints(required_arcs=required)


def graph_score(heads: ArrayLike, arcs: ArrayLike, siblings: ArrayLike | None = None) -> float:
    """The sum of the scores of a graph's arcs and, if given, of its pairs of adjacent siblings. O(n²).

    ``heads`` is a bool array as returned by ``best_graph``, ``arcs`` and ``siblings`` are what it takes.
    """
    arc_scores, sibling_scores = _checked(arcs, siblings)
    graph = np.array(heads, dtype=np.bool_, order="C")
    if graph.shape != arc_scores.shape:
        raise ValueError(f"heads must have the shape {arc_scores.shape} of the arcs, not {graph.shape}")
    if graph[:, 0].any() or graph.diagonal().any():
        raise ValueError("heads must be False on the diagonal and in column 0")
    return float(sum_of_parts(arc_scores, sibling_scores, graph))


def _checked(
    arcs: ArrayLike, siblings: ArrayLike | None, constraints: Constraints | None = None
) -> tuple[Scores, Scores]:
    """The scores as the kernels want them; siblings without elements if there are none."""
    arc_scores, _ = best_label_of_each_arc(masked(checked_scores(arcs, name="arcs"), constraints))
    if siblings is None:
        return arc_scores, np.empty((0, 0, 0))
    return arc_scores, checked_siblings(siblings, len(arc_scores))
