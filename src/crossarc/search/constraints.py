"""What constraints leave to a search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints
from crossarc.trees._input import allowed_arcs, allowed_labels

__all__ = ["Allowed", "allowed_by"]


class Allowed(NamedTuple):
    """What trees of one sentence may have; an array without rows if they may have all."""

    arcs: NDArray[np.bool_]  # [h, m]
    labels: NDArray[np.bool_]  # [m, l]


def allowed_by(constraints: Constraints, size: int, n_labels: int) -> Allowed:
    """The arcs and labels that constraints leave to trees of so many nodes."""
    arcs, labels = np.ones((0, 0), dtype=np.bool_), np.ones((0, n_labels), dtype=np.bool_)
    if constraints.required_arcs or constraints.forbidden_arcs:
        arcs = allowed_arcs(constraints, size)
    if constraints.required_labels or constraints.forbidden_labels:
        labels = allowed_labels(constraints, size, n_labels)
    return Allowed(arcs, labels)
