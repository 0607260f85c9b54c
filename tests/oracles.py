"""Slow and obviously right: every tree of a small sentence, one by one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

import numpy as np


def is_tree(heads: tuple[int, ...]) -> bool:
    """heads[0] == -1 and every word reaches node 0."""
    for word in range(1, len(heads)):
        seen = set()
        while word != 0:
            if word in seen:
                return False
            seen.add(word)
            word = heads[word]
    return True


def dominates(heads: tuple[int, ...], ancestor: int, word: int) -> bool:
    """Whether ancestor ->* word."""
    while word not in (ancestor, -1):
        word = heads[word]
    return word == ancestor


def is_projective_arc(heads: tuple[int, ...], m: int) -> bool:
    """Every word between m and its head descends from the head."""
    return all(dominates(heads, heads[m], w) for w in range(min(m, heads[m]) + 1, max(m, heads[m])))


def is_projective(heads: tuple[int, ...]) -> bool:
    """All arcs are projective."""
    return all(is_projective_arc(heads, m) for m in range(1, len(heads)))


def crosses(heads: tuple[int, ...], m: int) -> bool:
    """Whether the arc into m crosses another."""
    low, high = sorted((m, heads[m]))
    spans = (sorted((w, heads[w])) for w in range(1, len(heads)))
    return any(low < a < high < b or a < low < b < high for a, b in spans)


def children(heads: tuple[int, ...], h: int) -> list[int]:
    return [m for m in range(1, len(heads)) if heads[m] == h]


@cache
def all_trees(n: int, *, single_root: bool = False, projective: bool = False) -> tuple[tuple[int, ...], ...]:
    """All trees over n words, in lexicographic order of their heads."""
    return tuple(
        (-1, *heads)
        for heads in itertools.product(range(n + 1), repeat=n)
        if is_tree((-1, *heads))
        and (not single_root or n == 0 or heads.count(0) == 1)
        and (not projective or is_projective((-1, *heads)))
    )


def all_labelled_trees(
    n: int, n_labels: int, *, single_root: bool = False, projective: bool = False
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs (heads, labels)."""
    for heads in all_trees(n, single_root=single_root, projective=projective):
        for labels in itertools.product(range(n_labels), repeat=n):
            yield heads, (-1, *labels)


def score(scores: np.ndarray, heads, labels=None) -> float:
    """The sum of the scores of a tree's arcs."""
    arcs = [(heads[m], m) if labels is None else (heads[m], m, labels[m]) for m in range(1, len(heads))]
    return float(sum(scores[arc] for arc in arcs))


def scored_trees(scores: np.ndarray, *, single_root: bool = False, projective: bool = False):
    """All possible (score above -inf) trees as (score, heads, labels or None), best first, then by heads and labels."""
    n = len(scores) - 1
    if scores.ndim == 2:
        trees = ((h, None) for h in all_trees(n, single_root=single_root, projective=projective))
    else:
        trees = all_labelled_trees(n, scores.shape[2], single_root=single_root, projective=projective)
    scored = [(score(scores, heads, labels), heads, labels) for heads, labels in trees]
    return sorted((t for t in scored if t[0] > -np.inf), key=lambda t: (-t[0], t[1], t[2] or ()))


def log_partition(scores: np.ndarray, **flags: bool) -> float:
    """log of the sum of exp(score) over all trees; -inf if there is none."""
    totals = [s for s, _, _ in scored_trees(scores, **flags)]
    return float(np.logaddexp.reduce(totals)) if totals else -np.inf


def marginals(scores: np.ndarray, **flags: bool) -> np.ndarray:
    """The probability of each (labelled) arc."""
    log_z = log_partition(scores, **flags)
    result = np.zeros(scores.shape)
    for total, heads, labels in scored_trees(scores, **flags):
        for m in range(1, len(heads)):
            result[(heads[m], m) if labels is None else (heads[m], m, labels[m])] += np.exp(total - log_z)
    return result


def entropy(scores: np.ndarray, **flags: bool) -> float:
    """-sum p log p over all trees."""
    log_z = log_partition(scores, **flags)
    log_p = np.array([s - log_z for s, _, _ in scored_trees(scores, **flags)])
    return float(-(np.exp(log_p) * log_p).sum())


def covariances(scores: np.ndarray, values: np.ndarray, **flags: bool) -> np.ndarray:
    """The covariance of each arc with the sum of the values of a tree's arcs."""
    log_z = log_partition(scores, **flags)
    trees = [(np.exp(s - log_z), heads) for s, heads, _ in scored_trees(scores, **flags)]
    mean = sum(p * score(values, heads) for p, heads in trees)
    result = np.zeros(scores.shape)
    for p, heads in trees:
        for m in range(1, len(heads)):
            result[heads[m], m] += p * (score(values, heads) - mean)
    return result


def second_order_parts(heads) -> list[tuple[int, int, int]]:
    """(h, s, m) for each arc h -> m: s is the child of h next to m towards h on the same side, or h itself."""
    parts = []
    for m in range(1, len(heads)):
        h = heads[m]
        between = [s for s in range(min(h, m) + 1, max(h, m)) if heads[s] == h]
        nearest = (max(between) if h < m else min(between)) if between else h
        parts.append((h, nearest, m))
    return parts


def second_order_score(arcs: np.ndarray, siblings: np.ndarray, heads) -> float:
    """The sum of arcs[h, m] + siblings[h, s, m] over the parts of a tree."""
    return float(sum(arcs[h, m] + siblings[h, s, m] for h, s, m in second_order_parts(heads)))


def second_order_covariances(siblings: np.ndarray, values: np.ndarray, *, single_root: bool = False) -> np.ndarray:
    """``covariances`` of the parts of projective trees whose arcs have no scores of their own."""
    no_arcs = np.zeros(siblings.shape[:2])
    trees = all_trees(len(siblings) - 1, single_root=single_root, projective=True)
    scores = np.array([second_order_score(no_arcs, siblings, heads) for heads in trees])
    probabilities = np.exp(scores - np.logaddexp.reduce(scores))
    of_trees = np.array([second_order_score(no_arcs, values, heads) for heads in trees])
    result = np.zeros(siblings.shape)
    for p, heads, deviation in zip(probabilities, trees, of_trees - probabilities @ of_trees, strict=True):
        for part in second_order_parts(heads):
            result[part] += p * deviation
    return result
