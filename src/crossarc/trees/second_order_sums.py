"""Sums over projective trees with scores of adjacent siblings."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import Constraints
from crossarc.trees._input import Scores, checked_scores, checked_siblings, flags_of, masked, no_tree, summed_labels
from crossarc.trees._inside_outside_second_order import log_partition_second_order, marginals_second_order
from crossarc.trees.sums import shared_by_labels

__all__ = ["second_order_log_partition", "second_order_marginals"]


def second_order_log_partition(
    arcs: ArrayLike, siblings: ArrayLike, *, constraints: Constraints | None = None, single_root: bool = False
) -> float:
    """The logarithm of the sum of exp(score) over all projective trees.

    The score of a tree is the sum of ``arcs[h, m] + siblings[h, s, m]`` over its arcs h -> m, where s is the
    modifier of h next to m towards h, or h itself if m is the first on its side (McDonald and Pereira 2006).
    Time O(n³).

    Parameters
    ----------
    arcs : array of shape (n+1, n+1) or (n+1, n+1, L)
    siblings : array of shape (n+1, n+1, n+1)
        ``-inf`` in either forbids an arc or a part; what no tree has is ignored.
    constraints : Constraints, optional
        Only trees with these required and without these forbidden arcs and labels.
    single_root : bool
        Only trees whose root has exactly one child.

    Raises
    ------
    NoTreeError
        If there is no such tree.
    UnsupportedConstraint
        ``constraints`` limits the number of children or the degree of non-projectivity.

    Examples
    --------
    With zero scores, this counts trees: two words have three.

    >>> import numpy as np
    >>> log_z = second_order_log_partition(np.zeros((3, 3)), np.zeros((3, 3, 3)))
    >>> round(float(np.exp(log_z)), 9)
    3.0
    """
    single_root, _ = flags_of(constraints, single_root=single_root, projective=True)
    scores, sibling_scores = _checked(arcs, siblings, constraints)
    log_z = float(log_partition_second_order(summed_labels(scores), sibling_scores, single_root))
    _require_tree(log_z, single_root)
    return log_z


def second_order_marginals(
    arcs: ArrayLike, siblings: ArrayLike, *, constraints: Constraints | None = None, single_root: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The probability of each arc and each part (h, s, m), when trees are drawn in proportion to exp(score).

    Parameters and the score of a tree are those of :func:`second_order_log_partition`. Time O(n³), by the
    inside-outside algorithm on the items of McDonald and Pereira (2006), Figure 3.

    Returns
    -------
    arc_marginals : array like ``arcs``
    sibling_marginals : array of shape (n+1, n+1, n+1)
        ``arc_marginals[h, m]`` (summed over its labels) is the sum of ``sibling_marginals[h, s, m]`` over s.

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
    single_root, _ = flags_of(constraints, single_root=single_root, projective=True)
    scores, sibling_scores = _checked(arcs, siblings, constraints)
    sums = summed_labels(scores)
    arc_marginals, sibling_marginals = np.empty(sums.shape), np.empty(sibling_scores.shape)
    log_z = marginals_second_order(sums, sibling_scores, single_root, arc_marginals, sibling_marginals)
    _require_tree(log_z, single_root)
    return shared_by_labels(arc_marginals, scores, sums), sibling_marginals


def _checked(arcs: ArrayLike, siblings: ArrayLike, constraints: Constraints | None) -> tuple[Scores, Scores]:
    scores = masked(checked_scores(arcs, name="arcs"), constraints)
    return scores, checked_siblings(siblings, len(scores))


def _require_tree(log_z: float, single_root: bool) -> None:
    if log_z == -np.inf:
        raise no_tree("arcs and siblings", single_root=single_root, projective=True)
