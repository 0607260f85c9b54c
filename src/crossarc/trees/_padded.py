"""Sums over the trees of a padded batch, and their derivatives: arrays in, arrays out.

Sentence i of ``scores``, of shape (B, N, N), is ``scores[i, :sizes[i], :sizes[i]]``. Scores of shape (B, N, N, N) are
those of parts: ``scores[i, h, s, m]`` is the whole score of the arc from h to m with the sibling s (see
``second_order_log_partition``), and trees are projective. All arrays are float64 and C-contiguous; results are 0 in
the padding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.trees import _batched_sums
from crossarc.trees._check import first_bad_place
from crossarc.trees._input import Scores, checked_siblings, no_tree
from crossarc.trees._inside_outside_covariances import second_order_covariances
from crossarc.trees._inside_outside_second_order import marginals_second_order
from crossarc.trees._packing import pack_padded, pad_packed

__all__ = ["TreesOfBatch", "covariances", "sums"]


class TreesOfBatch(NamedTuple):
    """Which trees there are."""

    sizes: NDArray[np.int64]  # the number of nodes of each sentence
    single_root: bool
    projective: bool


def sums(scores: Scores, trees: TreesOfBatch) -> tuple[Scores, Scores]:
    """log Z of each sentence, and the marginals of its arcs or parts; they may take the place of the scores.

    Raises ``NoTreeError`` or ``ValueError`` that names the sentence, or the place of a score that is no number.
    """
    log_z, marginals = _sums_of_parts(scores, trees) if scores.ndim == 4 else _sums_of_arcs(scores, trees)
    if len(log_z) and log_z.min() == -np.inf:
        name = f"scores[{int(log_z.argmin())}]"
        raise no_tree(name, single_root=trees.single_root, projective=trees.projective)
    return log_z, marginals


def covariances(scores: Scores, values: Scores, trees: TreesOfBatch) -> Scores:
    """The covariance of each arc or part with the sum of the values of those that a tree has.

    This is the product of the values and the derivative of the marginals, which is symmetric. The scores must have
    passed ``sums``; the values must be finite.
    """
    if scores.ndim == 4:
        return _covariances_of_parts(scores, values, trees)
    kernel = _batched_sums.projective_covariances if trees.projective else _batched_sums.covariances
    starts = _starts(trees)
    flat = _packed(scores, trees, starts)
    out = np.empty_like(flat)
    kernel(flat, _packed(values, trees, starts), starts, trees.sizes, trees.single_root, out)
    return _padded(out, scores, trees)


def _sums_of_arcs(scores: Scores, trees: TreesOfBatch) -> tuple[Scores, Scores]:
    starts = _starts(trees)
    flat = _packed(scores, trees, starts)
    i, h, m = first_bad_place(flat, starts, trees.sizes)
    if i >= 0:
        raise ValueError(f"scores[{i}, {h}, {m}] is {scores[i, h, m]}")
    log_z = np.empty(len(trees.sizes))
    # in place where that can be: fresh memory costs as much as the arithmetic
    out = np.empty_like(flat) if trees.projective else flat
    kernel = _batched_sums.projective_marginals if trees.projective else _batched_sums.marginals
    kernel(flat, starts, trees.sizes, trees.single_root, log_z, out, 0, len(trees.sizes))
    return log_z, _padded(out, scores, trees)


def _starts(trees: TreesOfBatch) -> NDArray[np.int64]:
    """Where the sentences begin when they are packed."""
    starts = np.zeros(len(trees.sizes) + 1, np.int64)
    np.add.accumulate(trees.sizes * trees.sizes, out=starts[1:])
    return starts


def _packed(padded: Scores, trees: TreesOfBatch, starts: NDArray[np.int64]) -> Scores:
    if starts[-1] == padded.size:
        return padded.reshape(-1)
    flat = np.empty(starts[-1])
    pack_padded(padded, trees.sizes, flat)
    return flat


def _padded(flat: Scores, like: Scores, trees: TreesOfBatch) -> Scores:
    if flat.size == like.size:
        return flat.reshape(like.shape)
    padded = np.zeros(like.shape)
    pad_packed(flat, trees.sizes, padded)
    return padded


# Parts take so long that a step through Python for each sentence does not count.


def _sums_of_parts(scores: Scores, trees: TreesOfBatch) -> tuple[Scores, Scores]:
    log_z, marginals = np.empty(len(trees.sizes)), np.zeros(scores.shape)
    for i, size in enumerate(trees.sizes.tolist()):
        parts = checked_siblings(scores[i, :size, :size, :size], size, name=f"scores[{i}]")
        arcs, out = np.zeros((size, size)), np.empty(parts.shape)
        log_z[i] = marginals_second_order(arcs, parts, trees.single_root, np.empty_like(arcs), out)
        marginals[i, :size, :size, :size] = out
    return log_z, marginals


def _covariances_of_parts(scores: Scores, values: Scores, trees: TreesOfBatch) -> Scores:
    result = np.zeros(scores.shape)
    for i, size in enumerate(trees.sizes.tolist()):
        parts, of_parts = (np.ascontiguousarray(array[i, :size, :size, :size]) for array in (scores, values))
        out = np.empty(parts.shape)
        second_order_covariances(parts, of_parts, trees.single_root, out)
        result[i, :size, :size, :size] = out
    return result
