"""What every public function does first: check the scores, apply the constraints, reduce the labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import Constraints, Tree, UnsupportedConstraint
from crossarc.trees._check import best_labels, first_bad_score, log_sum_labels

Scores = NDArray[np.float64]


def checked_scores(scores: ArrayLike, *, name: str = "scores") -> Scores:
    """``scores`` as a C-contiguous float64 array of shape (n+1, n+1) or (n+1, n+1, L).

    Integers and float32 are converted; views, read-only and non-contiguous arrays are fine; nothing is written to.
    The diagonal and column 0 are ignored, whatever they hold. Raises ``ValueError`` that names the position
    of a NaN or +inf, or the shape.
    """
    array = np.ascontiguousarray(scores, dtype=np.float64)
    shape = array.shape
    if not (array.ndim in (2, 3) and shape[0] == shape[1] and shape[0] > 0):
        raise ValueError(f"{name} must have shape (n+1, n+1) or (n+1, n+1, L), not {shape}")
    if array.ndim == 3 and shape[2] == 0:
        raise ValueError(f"{name} must have at least one label, but has shape {shape}")
    bad = first_bad_score(array.reshape(shape[0], shape[0], -1))
    if bad >= 0:
        position = tuple(int(i) for i in np.unravel_index(bad, shape))
        raise ValueError(f"{name}[{', '.join(map(str, position))}] is {array[position]}")
    return array


def merged(constraints: Constraints | None, *, single_root: bool, projective: bool) -> Constraints:
    """The constraints with the two shorthands of the public functions added."""
    if constraints is None:
        return Constraints(single_root=single_root, projective=projective)
    if (single_root or projective) and not (constraints.single_root and constraints.projective):
        fields: dict[str, Any] = {f: getattr(constraints, f) for f in Constraints.__dataclass_fields__}
        fields["single_root"] = constraints.single_root or single_root
        fields["projective"] = constraints.projective or projective
        return Constraints(**fields)
    return constraints


def masked(scores: Scores, constraints: Constraints) -> Scores:
    """``scores`` with -inf where the constraints on arcs and labels forbid an arc: a copy, or ``scores`` itself.

    Raises ``UnsupportedConstraint`` for a constraint that no mask expresses.
    """
    if constraints.max_children:
        raise UnsupportedConstraint("max_children cannot be honoured by this decoder (an integer program can)")
    if constraints.max_degree is not None:
        raise UnsupportedConstraint("max_degree cannot be honoured by this decoder (projective=True is degree 0)")
    by_label = constraints.required_labels or constraints.forbidden_labels
    if by_label and scores.ndim == 2:
        raise ValueError("constraints on labels need labelled scores")
    if not (constraints.required_arcs or constraints.forbidden_arcs or by_label):
        return scores
    result = scores.copy()
    for head, modifier in constraints.forbidden_arcs:
        _check_arc(head, modifier, len(scores))
        result[head, modifier] = -np.inf
    for head, modifier in constraints.required_arcs:
        _check_arc(head, modifier, len(scores))
        kept = result[head, modifier].copy()
        result[:, modifier] = -np.inf
        result[head, modifier] = kept
    for modifier, label in constraints.forbidden_labels:
        _check_label(modifier, label, scores.shape)
        result[:, modifier, label] = -np.inf
    for modifier, label in constraints.required_labels.items():
        _check_label(modifier, label, scores.shape)
        kept = result[:, modifier, label].copy()
        result[:, modifier] = -np.inf
        result[:, modifier, label] = kept
    return result


def best_label_of_each_arc(scores: Scores) -> tuple[Scores, NDArray[np.int64] | None]:
    """Arc scores, and for labelled scores the best label of each arc (None otherwise)."""
    if scores.ndim == 2:
        return scores, None
    arcs = np.empty(scores.shape[:2])
    labels = np.empty(scores.shape[:2], dtype=np.int64)
    best_labels(scores, arcs, labels)
    return arcs, labels


def summed_labels(scores: Scores) -> Scores:
    """Arc scores whose exponentials are the sums over the labels' exponentials."""
    if scores.ndim == 2:
        return scores
    arcs = np.empty(scores.shape[:2])
    log_sum_labels(scores, arcs)
    return arcs


def labels_of(heads: NDArray[np.int64], labels: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """labels[m] of each arc of a tree, from the best label of each arc; labels[0] == -1."""
    if labels is None:
        return None
    chosen = labels[heads, np.arange(len(heads))]
    chosen[0] = -1
    return chosen


def tree_of(heads: NDArray[np.int64], labels: NDArray[np.int64] | None, score: float) -> Tree:
    """The public ``Tree`` from a kernel's heads and the best label of each arc."""
    return Tree(heads, labels_of(heads, labels), score)


def _check_arc(head: int, modifier: int, size: int) -> None:
    if not (0 <= head < size and 1 <= modifier < size and head != modifier):
        raise ValueError(f"constraint on the arc ({head}, {modifier}), which is not an arc over {size - 1} words")


def _check_label(modifier: int, label: int, shape: tuple[int, ...]) -> None:
    if not (1 <= modifier < shape[0] and 0 <= label < shape[2]):
        raise ValueError(
            f"constraint on label {label} of word {modifier}: there are {shape[0] - 1} words and {shape[2]} labels"
        )
