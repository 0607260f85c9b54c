"""Why a parser likes an arc: what each template adds to its score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.parsers._space import count_children, neighbours
from crossarc.parsers.spanning_tree import SpanningTreeParser, templates_of
from crossarc.scoring._indices import (
    MOST_COUNTED,
    any_sibling_indices,
    arc_indices,
    encode,
    grandparent_indices,
    most_features,
    sentence_of,
    sibling_indices,
    valency_indices,
)
from crossarc.scoring.attributes import attributes_of

__all__ = ["Reason", "explain"]


class Reason(NamedTuple):
    """A template of a part, and the sum of the weights of its features."""

    part: str
    template: str
    weight: float


def explain(parser: SpanningTreeParser, sentence: Sentence, head: int, modifier: int) -> list[Reason]:
    """What speaks for (largest first) and against the arc from head to modifier, in the tree that the sentence has.

    The weights of all reasons of part "arc", "between" and "pairs" sum to the arc's first-order score
    (``parser.scores``); other parts depend on the rest of the tree and are given if the arc is in it.
    """
    encoded = encode(sentence_of(attributes_of([sentence]), 0), templates_of(parser.templates, parser.config))
    heads = sentence.heads
    out = np.empty(most_features(encoded), dtype=np.int64)
    shift, weights, lines = parser.heads_model.shift, parser.heads_model.weights, parser.templates.lines

    def of_templates(part: str, features: NDArray[np.int64], each: int) -> list[Reason]:
        sums = weights[features].reshape(-1, each).sum(axis=1)
        return [Reason(part, line, float(w)) for line, w in zip(lines[part], sums, strict=False)]

    features = out[: arc_indices(encoded, head, modifier, shift, out)]
    arcs, pairs = 2 * len(lines["arc"]), int(encoded.counts[head] * encoded.counts[modifier])
    between = features[arcs : len(features) - pairs].reshape(-1, max(1, len(lines["between"])))
    reasons = of_templates("arc", features[:arcs], 2)
    reasons += of_templates("between", between.T.ravel(), max(1, len(between)))
    of_pairs = float(weights[features[len(features) - pairs :]].sum())
    reasons.append(Reason("pairs", "all pairs of single features", of_pairs))
    if heads[modifier] == head:
        inner = neighbours(heads, head, modifier)[0]
        if encoded.sibling.shape[2]:
            count = sibling_indices(encoded, head, inner, modifier, shift, out)
            reasons += of_templates("sibling", out[:count], 2)
        if encoded.grandparent.shape[2] and head > 0:
            count = grandparent_indices(encoded, heads[head], head, modifier, shift, out)
            reasons += of_templates("grandparent", out[:count], 2)
        if encoded.any_sibling.shape[2]:
            for other in np.flatnonzero(heads == head).tolist():
                if other != modifier:
                    first, second = sorted((other, modifier))
                    count = any_sibling_indices(encoded, head, first, second, shift, out)
                    reasons += of_templates("any-sibling", out[:count], 1)
        if encoded.valency.shape[2]:
            left, right = (min(x, MOST_COUNTED) for x in count_children(heads, head))
            count = valency_indices(encoded, head, left, right, shift, out)
            reasons += of_templates("valency", out[:count], 2)
    return sorted(reasons, key=lambda reason: -reason.weight)
