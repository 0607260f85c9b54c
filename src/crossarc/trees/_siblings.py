"""The check of sibling scores: siblings[h, s, m] counts only where s is h or lies between h and m."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.trees._check import first_bad_sibling


def checked_siblings(siblings: ArrayLike, size: int) -> NDArray[np.float64]:
    """``siblings`` as a C-contiguous float64 array of shape (size, size, size); nothing is written to.

    Raises ``ValueError`` that names the shape, or the position of a NaN or +inf that a tree could use.
    """
    # a read-only array is another type to Numba: every kernel would be compiled a second time
    array = np.require(siblings, dtype=np.float64, requirements=["C", "W"])
    if array.shape != (size, size, size):
        raise ValueError(f"siblings must have shape ({size}, {size}, {size}) like the arcs, not {array.shape}")
    bad = first_bad_sibling(array)
    if bad >= 0:
        position = tuple(int(i) for i in np.unravel_index(bad, array.shape))
        raise ValueError(f"siblings[{', '.join(map(str, position))}] is {array[position]}")
    return array
