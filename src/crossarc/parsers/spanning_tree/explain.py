"""Why a parser likes an arc: what each template adds to its score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.features._hashing import sentence_of
from crossarc.features.attributes import attributes_of
from crossarc.features.weights import dequantized
from crossarc.parsers.spanning_tree.parser import SpanningTreeParser
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
from crossarc.search._candidate_tree import count_children, neighbours

__all__ = ["Reason", "explain"]


class Reason(NamedTuple):
    """A template of a part, and the sum of the weights of its features."""

    part: str
    template: str
    weight: float


@np.errstate(over="ignore")  # as hashes do
def explain(parser: SpanningTreeParser, sentence: Sentence, head: int, modifier: int) -> list[Reason]:
    """What speaks for (largest first) and against the arc from head to modifier, in the tree that the sentence has.

    The weights of all reasons of part "arc", "between" and "pairs" sum to the arc's first-order score
    (``parser.scores``); other parts depend on the rest of the tree and are given if the arc is in it.
    """
    encoded = encode(sentence_of(attributes_of([sentence]), 0), parser.scorer.compiled)
    heads = sentence.heads
    out = np.empty(most_features(encoded), dtype=np.int64)
    model, templates = parser.scorer.heads_model, parser.scorer.templates
    shift, weights, lines = model.shift, dequantized(model.weights), templates.lines

    def of_templates(part: str, features: NDArray[np.int64]) -> list[Reason]:
        """The first templates have two features each, those without distance one."""
        near = 2 * templates.with_distance[part]
        sums = [*weights[features[:near]].reshape(-1, 2).sum(axis=1), *weights[features[near:]]]
        return [Reason(part, line, float(weight)) for line, weight in zip(lines[part], sums, strict=True)]

    features = out[: arc_indices(encoded, head, modifier, shift, out)]
    arcs = len(lines["arc"]) + templates.with_distance["arc"]
    pairs = int(encoded.counts[head] * encoded.counts[modifier])
    reasons = of_templates("arc", features[:arcs])
    tags_between = features[arcs : len(features) - pairs].reshape(-1, max(1, len(lines["between"])))
    for template, of_template in zip(lines["between"], tags_between.T, strict=True):
        reasons.append(Reason("between", template, float(weights[of_template].sum())))
    of_pairs = float(weights[features[len(features) - pairs :]].sum())
    reasons.append(Reason("pairs", "all pairs of single features", of_pairs))
    if heads[modifier] == head:
        inner = neighbours(heads, head, modifier)[0]
        if encoded.sibling.shape[2]:
            count = sibling_indices(encoded, head, inner, modifier, shift, out)
            reasons += of_templates("sibling", out[:count])
        if encoded.grandparent.shape[2] and head > 0:
            count = grandparent_indices(encoded, heads[head], head, modifier, shift, out)
            reasons += of_templates("grandparent", out[:count])
        if encoded.any_sibling.shape[2]:
            for other in np.flatnonzero(heads == head).tolist():
                if other != modifier:
                    first, second = sorted((other, modifier))
                    count = any_sibling_indices(encoded, head, first, second, shift, out)
                    reasons += of_templates("any-sibling", out[:count])
        if encoded.valency.shape[2]:
            left, right = (min(x, MOST_COUNTED) for x in count_children(heads, head))
            count = valency_indices(encoded, head, left, right, shift, out)
            sums = weights[out[:count]].reshape(-1, 2).sum(axis=1)
            reasons += [Reason("valency", line, float(w)) for line, w in zip(lines["valency"], sums, strict=True)]
    return sorted(reasons, key=lambda reason: -reason.weight)
