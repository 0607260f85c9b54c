"""What constraints leave to a search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, NoTreeError

__all__ = ["Allowed", "allowed_by", "allowed_labels", "check_required_arcs"]


class Allowed(NamedTuple):
    """What trees of one sentence may have; an array without rows if they may have all."""

    arcs: NDArray[np.bool_]  # [h, m]
    labels: NDArray[np.bool_]  # [m, l]


def allowed_by(constraints: Constraints, size: int, n_labels: int) -> Allowed:
    """The arcs and labels that constraints leave to trees of so many nodes."""
    return Allowed(_allowed_arcs(size, constraints), allowed_labels(size, n_labels, constraints))


def _allowed_arcs(size: int, constraints: Constraints) -> NDArray[np.bool_]:
    if not constraints.required_arcs and not constraints.forbidden_arcs:
        return np.ones((0, 0), dtype=np.bool_)
    allowed = np.ones((size, size), dtype=np.bool_)
    check_required_arcs(size, constraints)
    for head, modifier in constraints.required_arcs:
        allowed[:head, modifier] = allowed[head + 1 :, modifier] = False
    for head, modifier in constraints.forbidden_arcs:
        allowed[head, modifier] = False
    return allowed


def check_required_arcs(size: int, constraints: Constraints) -> None:
    """Refuse arcs that no tree of that many nodes can have."""
    for head, modifier in constraints.required_arcs:
        if not (0 <= head < size and 1 <= modifier < size):
            raise NoTreeError(f"the required arc {head} -> {modifier} is not between words of this sentence")


def allowed_labels(size: int, n_labels: int, constraints: Constraints) -> NDArray[np.bool_]:
    """Which labels the arc into each word may have; nothing at all if all may have all."""
    if not constraints.required_labels and not constraints.forbidden_labels:
        return np.ones((0, n_labels), dtype=np.bool_)
    allowed = np.ones((size, n_labels), dtype=np.bool_)
    for word, label in constraints.required_labels.items():
        allowed[word, :label] = allowed[word, label + 1 :] = False
    for word, label in constraints.forbidden_labels:
        allowed[word, label] = False
    if not allowed.any(axis=1).all():
        raise NoTreeError(f"the constraints allow no label for word {int(np.argmin(allowed.any(axis=1)))}")
    return allowed
