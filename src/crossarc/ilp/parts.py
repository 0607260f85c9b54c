"""The parts of trees that a program scores: arcs, pairs of arcs, numbers of children, arcs that are not projective."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.ilp import _indicators as kernels
from crossarc.trees._input import FLOAT, checked_scores, checked_siblings, for_kernel

__all__ = ["NO_PAIRS", "Indicators", "Pairs", "Parts", "indicators_of_tree", "none_of", "parts_of", "score_of_tree"]

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]


class Pairs(NamedTuple):
    """Pairs of arcs, by their numbers among the candidates, and what both together score."""

    first: Indices
    second: Indices
    scores: Floats

    def both(self, arcs: Floats) -> Floats:
        """How much of each pair the best solution has, given how much it has of each arc."""
        first, second = arcs[self.first], arcs[self.second]
        return np.where(self.scores > 0, np.minimum(first, second), np.maximum(first + second - 1.0, 0.0))


NO_PAIRS = Pairs(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))


class Parts(NamedTuple):
    """What the trees of a sentence are made of, and the score of each part; -inf forbids a part.

    Where there are grandparents or next siblings, all such pairs of candidates must be given: others are forbidden.
    """

    size: int  # n+1
    heads: Indices  # of the candidate arcs
    modifiers: Indices
    arcs: Floats  # their scores
    siblings: Pairs = NO_PAIRS  # (h, s), (h, m): two children of a head
    grandparents: Pairs = NO_PAIRS  # (g, h), (h, m)
    next_siblings: Pairs = NO_PAIRS  # (h, s), (h, m): m is next after s, away from h; first == -1: m is the first
    valencies: Floats = np.empty((0, 0, 0))  # [h, s, k]: k children (one s), or k to the left and right; or more
    nonprojective: Floats = np.empty(0)  # of each arc, if some word between its ends does not descend from its head
    crossing: Floats = np.empty(0)  # of each arc, if it crosses others
    labels: Floats = np.empty((0, 0))  # [a, l]: of each label of an arc

    @property
    def sides(self) -> NDArray[np.bool_]:
        """Whether each modifier stands to the right of its head."""
        return self.modifiers > self.heads


def parts_of(
    scores: ArrayLike,
    *,
    siblings: ArrayLike | None = None,
    grandparents: ArrayLike | None = None,
    next_siblings: ArrayLike | None = None,
    valencies: ArrayLike | None = None,
    nonprojective: ArrayLike | None = None,
    crossing: ArrayLike | None = None,
) -> Parts:
    """Parts from full arrays of scores.

    Parameters
    ----------
    scores : array of shape (n+1, n+1) or (n+1, n+1, L)
        As for ``best_tree``: arcs with -inf (for all labels) are no candidates.
    siblings : array of shape (n+1, n+1, n+1)
        ``[h, s, m]`` for every two children s < m of h.
    grandparents : array of shape (n+1, n+1, n+1)
        ``[g, h, m]``.
    next_siblings : array of shape (n+1, n+1, n+1)
        ``[h, s, m]`` as for ``best_second_order_tree``: s is m's neighbour towards h on the same side, s == h if
        m is the first.
    valencies : array of shape (n+1, K+1) or (n+1, 2, K+1)
        ``[h, k]`` for k children, or ``[h, 0, k]`` for k children to the left and ``[h, 1, k]`` to the right.
    nonprojective, crossing : arrays of shape (n+1, n+1)
        ``[h, m]`` if the arc is not projective, or crosses another.

    Raises
    ------
    ValueError
        For NaN, +inf and wrong shapes.
    """
    array = checked_scores(scores)
    size = len(array)
    labelled = array if array.ndim == 3 else array[:, :, np.newaxis]
    possible = labelled.max(axis=2) > -np.inf
    possible[:, 0] = False
    np.fill_diagonal(possible, False)
    modifiers, heads = np.nonzero(possible.T)
    own = labelled[heads, modifiers]
    first, second = np.triu_indices(len(heads), 1)
    together = heads[first] == heads[second]
    pairs = first[together], second[together]

    def triples(name: str, scores: ArrayLike | None) -> Floats | None:
        return None if scores is None else checked_siblings(scores, size, name=name)

    def of_arcs(name: str, scores: ArrayLike | None) -> Floats:
        if scores is None:
            return np.empty(0)
        matrix = checked_scores(scores, name=name)
        if matrix.shape != (size, size):
            raise ValueError(f"{name} must have shape ({size}, {size}) like the arcs, not {matrix.shape}")
        return matrix[heads, modifiers]

    of_siblings, of_next = triples("siblings", siblings), triples("next_siblings", next_siblings)
    of_grandparents = triples("grandparents", grandparents)
    return Parts(
        size,
        heads,
        modifiers,
        np.ascontiguousarray(own[:, 0]) if array.ndim == 2 else np.zeros(len(heads)),
        NO_PAIRS if of_siblings is None else _siblings(heads, modifiers, pairs, of_siblings),
        NO_PAIRS if of_grandparents is None else _grandparents(heads, modifiers, of_grandparents),
        NO_PAIRS if of_next is None else _next_siblings(heads, modifiers, pairs, of_next),
        _sides_of(valencies, size),
        of_arcs("nonprojective", nonprojective),
        of_arcs("crossing", crossing),
        own if array.ndim == 3 else np.empty((len(heads), 0)),
    )


def _siblings(heads: Indices, modifiers: Indices, pairs: tuple[Indices, Indices], scores: Floats) -> Pairs:
    first, second = pairs
    return Pairs(first, second, scores[heads[first], modifiers[first], modifiers[second]])


def _grandparents(heads: Indices, modifiers: Indices, scores: Floats) -> Pairs:
    first, second = np.nonzero((modifiers[:, np.newaxis] == heads) & (heads[:, np.newaxis] != modifiers))
    return Pairs(first, second, scores[heads[first], modifiers[first], modifiers[second]])


def _next_siblings(heads: Indices, modifiers: Indices, pairs: tuple[Indices, Indices], scores: Floats) -> Pairs:
    first, second = pairs
    same_side = (modifiers[first] > heads[first]) == (modifiers[second] > heads[first])
    left, right = first[same_side], second[same_side]
    on_left = modifiers[right] < heads[left]
    inner, outer = np.where(on_left, right, left), np.where(on_left, left, right)
    every = np.arange(len(heads))
    return Pairs(
        np.concatenate([np.full(len(heads), -1), inner]),
        np.concatenate([every, outer]),
        np.concatenate([scores[heads, heads, modifiers], scores[heads[inner], modifiers[inner], modifiers[outer]]]),
    )


def _sides_of(valencies: ArrayLike | None, size: int) -> Floats:
    if valencies is None:
        return np.empty((0, 0, 0))
    array = for_kernel(valencies, FLOAT)
    sides = array[:, np.newaxis] if array.ndim == 2 else array
    if sides.ndim != 3 or sides.shape[0] != size or sides.shape[1] not in (1, 2) or not sides.shape[2]:
        raise ValueError(f"valencies must have shape ({size}, K+1) or ({size}, 2, K+1), not {array.shape}")
    if not (sides < np.inf).all():
        raise ValueError("valencies has a score that is NaN or infinite")
    return sides


class Indicators(NamedTuple):
    """How much of each part a solution has: 0 or 1, or between in a relaxed one. In the order of the parts."""

    arcs: Floats
    siblings: Floats
    grandparents: Floats
    next_siblings: Floats
    valencies: Floats
    nonprojective: Floats
    crossing: Floats


def indicators_of_tree(parts: Parts, heads: Indices) -> Indicators:
    """``ilp.indicators_of`` of parts and heads that are known to be right."""
    indicators = none_of(parts)
    kernels.indicate(parts, heads, indicators)
    return indicators


def score_of_tree(parts: Parts, heads: Indices) -> float:
    """``ilp.score_of`` of parts and heads that are known to be right."""
    return float(kernels.indicate(parts, heads, none_of(parts)))


def none_of(parts: Parts) -> Indicators:
    """No part at all."""
    pairs = (np.zeros(len(of_kind.scores)) for of_kind in (parts.siblings, parts.grandparents, parts.next_siblings))
    others = (np.zeros(scores.shape) for scores in (parts.valencies, parts.nonprojective, parts.crossing))
    return Indicators(np.zeros(len(parts.arcs)), *pairs, *others)
