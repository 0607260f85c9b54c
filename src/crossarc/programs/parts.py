"""The parts of trees that a program scores: arcs, pairs of arcs, numbers of children, arcs that are not projective."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.trees import crossing_arcs, nonprojective_arcs
from crossarc.trees._input import checked_scores, checked_siblings

__all__ = ["Indicators", "Pairs", "Parts", "indicators_of", "parts_of", "score_of"]

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]


class Pairs(NamedTuple):
    """Pairs of arcs, by their numbers among the candidates, and what both together score."""

    first: Indices
    second: Indices
    scores: Floats


def _no_pairs() -> Pairs:
    return Pairs(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))


@dataclass(frozen=True)
class Parts:
    """What the trees of a sentence are made of, and the score of each part; -inf forbids a part.

    Where there are grandparents or next siblings, all such pairs of candidates must be given: others are forbidden.

    Attributes
    ----------
    size : int
        n+1.
    heads, modifiers, arcs : arrays of length |A|
        The candidate arcs, and their scores.
    siblings : Pairs
        (h, s), (h, m): two children of a head.
    grandparents : Pairs
        (g, h), (h, m).
    next_siblings : Pairs
        (h, s), (h, m): m follows s among the children of h on one side, away from h; first == -1: m is the first.
    valencies : array of shape (n+1, S, K+1)
        The score of a head for having k children (S = 1), or k to its left and k to its right (S = 2); the last k
        stands for K or more. S = 0: valency is not scored.
    nonprojective : array of length |A| or 0
        The score of an arc for not being projective: some word between its ends does not descend from its head.
    crossing : array of length |A| or 0
        The score of an arc for crossing others.
    labels : array of shape (|A|, L)
        The score of each label of an arc; L = 0: there are no labels.
    """

    size: int
    heads: Indices
    modifiers: Indices
    arcs: Floats
    siblings: Pairs = field(default_factory=_no_pairs)
    grandparents: Pairs = field(default_factory=_no_pairs)
    next_siblings: Pairs = field(default_factory=_no_pairs)
    valencies: Floats = field(default_factory=lambda: np.empty((0, 0, 0)))
    nonprojective: Floats = field(default_factory=lambda: np.empty(0))
    crossing: Floats = field(default_factory=lambda: np.empty(0))
    labels: Floats = field(default_factory=lambda: np.empty((0, 0)))

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

    def of_arcs(scores: ArrayLike | None) -> Floats:
        return np.empty(0) if scores is None else np.asarray(scores, dtype=float)[heads, modifiers]

    of_siblings, of_next = triples("siblings", siblings), triples("next_siblings", next_siblings)
    of_grandparents = triples("grandparents", grandparents)
    return Parts(
        size,
        heads,
        modifiers,
        own[:, 0] if array.ndim == 2 else np.zeros(len(heads)),
        _no_pairs() if of_siblings is None else _siblings(heads, modifiers, pairs, of_siblings),
        _no_pairs() if of_grandparents is None else _grandparents(heads, modifiers, of_grandparents),
        _no_pairs() if of_next is None else _next_siblings(heads, modifiers, pairs, of_next),
        _sides_of(valencies),
        of_arcs(nonprojective),
        of_arcs(crossing),
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


def _sides_of(valencies: ArrayLike | None) -> Floats:
    if valencies is None:
        return np.empty((0, 0, 0))
    array = np.asarray(valencies, dtype=float)
    return array[:, np.newaxis] if array.ndim == 2 else array


class Indicators(NamedTuple):
    """How much of each part a solution has: 0 or 1, or between in a relaxed one. In the order of the parts."""

    arcs: Floats
    siblings: Floats
    grandparents: Floats
    next_siblings: Floats
    valencies: Floats
    nonprojective: Floats
    crossing: Floats


def indicators_of(parts: Parts, heads: ArrayLike) -> Indicators:
    """The parts that a tree has."""
    tree = np.asarray(heads)
    chosen = (tree[parts.modifiers] == parts.heads).astype(float)
    valencies = np.zeros(parts.valencies.shape)
    if valencies.size:
        np.put_along_axis(valencies, _children(parts, tree)[:, :, np.newaxis], 1.0, axis=2)
    return Indicators(
        chosen,
        chosen[parts.siblings.first] * chosen[parts.siblings.second],
        chosen[parts.grandparents.first] * chosen[parts.grandparents.second],
        _are_next(parts, tree),
        valencies,
        chosen * nonprojective_arcs(tree)[parts.modifiers] if len(parts.nonprojective) else parts.nonprojective,
        chosen * _crosses(tree)[parts.modifiers] if len(parts.crossing) else parts.crossing,
    )


def score_of(parts: Parts, heads: ArrayLike) -> float:
    """The sum of the scores of all parts of a tree, without labels; -inf if it has an arc that is no candidate."""
    found = indicators_of(parts, heads)
    if found.arcs.sum() < parts.size - 1:
        return -np.inf
    scores = (
        parts.arcs,
        parts.siblings.scores,
        parts.grandparents.scores,
        parts.next_siblings.scores,
        parts.valencies,
        parts.nonprojective,
        parts.crossing,
    )
    return float(sum(of_kind[has > 0].sum() for of_kind, has in zip(scores, found, strict=True)))


def _are_next(parts: Parts, tree: Indices) -> Floats:
    """Which pairs of next siblings a tree has."""
    first, second, _ = parts.next_siblings
    modifiers = parts.modifiers[second]
    chosen = tree[modifiers] == parts.heads[second]
    wanted = np.where(first < 0, parts.heads[second], parts.modifiers[first])
    is_next: Floats = (chosen & (_inner_neighbours(tree)[modifiers] == wanted)).astype(float)
    return is_next


def _inner_neighbours(tree: Indices) -> Indices:
    """For each word the sibling next to it towards its head, on the same side; the head itself if there is none."""
    neighbours = tree.copy()
    for order in (range(1, len(tree)), range(len(tree) - 1, 0, -1)):
        last: dict[int, int] = {}
        rightwards = order.step > 0
        for m in order:
            head = int(tree[m])
            if (head < m) == rightwards:
                neighbours[m] = last.get(head, head)
                last[head] = m
    return neighbours


def _children(parts: Parts, tree: Indices) -> Indices:
    """The number of children of each head, on each side if sides are scored, at most K."""
    sides, most = parts.valencies.shape[1], parts.valencies.shape[2] - 1
    words = np.arange(1, parts.size)
    side = (words > tree[1:]).astype(np.int64) if sides == 2 else np.zeros(parts.size - 1, dtype=np.int64)
    counts: Indices = np.bincount(tree[1:] * sides + side, minlength=parts.size * sides).reshape(parts.size, sides)
    return counts.clip(max=most)


def _crosses(tree: Indices) -> NDArray[np.bool_]:
    """Whether the arc into each word crosses another."""
    crosses = np.zeros(len(tree), dtype=np.bool_)
    crosses[crossing_arcs(tree)] = True
    return crosses
