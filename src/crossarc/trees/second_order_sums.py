"""Sums over projective trees with scores of adjacent siblings."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.trees._input import Scores, checked_scores, checked_siblings, no_tree
from crossarc.trees._inside_outside_second_order import log_partition_second_order, marginals_second_order

__all__ = ["second_order_log_partition", "second_order_marginals"]


def second_order_log_partition(arcs: ArrayLike, siblings: ArrayLike, *, single_root: bool = False) -> float:
    """The logarithm of the sum of exp(score) over all projective trees.

    The score of a tree is the sum of ``arcs[h, m] + siblings[h, s, m]`` over its arcs h -> m, where s is the
    modifier of h next to m towards h, or h itself if m is the first on its side (McDonald and Pereira 2006).
    Time O(n³).

    Parameters
    ----------
    arcs : array of shape (n+1, n+1)
    siblings : array of shape (n+1, n+1, n+1)
        ``-inf`` in either forbids an arc or a part; what no tree has is ignored.
    single_root : bool
        Only trees whose root has exactly one child.

    Raises
    ------
    NoTreeError
        If there is no such tree.

    Examples
    --------
    With zero scores, this counts trees: two words have three.

    >>> import numpy as np
    >>> log_z = second_order_log_partition(np.zeros((3, 3)), np.zeros((3, 3, 3)))
    >>> round(float(np.exp(log_z)), 9)
    3.0
    """
    arc_scores, sibling_scores = _checked(arcs, siblings)
    log_z = float(log_partition_second_order(arc_scores, sibling_scores, single_root))
    if log_z == -np.inf:
        raise no_tree("arcs and siblings", single_root=single_root, projective=True)
    return log_z


def second_order_marginals(
    arcs: ArrayLike, siblings: ArrayLike, *, single_root: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The probability of each arc and each part (h, s, m), when trees are drawn in proportion to exp(score).

    Parameters and the score of a tree are those of :func:`second_order_log_partition`. Time O(n³), by the
    inside-outside algorithm on the items of McDonald and Pereira (2006), Figure 3.

    Returns
    -------
    arc_marginals : array of shape (n+1, n+1)
    sibling_marginals : array of shape (n+1, n+1, n+1)
        ``arc_marginals[h, m]`` is the sum of ``sibling_marginals[h, s, m]`` over s.

    Raises
    ------
    NoTreeError
        If there is no tree.

    Examples
    --------
    >>> import numpy as np
    >>> arc_marginals, sibling_marginals = second_order_marginals(np.zeros((3, 3)), np.zeros((3, 3, 3)))
    >>> arc_marginals.round(3)
    array([[0.   , 0.667, 0.667],
           [0.   , 0.   , 0.333],
           [0.   , 0.333, 0.   ]])
    >>> float(sibling_marginals[0, 1, 2].round(3))
    0.333
    """
    arc_scores, sibling_scores = _checked(arcs, siblings)
    arc_marginals = np.empty(arc_scores.shape)
    sibling_marginals = np.empty(sibling_scores.shape)
    log_z = marginals_second_order(arc_scores, sibling_scores, single_root, arc_marginals, sibling_marginals)
    if log_z == -np.inf:
        raise no_tree("arcs and siblings", single_root=single_root, projective=True)
    return arc_marginals, sibling_marginals


def _checked(arcs: ArrayLike, siblings: ArrayLike) -> tuple[Scores, Scores]:
    arc_scores = checked_scores(arcs, name="arcs")
    if arc_scores.ndim != 2:
        raise ValueError(f"arcs must have shape (n+1, n+1), not {arc_scores.shape}")
    return arc_scores, checked_siblings(siblings, len(arc_scores))
