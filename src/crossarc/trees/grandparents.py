"""The best tree under scores of grandparents."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import Constraints, Tree
from crossarc.trees._eisner_grandparents import best_projective_with_grandparents
from crossarc.trees._input import (
    FLOAT,
    Scores,
    bad_number,
    best_label_of_each_arc,
    checked_scores,
    flags_of,
    for_kernel,
    masked,
    no_tree,
    tree_of,
)

__all__ = ["best_grandparent_tree"]


def best_grandparent_tree(
    arcs: ArrayLike,
    grandparents: ArrayLike,
    *,
    constraints: Constraints | None = None,
    single_root: bool = False,
) -> Tree:
    """The projective tree with the highest sum of the scores of its arcs and of its pairs of arcs below each other.

    Exact, in O(n⁴) time and O(n³) memory: McDonald and Satta (2007, §6); Koo and Collins (2010), Model 0. To find the
    best of all trees is NP-hard (MS07, §5.2): that is for integer programs (``crossarc.ilp``).

    Parameters
    ----------
    arcs : array of shape (n+1, n+1) or (n+1, n+1, L)
        ``arcs[h, m]`` is the score of the arc from head h to modifier m; -inf forbids it.
    grandparents : array of shape (n+1, n+1, n+1)
        ``grandparents[g, h, m]`` is added for the arc from h to m if g is the head of h; -inf forbids it. Children of
        the root have no grandparent. Other elements are ignored.
    constraints : Constraints, optional
        Required and forbidden arcs and labels, ``single_root``.
    single_root : bool
        Exactly one word hangs from the root.

    Raises
    ------
    NoTreeError, ValueError, UnsupportedConstraint
        As `best_second_order_tree`.

    Examples
    --------
    >>> arcs, grandparents = np.zeros((4, 4)), np.zeros((4, 4, 4))
    >>> arcs[0, 2], grandparents[0, 2, 1], grandparents[2, 1, 3] = 3, 1, 1
    >>> grandparents[0, 2, 3] = 2  # as the other arcs below 2 say, but 1 -> 3 would cross 0 -> 2
    >>> tree = best_grandparent_tree(arcs, grandparents)
    >>> tree.heads.tolist(), tree.score
    ([-1, 2, 0, 2], 6.0)
    """
    single_root, _ = flags_of(constraints, single_root=single_root, projective=True)
    scores, labels = best_label_of_each_arc(masked(checked_scores(arcs, name="arcs"), constraints))
    heads = np.empty(len(scores), dtype=np.int64)
    of_grandparents = _checked_grandparents(grandparents, len(scores))
    score = best_projective_with_grandparents(scores, of_grandparents, single_root, heads)
    if score == -np.inf:
        raise no_tree("arcs and grandparents", single_root=single_root, projective=True)
    return tree_of(heads, labels, score)


def _checked_grandparents(grandparents: ArrayLike, size: int) -> Scores:
    """A copy with 0 where no tree has a part; raises ``ValueError`` for its shape, or a NaN or +inf that counts."""
    array = for_kernel(grandparents, FLOAT)
    if array.shape != (size, size, size):
        raise ValueError(f"grandparents must have shape ({size}, {size}, {size}) like the arcs, not {array.shape}")
    found = np.where(_parts(size), array, 0.0)
    bad = np.flatnonzero(~(found < np.inf))
    if len(bad):
        raise bad_number(found, int(bad[0]), "grandparents")
    return found


def _parts(size: int) -> NDArray[np.bool_]:
    """[g, h, m]: whether a tree may have the arcs g -> h -> m."""
    g, h, m = np.ogrid[:size, :size, :size]
    possible: NDArray[np.bool_] = (g != h) & (h != m) & (g != m) & (h > 0) & (m > 0)
    return possible
