"""The answer of every decoder."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tree"]


class Tree(NamedTuple):
    """A dependency tree over the words 1..n, with node 0 as its root.

    Attributes
    ----------
    heads : integer array of length n+1
        ``heads[m]`` is the head of word m; ``heads[0] == -1``.
    labels : integer array of length n+1, or None
        ``labels[m]`` is the label of the arc into m; ``labels[0] == -1``. None if the scores had no labels.
    score : float
        The sum of the scores of the tree's arcs.
    """

    heads: NDArray[np.int64]
    labels: NDArray[np.int64] | None
    score: float
