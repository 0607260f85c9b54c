"""A batch of sentences as the network scores it, for ``parsers.probabilities``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crossarc.core import Constraints, UnsupportedConstraint
from crossarc.parsers.probabilities import Floats, Ints, ScoredBatch
from crossarc.scorers.neural.network import Encoded
from crossarc.search.constraints import allowed_by
from crossarc.trees import best_trees

if TYPE_CHECKING:
    from crossarc.parsers.neural.parser import NeuralParser

__all__ = ["NeuralBatch"]


class NeuralBatch(ScoredBatch):
    """A batch by a network: the best trees are exact. Constraints on arcs and labels come with one sentence only."""

    def __init__(self, parser: NeuralParser, encoded: Encoded, constraints: Constraints) -> None:
        if constraints.max_children or constraints.max_degree is not None:
            raise UnsupportedConstraint("the neural parser cannot limit the number of children or the degree")
        self.network, self.encoded = parser.network, encoded
        self.starts = encoded.starts
        self.single_root = bool(parser.config.single_root) or constraints.single_root
        self.projective = bool(parser.config.projective) or constraints.projective
        self.potentials = self.network.arc_scores(encoded)
        self._labels_of_all = np.ones((0, len(parser.labels)), dtype=np.bool_)
        if len(self.potentials) == 1:
            allowed = allowed_by(constraints, len(self.potentials[0]), len(parser.labels))
            self._labels_of_all = allowed.labels
            if len(allowed.arcs):
                self.potentials = [np.where(allowed.arcs, self.potentials[0], -np.inf)]
        self.heads = np.concatenate([tree.heads for tree in best_trees(self.potentials, **self.shape)])
        self.labels = np.where(self.heads < 0, -1, self.label_scores(self.heads).argmax(axis=1))

    def label_scores(self, heads: Ints) -> Floats:
        first = np.repeat(self.starts[:-1], np.diff(self.starts))
        return self._label_scores(np.maximum(heads, 0) + first, np.arange(len(heads)))

    def label_scores_of_tree(self, b: int, heads: Ints) -> Floats:
        first = int(self.starts[b])
        return self._label_scores(np.maximum(heads, 0) + first, np.arange(len(heads)) + first)

    def label_scores_of_arcs(self, b: int) -> Floats:
        heads, words = np.nonzero(np.isfinite(self.potentials[b]))
        first, size = int(self.starts[b]), len(self.potentials[b])
        of_arcs = self.network.label_scores(self.encoded, heads + first, words + first)
        scores = np.zeros((size, size, of_arcs.shape[1]))
        scores[heads, words] = of_arcs
        return np.where(self._labels_of_all, scores, -np.inf) if len(self._labels_of_all) else scores

    def _label_scores(self, heads: Ints, words: Ints) -> Floats:
        scores = self.network.label_scores(self.encoded, heads, words)
        return np.where(self._labels_of_all, scores, -np.inf) if len(self._labels_of_all) else scores
