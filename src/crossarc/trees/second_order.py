"""The best tree under scores of adjacent siblings."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from crossarc.core import Constraints, Tree
from crossarc.trees._eisner_second_order import best_second_order_projective
from crossarc.trees._hill_climbing import climb
from crossarc.trees._input import (
    best_label_of_each_arc,
    checked_scores,
    checked_siblings,
    flags_of,
    masked,
    no_tree,
    tree_of,
)
from crossarc.trees._starts import Start, checked_search, find_start

__all__ = ["best_second_order_tree"]


def best_second_order_tree(
    arcs: ArrayLike,
    siblings: ArrayLike,
    *,
    constraints: Constraints | None = None,
    single_root: bool = False,
    projective: bool = True,
    start: Start = "projective",
    max_changes: int | None = None,
) -> Tree:
    """The tree with the highest sum of the scores of its arcs and of its pairs of adjacent siblings.

    The best projective tree is exact. To find the best of all trees is NP-hard, so ``projective=False``
    climbs: from a good tree it takes the single change of a head that raises the score most, again and
    again, until none does. The result never scores lower than the tree it started from.

    Parameters
    ----------
    arcs : array of shape (n+1, n+1) or (n+1, n+1, L)
        ``arcs[h, m]`` is the score of the arc from head h to modifier m; -inf forbids it.
    siblings : array of shape (n+1, n+1, n+1)
        ``siblings[h, s, m]`` is added for the arc from h to m if s is the child of h next to m, towards h
        and on the same side; s == h if m is the first child on its side. -inf forbids it. Other elements
        are ignored.
    constraints : Constraints, optional
    single_root : bool
        Exactly one word hangs on node 0. Climbing then keeps the child of the root that it started with.
    projective : bool
        No arcs cross: O(n³), Figure 3 of the paper. Otherwise Figure 4: each change takes O(n²).
    start : "projective" or "nonprojective"
        Where climbing starts: the best projective tree, or the best tree by the scores of the arcs alone.
        If a part of that one is forbidden, it starts from the other; if both are forbidden, from a tree
        that is found by climbing towards fewer forbidden parts.
    max_changes : int, optional
        Stop climbing after so many changes.

    Returns
    -------
    Tree

    Raises
    ------
    NoTreeError
        There is no tree; or, if not projective, the search found none.

    References
    ----------
    Ryan McDonald and Fernando Pereira (2006), *Online Learning of Approximate Dependency Parsing Algorithms*.
    EACL.

    Examples
    --------
    >>> import numpy as np
    >>> arcs, siblings = np.zeros((4, 4)), np.zeros((4, 4, 4))
    >>> arcs[0, 2], arcs[2, 1], arcs[3, 1] = 3, 1, 2
    >>> siblings[2, 2, 3] = 1  # 3 is the first child of 2 on the right
    >>> best_second_order_tree(arcs, siblings).heads.tolist()
    [-1, 2, 0, 2]
    >>> best_second_order_tree(arcs, siblings, projective=False).heads.tolist()
    [-1, 3, 0, 2]
    """
    limit = checked_search(start, max_changes)
    single_root, projective = flags_of(constraints, single_root=single_root, projective=projective)
    scores = checked_scores(arcs, name="arcs")
    arc_scores, labels = best_label_of_each_arc(masked(scores, constraints))
    sibling_scores = checked_siblings(siblings, len(arc_scores))
    if projective:
        heads = np.empty(len(arc_scores), dtype=np.int64)
        score = best_second_order_projective(arc_scores, sibling_scores, heads, single_root)
        if score == -np.inf:
            raise no_tree("arcs and siblings", single_root=single_root, projective=True)
    else:
        heads = find_start(arc_scores, sibling_scores, start, single_root=single_root)
        score = climb(arc_scores, sibling_scores, heads, single_root, limit)
    return tree_of(heads, labels, score)
