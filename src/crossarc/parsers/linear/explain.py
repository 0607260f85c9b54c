"""What each template adds to the score of an arc."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.features._hashing import sentence_attributes
from crossarc.features.attributes import attributes_of
from crossarc.features.explain import Reason, by_template
from crossarc.features.language import FeatureSet
from crossarc.features.weights import dequantized
from crossarc.scorers.linear._features import (
    MOST_COUNTED,
    any_sibling_indices,
    arc_indices,
    encode,
    grandparent_indices,
    most_features,
    sibling_indices,
    valency_indices,
)
from crossarc.scorers.linear.model import LinearModel
from crossarc.search._candidate_tree import count_children, neighbours

__all__ = ["ArcReasons"]


class ArcReasons:
    """What a model says of the arcs of a sentence, by the templates of its feature set."""

    def __init__(self, model: LinearModel, features: FeatureSet, sentence: Sentence) -> None:
        self.templates, self.heads = features.templates, sentence.heads
        self.weights, self.shift = dequantized(model.weights), model.shift
        with np.errstate(over="ignore"):  # as hashes do
            self.encoded = encode(sentence_attributes(attributes_of([sentence]), 0), model.templates)
        self._buffer = np.empty(most_features(self.encoded), dtype=np.int64)

    def _features(self, indices: Callable[..., int], *words: int) -> NDArray[np.int64]:
        with np.errstate(over="ignore"):
            count = indices(self.encoded, *words, self.shift, self._buffer)
        return self._buffer[:count].copy()

    def of_arc(self, head: int, modifier: int, *, flip: int = 0) -> list[Reason]:
        """By the features of the arc alone; ``flip`` are bits of the places of their weights that are the others."""
        mask = (1 << (64 - int(self.shift))) - 1
        weights = self.weights[(self._features(arc_indices, head, modifier) ^ flip) & mask]
        arcs = self.encoded.arc.shape[2] + self.encoded.with_distance[0]
        pairs = len(weights) - int(self.encoded.counts[head] * self.encoded.counts[modifier])
        tags_between = weights[arcs:pairs].reshape(-1, max(1, self.encoded.between.shape[2]))
        return [
            *self._by_template("arc", weights[:arcs]),
            *self._by_template("between", tags_between.sum(axis=0)),
            Reason("pairs", "all pairs of single features", float(weights[pairs:].sum())),
        ]

    def of_tree(self, modifier: int) -> list[Reason]:
        """By what else the tree has beside the arc into a word."""
        heads, head = self.heads, int(self.heads[modifier])
        reasons = self.of_part("sibling", sibling_indices, head, neighbours(heads, head, modifier)[0], modifier)
        if head > 0:
            reasons += self.of_part("grandparent", grandparent_indices, int(heads[head]), head, modifier)
        for other in np.flatnonzero(heads == head).tolist():
            if other != modifier:
                reasons += self.of_part("any-sibling", any_sibling_indices, head, *sorted((other, modifier)))
        children = (min(count, MOST_COUNTED) for count in count_children(heads, head))
        valencies = self.weights[self._features(valency_indices, head, *children)]
        return [*reasons, *self._by_template("valency", valencies.reshape(-1, 2).sum(axis=1))]

    def of_part(self, part: str, indices: Callable[..., int], *words: int) -> list[Reason]:
        """By the features of one part of the tree, ``indices`` being the kernel that knows where their weights are."""
        return self._by_template(part, self.weights[self._features(indices, *words)])

    def _by_template(self, part: str, weights: NDArray[np.float32]) -> list[Reason]:
        """Nothing for a part that the model does not use."""
        used = getattr(self.encoded, part.replace("-", "_")).shape[2] > 0
        return by_template(part, self.templates[part], weights) if used else []
