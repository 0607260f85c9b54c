"""The k best trees of a sentence."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from crossarc.core import Constraints, Tree
from crossarc.trees._batch import ConstraintsOfEach, Group, Lengths, ListOfScores, groups_of, of_sentences
from crossarc.trees._camerini import k_best_arborescences
from crossarc.trees._eisner_k_best import k_best_projective
from crossarc.trees._input import Scores, checked_scores, flags_of, masked, no_tree

__all__ = ["k_best_trees", "k_best_trees_batch"]


def k_best_trees(
    scores: ArrayLike,
    k: int,
    *,
    constraints: Constraints | None = None,
    single_root: bool = False,
    projective: bool = False,
) -> list[Tree]:
    """The k trees with the highest scores, all different, best first; all trees if there are fewer than k.

    Non-projective: Camerini, Fratta and Maffioli (1980) in O(kn²), with one root too. Projective: k-best
    Eisner. Labels are parallel arcs (McDonald and Satta 2007, §3): trees that differ in a label are different
    trees.

    Parameters
    ----------
    scores : array of shape (n+1, n+1) or (n+1, n+1, L)
    k : int
        How many trees, at least 1.
    constraints, single_root, projective
        Which trees there are: see `best_tree`.

    Raises
    ------
    NoTreeError, ValueError, UnsupportedConstraint
        As `best_tree`; ``ValueError`` also if k < 1.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0]])
    >>> [(tree.heads.tolist(), tree.score) for tree in k_best_trees(scores, 2)]
    [([-1, 2, 0, 2], 70.0), ([-1, 0, 1, 2], 59.0)]
    """
    count = _checked_k(k)
    single_root, projective = flags_of(constraints, single_root=single_root, projective=projective)
    array = masked(checked_scores(scores), constraints)
    return _k_best(array, count, single_root, projective, "scores")


def k_best_trees_batch(
    list_of_scores: ListOfScores,
    k: int,
    *,
    lengths: Lengths = None,
    constraints: ConstraintsOfEach = None,
    single_root: bool = False,
    projective: bool = False,
    threads: int = 1,
) -> list[list[Tree]]:
    """`k_best_trees` of many sentences, with the parameters and the errors of `best_trees`.

    Examples
    --------
    >>> import numpy as np
    >>> [len(trees) for trees in k_best_trees_batch([np.zeros((3, 3)), np.zeros((4, 4))], 10)]
    [3, 10]
    """
    count = _checked_k(k)

    def find(scores: Scores, group: Group, i: int) -> list[Tree]:
        return _k_best(scores, count, group.single_root, group.projective, group.name_of(i))

    groups = groups_of(list_of_scores, lengths, constraints, single_root, projective)
    return of_sentences(find, groups, threads)


def _checked_k(k: int) -> int:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    return int(k)


def _k_best(scores: Scores, k: int, single_root: bool, projective: bool, name: str) -> list[Tree]:
    size = len(scores)
    find = k_best_projective if projective else k_best_arborescences
    count, heads, labels, totals = find(scores.reshape(size, size, -1), k, single_root)
    if count == 0:
        raise no_tree(name, single_root=single_root, projective=projective)
    # Scores that are equal but for rounding may have been found in the other order.
    order = np.argsort(-totals[:count], kind="stable")
    return [Tree(heads[i], labels[i] if scores.ndim == 3 else None, float(totals[i])) for i in order]
