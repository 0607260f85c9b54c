"""Min-risk decoding: the tree with the most arcs that are expected to be right."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from crossarc.core import Tree
from crossarc.trees.best import best_tree
from crossarc.trees.sums import marginals

__all__ = ["min_risk_tree"]


def min_risk_tree(scores: ArrayLike, *, single_root: bool = False, projective: bool = False) -> Tree:
    """The tree with the highest expected number of correct (labelled) arcs (McDonald & Satta 2007, §4.2).

    It is the best tree when the score of an arc is its probability, and its own ``score`` is that expected number:
    between 0 and n. Arcs that the scores forbid stay forbidden. O(n³ + n²L).

    Parameters
    ----------
    scores : array of shape (n+1, n+1) or (n+1, n+1, L)
        Log-weights of the arcs; -inf forbids one.
    single_root, projective : bool
        Both the trees that count and the answer have one child of the root; no crossing arcs.

    Raises
    ------
    NoTreeError
        There is no tree.

    Examples
    --------
    >>> scores = [[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0]]
    >>> tree = min_risk_tree(scores)
    >>> tree.heads.tolist(), round(tree.score, 3)
    ([-1, 2, 0, 2], 3.0)
    """
    array = np.asarray(scores, dtype=np.float64)
    probabilities = marginals(array, single_root=single_root, projective=projective)
    probabilities[array == -np.inf] = -np.inf
    return best_tree(probabilities, single_root=single_root, projective=projective)
