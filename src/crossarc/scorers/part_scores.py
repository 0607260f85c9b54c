"""The scores of the parts that the trees of a sentence are made of: what every scorer makes and every search takes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import NoTreeError
from crossarc.trees import best_tree
from crossarc.trees._input import FLOAT, checked_scores, checked_siblings, for_kernel

__all__ = ["PartScores", "check_part_scores", "part_scores"]

Floats = NDArray[np.floating[Any]]


class PartScores(NamedTuple):
    """The candidate heads of each word of one sentence, and the scores of all parts that they can form.

    A kind of part whose array has no elements is not scored. A score that is NaN is not known yet: the ``source``
    computes it when a search first looks at it.
    """

    candidates: NDArray[np.int64]  # [m, j]: the j-th head that word m may have, in increasing order
    counts: NDArray[np.int64]  # [m]: how many there are
    arcs: NDArray[np.float64]  # [m, j]: the arc from that head, with its best label if labels are chosen with arcs
    labels: NDArray[np.int64]  # [m, j]: that label; -1 if labels are chosen later
    siblings: Floats  # [m, j, s]: s is m's neighbour on its side, towards the head; the head itself: m is the first
    grandparents: Floats  # [m, j, g]: g is the head of the head
    any_siblings: Floats  # [m, j, s]: s < m is another child of the head
    valencies: Floats  # [h, left, right]: so many children to the left and right of h; the last number stands for more
    source: Any  # such as ``LinearSource``; None: all scores are known


def part_scores(
    arcs: ArrayLike,
    *,
    siblings: ArrayLike | None = None,
    grandparents: ArrayLike | None = None,
    any_siblings: ArrayLike | None = None,
    valencies: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    max_candidates: int | None = None,
) -> PartScores:
    """Scores from arrays: those of a neural network, say.

    Parameters
    ----------
    arcs : array of shape (n+1, n+1)
        ``[h, m]``, as for ``trees.best_tree``; -inf forbids an arc.
    siblings : array of shape (n+1, n+1, n+1)
        ``[h, s, m]``, as for ``trees.best_second_order_tree``: s is m's neighbour towards h among the children of h on
        one side; s == h if m is the first.
    grandparents : array of shape (n+1, n+1, n+1)
        ``[g, h, m]`` for g -> h -> m.
    any_siblings : array of shape (n+1, n+1, n+1)
        ``[h, s, m]`` for every two children s < m of h.
    valencies : array of shape (n+1, 2, K+1)
        ``[h, 0, k]`` for k children to the left of h and ``[h, 1, k]`` for k to its right; the last k stands for more.
    labels : array of shape (n+1, n+1, L)
        ``[h, m, l]`` is added to the arc's score for its label; trees then have the best label of each arc.
    max_candidates : int, optional
        How many heads each word may choose from: the best by their arcs, and those of the best trees by arcs.

    Raises
    ------
    ValueError
        For NaN, +inf and wrong shapes; it names the position.
    NoTreeError
        The arcs allow no tree.
    """
    matrix = checked_scores(arcs)
    if matrix.ndim != 2:
        raise ValueError(f"arcs has shape {matrix.shape}: scores of labelled arcs are given as labels")
    size = len(matrix)
    best_labels = np.full((size, size), -1)
    if labels is not None:
        of_labels = checked_scores(labels, name="labels")
        if of_labels.ndim != 3 or len(of_labels) != size:
            raise ValueError(f"labels has shape {of_labels.shape}, not ({size}, {size}, L)")
        best_labels = of_labels.argmax(axis=2)
        matrix = matrix + of_labels.max(axis=2)
    candidates, counts = _candidates(matrix, max_candidates)
    words = np.arange(size)[:, np.newaxis]
    third = np.arange(size)

    def triples(name: str, scores: ArrayLike | None, head_first: bool = True) -> Floats:
        if scores is None:
            return np.empty((0, 0, 0))
        array = checked_siblings(scores, size, name=name)
        if array.min() == -np.inf:
            position = ", ".join(map(str, np.argwhere(array == -np.inf)[0].tolist()))
            raise ValueError(f"{name}[{position}] is -inf: only arcs can be forbidden")
        heads, modifiers = candidates[:, :, np.newaxis], words[:, :, np.newaxis]
        return np.ascontiguousarray(array[heads, third, modifiers] if head_first else array[third, heads, modifiers])

    return PartScores(
        candidates,
        counts,
        np.ascontiguousarray(matrix[candidates, words]),
        np.ascontiguousarray(best_labels[candidates, words]),
        triples("siblings", siblings),
        triples("grandparents", grandparents, head_first=False),
        triples("any_siblings", any_siblings),
        _valencies(valencies, size),
        None,
    )


def check_part_scores(parts: PartScores) -> None:
    """``ValueError`` for arrays that are not as ``PartScores`` says: a search looks where they point.

    Scores that are not known yet are allowed only where there is a source.
    """
    if not isinstance(parts, PartScores):
        raise ValueError(f"PartScores are wanted, as part_scores makes them, not {type(parts).__name__}")
    if any(not isinstance(own, np.ndarray) for own in parts[:-1]):
        raise ValueError("PartScores are made of arrays")
    candidates, counts = parts.candidates, parts.counts
    if candidates.ndim != 2 or candidates.shape[0] == 0:
        raise ValueError(f"candidates has the shape {candidates.shape}, not (n+1, most)")
    if {candidates.dtype, counts.dtype, parts.labels.dtype} != {np.dtype(np.int64)}:
        raise ValueError("candidates, counts and labels must be 64-bit integers")
    size, width = candidates.shape
    if counts.shape != (size,) or counts.min() < 0 or counts.max() > width:
        raise ValueError(f"counts must be {size} numbers from 0 to {width}")
    used = np.arange(width) < counts[:, np.newaxis]
    if ((candidates < 0) | (candidates >= size) | (candidates == np.arange(size)[:, np.newaxis]))[1:][used[1:]].any():
        raise ValueError("candidates has numbers that are heads of no word")
    if (np.diff(candidates, axis=1) <= 0)[1:][used[1:, 1:]].any():
        raise ValueError("candidates are not in increasing order")
    shapes = {"arcs": (size, width), "labels": (size, width)}
    triples = dict.fromkeys(("siblings", "grandparents", "any_siblings"), (size, width, size))
    for name, shape in {**shapes, **triples}.items():
        own = getattr(parts, name)
        if own.shape != shape and (name in shapes or own.size):
            raise ValueError(f"{name} has the shape {own.shape}, not {shape}")
    valencies = parts.valencies
    if valencies.size and (valencies.ndim != 3 or len(valencies) != size or valencies.shape[1] != valencies.shape[2]):
        raise ValueError(f"valencies has the shape {valencies.shape}, not ({size}, K+1, K+1)")
    _check_numbers(parts, used)


def _check_numbers(parts: PartScores, used: NDArray[np.bool_]) -> None:
    if parts.arcs.dtype != np.float64 or not (parts.arcs[1:][used[1:]] < np.inf).all():
        raise ValueError("arcs has a score that is NaN or infinite, or is no array of 64-bit numbers")
    for name in ("siblings", "grandparents", "any_siblings", "valencies"):
        own = getattr(parts, name)
        if own.dtype.kind != "f" or (parts.source is None and not np.isfinite(own).all()):
            raise ValueError(f"{name} has a score that is not finite")


def _candidates(arcs: NDArray[np.float64], max_candidates: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The heads that each word may have, and their numbers."""
    size = len(arcs)
    possible = arcs > -np.inf
    possible[:, 0] = False
    np.fill_diagonal(possible, False)
    if max_candidates is not None and max_candidates < 1:
        raise ValueError(f"max_candidates is {max_candidates}, not a number from 1")
    if max_candidates is not None and max_candidates < size - 1:
        ranks = np.where(possible, -arcs, np.inf).argsort(axis=0, kind="stable").argsort(axis=0)
        possible &= (ranks < max_candidates) | _in_best_trees(arcs)
    counts = possible.sum(axis=0)
    if size > 1 and counts[1:].min() == 0:
        raise NoTreeError(f"no arc leads to word {int(counts[1:].argmin()) + 1}")
    candidates = np.zeros((size, max(1, int(counts.max()))), dtype=np.int64)
    modifiers, heads = np.nonzero(possible.T)
    candidates[modifiers, np.arange(len(heads)) - (np.cumsum(counts) - counts)[modifiers]] = heads
    return candidates, counts


def _in_best_trees(arcs: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The arcs of the best trees of each shape, so that searches for any of these find a tree."""
    marked = np.zeros(arcs.shape, dtype=np.bool_)
    for projective in (False, True):
        try:
            heads = best_tree(arcs, single_root=True, projective=projective).heads
        except NoTreeError:
            continue
        marked[heads[1:], np.arange(1, len(arcs))] = True
    return marked


def _valencies(valencies: ArrayLike | None, size: int) -> Floats:
    if valencies is None:
        return np.empty((0, 0, 0))
    array = for_kernel(valencies, FLOAT)
    if array.ndim != 3 or array.shape[:2] != (size, 2) or array.shape[2] == 0:
        raise ValueError(f"valencies has shape {array.shape}, not ({size}, 2, K+1)")
    if not np.isfinite(array).all():
        h, side, k = np.argwhere(~np.isfinite(array))[0].tolist()
        raise ValueError(f"valencies[{h}, {side}, {k}] is {array[h, side, k]}, not a finite number")
    return np.ascontiguousarray(array[:, 0, :, np.newaxis] + array[:, 1, np.newaxis, :])
