"""From a fractional solution to a tree: the nearest one, or a better one near it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crossarc.ilp import _rounding as kernels
from crossarc.ilp.parts import Parts, none_of
from crossarc.trees import best_tree

__all__ = ["improved", "nearest_tree", "rounded"]

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

_TREES = 16
_NOISE = 0.3  # how much values are changed at random, in Gumbel noise
_LITTLE = 1e-3  # less than this of an arc is nothing


def nearest_tree(parts: Parts, values: Floats, *, single_root: bool, projective: bool = False) -> Indices:
    """The maximal arborescence over the values of the arcs.

    Raises
    ------
    NoTreeError
    """
    weights = np.full((parts.size, parts.size), -np.inf)
    weights[parts.heads, parts.modifiers] = values
    return best_tree(weights, single_root=single_root, projective=projective).heads


def improved(parts: Parts, tree: Indices, *, single_root: bool) -> tuple[Indices, float]:
    """A tree that gets no better if the head of one word is changed, found from another one; its score."""
    heads = tree.copy()
    return heads, float(kernels.climb(parts, heads, np.arange(len(parts.arcs)), single_root, none_of(parts)))


def rounded(parts: Parts, values: Floats, *, single_root: bool) -> tuple[Indices, float]:
    """The best of several trees near the values of the arcs, and its score.

    They are maximal arborescences over the values, and over values that are changed at random; each is improved by arcs
    that have a value, and the best one by all. A fractional solution is often a mixture of few trees.

    Raises
    ------
    NoTreeError
    """
    there = np.flatnonzero(values > _LITTLE)
    noise = np.random.default_rng(1).gumbel(scale=_NOISE, size=(_TREES, len(there)))
    noise[0] = 0.0
    many = np.tile(values, (_TREES, 1))
    many[:, there] += noise
    heads = np.full(parts.size, -1)
    score = kernels.best_of_nearest(parts, many, there, single_root, heads, none_of(parts))
    if score == -np.inf:  # all of them have parts that are forbidden
        heads = nearest_tree(parts, values, single_root=single_root)
    return improved(parts, heads, single_root=single_root)
