"""Min-risk decoding: the tree with the most arcs that are expected to be right."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from crossarc.core import Constraints, Tree
from crossarc.trees._batch import Group, alone
from crossarc.trees._input import Scores
from crossarc.trees.best import best_tree
from crossarc.trees.sums import sums_of

__all__ = ["min_risk_tree"]


def min_risk_tree(
    scores: ArrayLike,
    *,
    constraints: Constraints | None = None,
    single_root: bool = False,
    projective: bool = False,
) -> Tree:
    """The tree with the highest expected number of correct (labelled) arcs (McDonald & Satta 2007, §4.2).

    It is the best tree when the score of an arc is its probability, and its own ``score`` is that expected number:
    between 0 and n. Arcs that the scores forbid stay forbidden. O(n³ + n²L).

    Parameters
    ----------
    scores : array of shape (n+1, n+1) or (n+1, n+1, L)
        Log-weights of the arcs; -inf forbids one.
    constraints : Constraints, optional
        On both the trees that count and the answer.
    single_root, projective : bool
        Both the trees that count and the answer have one child of the root; no crossing arcs.

    Raises
    ------
    NoTreeError, ValueError, UnsupportedConstraint
        As `best_tree`.

    Examples
    --------
    >>> scores = [[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0]]
    >>> tree = min_risk_tree(scores)
    >>> tree.heads.tolist(), round(tree.score, 3)
    ([-1, 2, 0, 2], 3.0)
    """
    group = alone(scores, constraints, single_root, projective)
    _, (probabilities,) = sums_of(group)
    return safest_tree(probabilities, group)


def safest_tree(probabilities: Scores, group: Group) -> Tree:
    """The tree with the most expected arcs, among those that a sentence may have."""
    (scores,) = group.sentences
    arcs = np.where(scores == -np.inf, -np.inf, probabilities)
    return best_tree(arcs, single_root=group.single_root, projective=group.projective)
