"""Parts of a treebank for cross-validation."""

from __future__ import annotations

from itertools import pairwise

__all__ = ["folds_of"]


def folds_of(size: int, folds: int) -> list[range]:
    """So many parts of nearly the same size, one after the other, so that few texts are in two of them.

    >>> folds_of(7, 3)
    [range(0, 2), range(2, 4), range(4, 7)]
    """
    ends = [size * fold // folds for fold in range(folds + 1)]
    return [range(start, end) for start, end in pairwise(ends)]
