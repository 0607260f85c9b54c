"""A batch of sentences as several parsers score it together, for ``parsers.probabilities``.

Each parser says how likely it finds each head of a word, and each label of an arc. The logarithms of these shares are
added up with weights, so that a combination is a product of experts (Hinton 2002) over arcs; the best tree is that of
the sums (as in the reparsing of Sagae & Lavie 2006).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax

from crossarc.parsers.probabilities import Bools, Doubles, Floats, Ints, ScoredBatch
from crossarc.trees import best_trees

__all__ = ["CombinedBatch", "MemberWeights", "arc_shares", "label_shares", "weighted_sum"]

_LOWEST = -10.0  # log of the least share of a head, be it one that a parser has pruned; chosen on dev


class MemberWeights(NamedTuple):
    """What each parser counts."""

    arcs: tuple[float, ...]
    labels: tuple[float, ...]


def arc_shares(scored: ScoredBatch, b: int) -> Doubles:
    """``[h, m]``: log of the share of each head of a word among all, by a parser's potentials; -inf: not allowed."""
    potentials = scored.potentials[b].copy()
    np.fill_diagonal(potentials, -np.inf)
    potentials[0, 0] = 0.0  # the column of the root means nothing
    found: Doubles = np.maximum(log_softmax(potentials, axis=0), _LOWEST)
    return np.where(scored.possible_arcs(b), found, -np.inf)


def label_shares(scores: Floats) -> Floats:
    """``[..., l]``: log of the share of each label; -inf forbids it."""
    found: Floats = np.maximum(log_softmax(scores, axis=-1), _LOWEST)
    return np.where(np.isneginf(scores), -np.inf, found)


class CombinedBatch(ScoredBatch):
    """A batch by several parsers: the best trees are exact."""

    def __init__(self, members: Sequence[ScoredBatch], weights: MemberWeights) -> None:
        self.members, self.weights = members, weights
        self.starts = members[0].starts
        self.single_root = any(member.single_root for member in members)
        self.projective = any(member.projective for member in members)
        self.potentials = [
            weighted_sum(weights.arcs, (arc_shares(member, b) for member in members))
            for b in range(len(self.starts) - 1)
        ]
        self.heads = np.concatenate([tree.heads for tree in best_trees(self.potentials, **self.shape)])
        self.labels = np.where(self.heads < 0, -1, self.label_scores(self.heads).argmax(axis=1))

    def label_scores(self, heads: Ints) -> Floats:
        return self._labels(member.label_scores(heads) for member in self.members)

    def label_scores_of_tree(self, b: int, heads: Ints) -> Floats:
        return self._labels(member.label_scores_of_tree(b, heads) for member in self.members)

    def label_scores_of_arcs(self, b: int) -> Floats:
        return self._labels(member.label_scores_of_arcs(b) for member in self.members)

    def _labels(self, scores: Iterable[Floats]) -> Floats:
        return weighted_sum(self.weights.labels, map(label_shares, scores))

    def possible_arcs(self, b: int) -> Bools:
        possible: Bools = np.isfinite(self.potentials[b])
        return possible


def weighted_sum(weights: Iterable[float], shares: Iterable[Floats]) -> Doubles:
    """The sum of shares, each times its weight; what one of them forbids is forbidden."""
    total: Doubles = sum(  # type: ignore[assignment]
        np.where(np.isneginf(own), -np.inf, weight * np.where(np.isneginf(own), 0.0, own))
        for weight, own in zip(weights, shares, strict=True)
    )
    return total
