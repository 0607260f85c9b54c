"""A batch of sentences as the spanning-tree parser scores it, for ``parsers.probabilities``.

For higher orders there are no exact sums: the potentials are those of the trees near the best one (see
``LinearParser.potentials``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, Sentence
from crossarc.features.attributes import Batch, attributes_of
from crossarc.parsers.linear._parse import labels_of_arcs, potentials_of, score_sentence, score_trees
from crossarc.parsers.linear.parser import LinearParser
from crossarc.parsers.probabilities import Bools, Doubles, Floats, Ints, ScoredBatch, real_arcs
from crossarc.search.constraints import Allowed

__all__ = ["LinearBatch"]


class LinearBatch(ScoredBatch):
    """A batch by a linear scorer; trees are searched for once. Constraints come with one sentence only."""

    def __init__(self, parser: LinearParser, sentences: Sequence[Sentence], constraints: Constraints) -> None:
        self.parser, self.sentences, self.constraints = parser, sentences, constraints
        self.batch = attributes_of(sentences)
        self.starts = self.batch.starts
        self.heads, self.labels = parser.best_trees(self.batch, constraints)
        self.tree_shape = parser.search_for(constraints).shape
        self.single_root, self.projective = bool(self.tree_shape.single_root), bool(self.tree_shape.projective)
        self.arc_factored = parser.config.order == "1"

    @cached_property
    def potentials(self) -> list[Doubles]:  # type: ignore[override]
        return self.parser.potentials(self.batch, self.heads, self.constraints)

    def label_scores(self, heads: Ints) -> Floats:
        return self._label_scores(self.batch, heads)

    def label_scores_of_tree(self, b: int, heads: Ints) -> Floats:
        return self._label_scores(attributes_of([self.sentences[b]]), heads)

    def _label_scores(self, batch: Batch, heads: Ints) -> Floats:
        scores = self.parser.label_scores(batch, heads)
        allowed = self.parser.allowed(len(heads), self.constraints).labels
        return np.where(allowed, scores, -np.inf) if len(allowed) else scores

    def label_scores_of_arcs(self, b: int) -> Floats:
        batch, allowed = attributes_of([self.sentences[b]]), self._allowed(b)
        models = self.parser.scorer.models
        parts = score_sentence(batch, models, allowed, self.tree_shape)
        of_arcs = labels_of_arcs(batch, parts, models, allowed, self.heads[self.slices[b]].copy())
        size = len(parts.counts)
        scores = np.zeros((size, size, of_arcs.shape[1]))
        modifiers = np.repeat(np.arange(size), parts.counts)
        heads = np.concatenate([parts.candidates[m, : parts.counts[m]] for m in range(size)])
        scores[heads, modifiers] = of_arcs
        return scores

    def tree_scores(self, b: int, trees: Ints) -> tuple[Ints, Doubles]:
        labels, scores = np.full_like(trees, -1), np.zeros(len(trees))
        batch, models = attributes_of([self.sentences[b]]), self.parser.scorer.models
        score_trees(batch, models, self._allowed(b), self.tree_shape, trees, labels, scores)
        return labels, scores

    def possible_arcs(self, b: int) -> Bools:
        possible, allowed = real_arcs(len(self.potentials[b])), self._allowed(b).arcs
        return possible & allowed if allowed.size else possible

    def potentials_with(self, heads: Ints) -> list[Doubles]:
        return [
            self._potentials_with(b, heads[nodes], potentials)
            for b, (nodes, potentials) in enumerate(zip(self.slices, self.potentials, strict=True))
        ]

    def _potentials_with(self, b: int, heads: Ints, potentials: Doubles) -> Doubles:
        """Those of a sentence whose candidates are the heads that the pruner leaves, and these."""
        candidates = np.isfinite(potentials)
        words = np.arange(1, len(heads))
        if candidates[heads[1:], words].all():
            return potentials
        candidates[heads[1:], words] = True
        found: NDArray[np.float64] = np.full(potentials.shape, -np.inf)
        potentials_of(
            attributes_of([self.sentences[b]]),
            self.parser.scorer.without_pruning().models,
            Allowed(candidates, self._allowed(b).labels),
            self.tree_shape,
            self.heads[self.slices[b]].copy(),
            np.zeros(1, dtype=np.int64),
            found.reshape(-1),
        )
        return found

    def _allowed(self, b: int) -> Allowed:
        return self.parser.allowed(len(self.sentences[b]) + 1, self.constraints)
