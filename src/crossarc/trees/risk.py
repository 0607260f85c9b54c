"""Min-risk decoding: the tree with the most arcs that are expected to be right."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import Constraints, Tree
from crossarc.trees._batch import (
    ConstraintsOfEach,
    Group,
    Lengths,
    ListOfScores,
    alone,
    groups_of,
    of_groups,
)
from crossarc.trees._input import Scores
from crossarc.trees.best import best_tree, best_trees_of
from crossarc.trees.sums import sums_of

__all__ = ["min_risk_tree", "min_risk_trees"]


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


def min_risk_trees(
    list_of_scores: ListOfScores,
    *,
    lengths: Lengths = None,
    constraints: ConstraintsOfEach = None,
    single_root: bool = False,
    projective: bool = False,
    threads: int = 1,
) -> list[Tree]:
    """`min_risk_tree` of many sentences, with the parameters and the errors of `best_trees`.

    Examples
    --------
    >>> import numpy as np
    >>> trees = min_risk_trees([np.zeros((3, 3)), np.array([[0, 1, 5], [0, 0, 2], [0, 4, 0]])])
    >>> [(tree.heads.tolist(), round(tree.score, 2)) for tree in trees]
    [([-1, 0, 0], 1.33), ([-1, 2, 0], 1.95)]
    """
    groups = groups_of(list_of_scores, lengths, constraints, single_root, projective, limits_children=True)
    return of_groups(_safest_trees, groups, threads)


def safest_tree(probabilities: Scores, group: Group) -> Tree:
    """The tree with the most expected arcs, among those that a sentence may have."""
    (scores,) = group.sentences
    limits = {} if group.limits is None else dict(enumerate(group.limits.tolist()))
    kind = Constraints(single_root=group.single_root, projective=group.projective, max_children=limits)
    return best_tree(_expected(probabilities, scores), constraints=kind)


def _safest_trees(group: Group, threads: int) -> list[Tree]:
    _, probabilities = sums_of(group, threads)
    return best_trees_of(group._replace(sentences=list(map(_expected, probabilities, group.sentences))), threads)


def _expected(probabilities: Scores, scores: NDArray[Any]) -> Scores:
    """How many right (labelled) arcs are expected of each; -inf where it is forbidden."""
    return np.where(scores == -np.inf, -np.inf, probabilities)
