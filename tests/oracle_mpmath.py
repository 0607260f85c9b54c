"""Sums over trees in arithmetic with 30 digits and exponents without bounds: plain algorithms for longer sentences.

Scores of any size are weights here, exp(score), so that nothing under- or overflows; and nothing is subtracted.
"""

from __future__ import annotations

import math

import mpmath
import numpy as np

mpmath.mp.dps = 30


def weights_of(scores: np.ndarray) -> np.ndarray:
    """exp(scores), 0 in column 0 and on the diagonal."""
    result = np.frompyfunc(lambda x: mpmath.exp(x) if x > -math.inf else mpmath.mpf(0), 1, 1)(scores)
    if scores.ndim == 2:
        result[:, 0] = mpmath.mpf(0)
        np.fill_diagonal(result, mpmath.mpf(0))
    return result


def log_of(z: mpmath.mpf) -> float:
    return float(mpmath.log(z)) if z > 0 else -math.inf


INFINITESIMAL = mpmath.exp(-(10**8))  # next to any weight here, and its square next to itself


def sum_of_trees(weights: np.ndarray, *, single_root: bool) -> mpmath.mpf:
    """Z over all trees, by the elimination of words (MS07 §3.2 without subtractions).

    A single root: arcs of the root weigh infinitely less, so that all trees with more than one vanish.
    """
    graph = weights.copy()
    if single_root:
        graph[0] *= INFINITESIMAL
    z = mpmath.mpf(1)
    for word in range(len(graph) - 1, 0, -1):
        pivot = graph[:word, word].sum()
        if pivot == 0:
            return mpmath.mpf(0)
        z *= pivot
        graph[:word, :word] += np.outer(graph[:word, word] / pivot, graph[word, :word])
    return z / INFINITESIMAL if single_root else z


def marginal(weights: np.ndarray, h: int, m: int, *, single_root: bool) -> float:
    """The probability of an arc: Z with no other head for m, over Z."""
    only = weights.copy()
    only[:, m] = mpmath.mpf(0)
    only[h, m] = weights[h, m]
    z = sum_of_trees(weights, single_root=single_root)
    return float(sum_of_trees(only, single_root=single_root) / z)


class Chart:
    """The weights of the items of projective trees with adjacent siblings (MP06 Figure 3).

    ``parts[h, s, m]`` is the weight of the arc h -> m next to the sibling s (h itself for the first child).
    """

    def __init__(self, parts: np.ndarray, *, single_root: bool) -> None:
        self.n = len(parts) - 1
        self.parts = parts
        self.single_root = single_root
        self.inside: dict[tuple, mpmath.mpf] = {}
        for width in range(self.n + 1):
            for i in range(self.n + 1 - width):
                for item in self.items(i, i + width):
                    ways = self.ways(item)
                    self.inside[item] = sum((self.weight(way) for way in ways), mpmath.mpf(width == 0))

    def items(self, i, j):
        """The items of a span, what they are made of before them."""
        if i == j:
            return [("complete", i, i)]
        pairs = [(i, j), (j, i)]
        return [
            ("siblings", i, j),
            *(("arc", h, m) for h, m in pairs if m > 0),
            *(("complete", h, e) for h, e in pairs),
        ]

    def ways(self, item):
        """Each way to make an item: the items it is made of, and a part (or None)."""
        kind, a, b = item
        if a == b:
            return
        low, high, step = min(a, b), max(a, b), 1 if a < b else -1
        if kind == "siblings":
            for r in range(low, high):
                yield (("complete", low, r), ("complete", high, r + 1)), None
        elif kind == "complete":
            for m in range(a + step, b + step, step):
                if m > 0:
                    yield (("arc", a, m), ("complete", m, b)), None
        else:
            yield (("complete", b, a + step),), (a, a, b)
            if not (self.single_root and a == 0):
                for s in range(low + 1, high):
                    yield (("arc", a, s), ("siblings", min(s, b), max(s, b))), (a, s, b)

    def weight(self, way):
        items, part = way
        result = mpmath.mpf(1) if part is None else self.parts[part]
        for item in items:
            result *= self.inside[item]
        return result

    @property
    def z(self) -> mpmath.mpf:
        return self.inside["complete", 0, self.n]

    def marginals(self) -> tuple[np.ndarray, np.ndarray]:
        """The probabilities of arcs [h, m] and parts [h, s, m], from the widest items down."""
        shares = {item: mpmath.mpf(0) for item in self.inside}
        shares["complete", 0, self.n] = mpmath.mpf(1)
        arcs, parts = np.zeros((self.n + 1,) * 2), np.zeros((self.n + 1,) * 3)
        for width in range(self.n, 0, -1):
            for i in range(self.n + 1 - width):
                for item in reversed(self.items(i, i + width)):
                    if shares[item] == 0:
                        continue
                    if item[0] == "arc":
                        arcs[item[1:]] = float(shares[item])
                    factor = shares[item] / self.inside[item]
                    for way in self.ways(item):
                        share = factor * self.weight(way)
                        for other in way[0]:
                            shares[other] += share
                        if way[1] is not None:
                            parts[way[1]] = float(share)
        return arcs, parts


def projective(arcs: np.ndarray, siblings: np.ndarray | None = None, *, single_root: bool) -> Chart:
    """The chart of projective trees; without siblings, all weigh 1."""
    weights = weights_of(arcs)
    size = len(arcs)
    ones = np.full((size,) * 3, mpmath.mpf(1), dtype=object)
    parts = (ones if siblings is None else weights_of(siblings)) * weights[:, None, :]
    return Chart(parts, single_root=single_root)
