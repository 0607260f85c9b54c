"""Results of many sentences in one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast, overload

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Tree

__all__ = ["PaddedTrees", "padded"]


class PaddedTrees(NamedTuple):
    """Trees of B sentences, or of each k: arrays of shape (B, N+1) and (B,), or (B, k, N+1) and (B, k)."""

    heads: NDArray[np.int64]  # -1 for the root and for the padding
    labels: NDArray[np.int64] | None  # the same; None if no tree has labels
    scores: NDArray[np.float64]  # -inf where a sentence has fewer than k trees


@overload
def padded(results: Sequence[Tree] | Sequence[Sequence[Tree]], size: int | None = None) -> PaddedTrees: ...


@overload
def padded(results: Sequence[NDArray[np.float64]], size: int | None = None) -> NDArray[np.float64]: ...


def padded(
    results: Sequence[Tree] | Sequence[Sequence[Tree]] | Sequence[NDArray[np.float64]], size: int | None = None
) -> PaddedTrees | NDArray[np.float64]:
    """The results of a function of many sentences, in arrays as wide as its longest sentence.

    Parameters
    ----------
    results : list of trees, of lists of trees, or of marginals
        What `best_trees`, `k_best_trees_batch`, `marginals_batch` and their like return.
    size : int, optional
        N+1 of the arrays: ``scores.shape[1]`` of padded scores. By default that of the longest sentence.

    Returns
    -------
    PaddedTrees, or an array of shape (B, N+1, N+1) or (B, N+1, N+1, L) that is 0 outside each sentence

    Raises
    ------
    ValueError
        A sentence is longer than the arrays, or marginals differ in their labels.

    Examples
    --------
    >>> from crossarc import trees
    >>> scores = np.zeros((2, 4, 4))
    >>> padded(trees.best_trees(scores, lengths=[1, 3])).heads
    array([[-1,  0, -1, -1],
           [-1,  0,  0,  0]])
    >>> padded(trees.marginals_batch(scores, lengths=[1, 2]), size=4).shape
    (2, 4, 4)
    """
    if not len(results):
        raise ValueError("no results to pad")
    if isinstance(results[0], np.ndarray):
        return _padded_arrays(cast(Sequence[NDArray[np.float64]], results), size)
    if not isinstance(results[0], Tree):
        return _padded_trees(cast(Sequence[Sequence[Tree]], results), size)
    heads, labels, scores = _padded_trees([[tree] for tree in cast(Sequence[Tree], results)], size)
    return PaddedTrees(heads[:, 0], None if labels is None else labels[:, 0], scores[:, 0])


def _padded_trees(of_each: Sequence[Sequence[Tree]], size: int | None) -> PaddedTrees:
    most = max(map(len, of_each))
    width = _width([len(tree.heads) for trees in of_each for tree in trees], size)
    heads = np.full((len(of_each), most, width), -1)
    labels = np.full(heads.shape, -1)
    scores = np.full(heads.shape[:2], -np.inf)
    for i, trees in enumerate(of_each):
        for k, tree in enumerate(trees):
            heads[i, k, : len(tree.heads)] = tree.heads
            scores[i, k] = tree.score
            if tree.labels is not None:
                labels[i, k, : len(tree.labels)] = tree.labels
    labelled = any(tree.labels is not None for trees in of_each for tree in trees)
    return PaddedTrees(heads, labels if labelled else None, scores)


def _padded_arrays(arrays: Sequence[NDArray[np.float64]], size: int | None) -> NDArray[np.float64]:
    width = _width([len(array) for array in arrays], size)
    kinds = {array.shape[2:] for array in arrays}
    if len(kinds) > 1:
        raise ValueError("results with different labels cannot be in one array")
    result = np.zeros((len(arrays), width, width, *kinds.pop()))
    for own, array in zip(result, arrays, strict=True):
        own[: len(array), : len(array)] = array
    return result


def _width(sizes: Sequence[int], size: int | None) -> int:
    longest = max(sizes, default=1)
    if size is not None and size < longest:
        raise ValueError(f"size is {size}, but a sentence has {longest} nodes")
    return longest if size is None else size
