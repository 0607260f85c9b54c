"""What every public function does first: check the scores, apply the constraints, reduce the labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import repeat
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import Constraints, NoTreeError, Tree, UnsupportedConstraint
from crossarc.trees._check import first_bad_score, first_bad_sibling
from crossarc.trees._scores import best_labels, log_sum_labels

Scores = NDArray[np.float64]
Number = TypeVar("Number", bound=np.generic)

FLOAT, INTEGER = np.dtype(np.float64), np.dtype(np.int64)

# Tree._make without the steps through Python, for many trees
_new_tree: Callable[[tuple[Any, ...]], Tree] = partial(tuple.__new__, Tree)


def for_kernel(array: ArrayLike, dtype: np.dtype[Number]) -> NDArray[Number]:
    """The array if it is C-contiguous, writeable, aligned and of that type, else a copy that is.

    To Numba a read-only array is another type, and kernels would be compiled a second time; none writes to its input.
    """
    if isinstance(array, np.ndarray) and array.dtype is dtype and array.flags.carray:
        return array
    given = np.asarray(array)
    if given.dtype.kind not in "biuf":  # neither complex numbers nor objects are scores
        given = _converted(given, dtype)
    return np.array(given, dtype=dtype, order="C")


def _converted(array: NDArray[Any], dtype: np.dtype[Number]) -> NDArray[Number]:
    """Numbers of objects that are numbers; ``ValueError`` for all else."""
    try:
        if array.dtype.kind == "O":
            return array.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"an array of {array.dtype}, not of numbers")


def is_shape_of_arcs(shape: tuple[int, ...]) -> bool:
    """Whether scores of that shape are scores without labels."""
    return len(shape) == 2 and shape[0] == shape[1] and shape[0] > 0


def checked_scores(scores: ArrayLike, *, name: str = "scores") -> Scores:
    """``scores`` as a writeable C-contiguous float64 array of shape (n+1, n+1) or (n+1, n+1, L).

    Integers and float32 are converted; views, read-only and non-contiguous arrays are fine; nothing is written to.
    The diagonal and column 0 are ignored, whatever they hold. Raises ``ValueError`` that names the position
    of a NaN or +inf, or the shape.
    """
    array = for_kernel(scores, FLOAT)
    shape = array.shape
    if not (array.ndim in (2, 3) and shape[0] == shape[1] and shape[0] > 0):
        raise ValueError(f"{name} must have shape (n+1, n+1) or (n+1, n+1, L), not {shape}")
    if array.ndim == 3 and shape[2] == 0:
        raise ValueError(f"{name} must have at least one label, but has shape {shape}")
    bad = first_bad_score(array.reshape(shape[0], shape[0], -1))
    if bad >= 0:
        raise bad_number(array, bad, name)
    return array


def checked_siblings(siblings: ArrayLike, size: int, *, name: str = "siblings") -> Scores:
    """``siblings`` as a writeable C-contiguous float64 array of shape (size, size, size).

    ``siblings[h, s, m]`` counts only where s is h or lies between h and m. Raises ``ValueError`` that names the
    shape, or the position of a NaN or +inf that counts.
    """
    array = shaped_siblings(siblings, size, name)
    bad = first_bad_sibling(array)
    if bad >= 0:
        raise bad_number(array, bad, name)
    return array


def shaped_siblings(siblings: ArrayLike, size: int, name: str) -> Scores:
    """``checked_siblings`` before the check of the numbers."""
    array = for_kernel(siblings, FLOAT)
    if array.shape != (size, size, size):
        raise ValueError(f"{name} must have shape ({size}, {size}, {size}) like the arcs, not {array.shape}")
    return array


def no_tree(name: str = "scores", *, single_root: bool = False, projective: bool = False) -> NoTreeError:
    """What to raise when no tree has a score above -inf."""
    kind = "projective tree" if projective else "tree"
    roots = " with a single root" if single_root else ""
    return NoTreeError(f"there is no {kind}{roots} for {name}")


def unlimited_children() -> UnsupportedConstraint:
    """What to raise when a decoder cannot limit the number of children."""
    return UnsupportedConstraint(
        "max_children cannot be honoured here (best_tree with projective=True can, and an integer program)"
    )


def flags_of(constraints: Constraints | None, *, single_root: bool, projective: bool) -> tuple[bool, bool]:
    """(single_root, projective), each of which the constraints or the shorthand may ask for."""
    if constraints is None:
        return single_root, projective
    return single_root or constraints.single_root, projective or constraints.projective


def allowed_arcs(constraints: Constraints, size: int) -> NDArray[np.bool_]:
    """allowed[h, m]: whether a tree over the nodes 0..size-1 may have the arc from head h to modifier m.

    Raises ``NoTreeError`` if a word is left without a head or the required arcs form a cycle, ``ValueError`` for what
    is no arc at all.
    """
    allowed = ~np.eye(size, dtype=np.bool_)
    allowed[:, 0] = False
    for head, modifier in (*constraints.required_arcs, *constraints.forbidden_arcs):
        if not (0 <= head < size and 1 <= modifier < size and head != modifier):
            raise ValueError(f"constraint on the arc ({head}, {modifier}), which is not an arc over {size - 1} words")
    for head, modifier in constraints.required_arcs:
        allowed[:head, modifier] = allowed[head + 1 :, modifier] = False
    for head, modifier in constraints.forbidden_arcs:
        allowed[head, modifier] = False
    _require_choice(allowed[:, 1:].T, "head")
    if _has_cycle({modifier: head for head, modifier in constraints.required_arcs}):
        raise NoTreeError("the required arcs form a cycle")
    return allowed


def allowed_labels(constraints: Constraints, size: int, n_labels: int) -> NDArray[np.bool_]:
    """allowed[m, l]: whether the arc into word m may have the label l.

    Raises ``NoTreeError`` if a word is left without a label, ``ValueError`` for a word or label that does not exist.
    """
    allowed = np.ones((size, n_labels), dtype=np.bool_)
    for modifier, label in (*constraints.required_labels.items(), *constraints.forbidden_labels):
        if not (1 <= modifier < size and 0 <= label < n_labels):
            place = f"constraint on label {label} of word {modifier}"
            raise ValueError(f"{place}: there are {size - 1} words and {n_labels} labels")
    for modifier, label in constraints.required_labels.items():
        allowed[modifier, :label] = allowed[modifier, label + 1 :] = False
    for modifier, label in constraints.forbidden_labels:
        allowed[modifier, label] = False
    _require_choice(allowed[1:], "label")
    return allowed


def _require_choice(choices: NDArray[np.bool_], what: str) -> None:
    """Raises ``NoTreeError`` that names the first word without a choice; row i is of word i + 1."""
    has_choice = np.asarray(choices.any(axis=1))
    if not has_choice.all():
        raise NoTreeError(f"the constraints allow no {what} for word {1 + int(has_choice.argmin())}")


def _has_cycle(heads: dict[int, int]) -> bool:
    """Whether a word comes back to itself, from head to head as far as these are given."""
    for word in heads:
        node = heads[word]
        for _ in heads:
            node = heads.get(node, node)
        if node in heads:
            return True
    return False


def limits_of_children(constraints: Constraints | None, size: int, single_root: bool) -> NDArray[np.int64] | None:
    """limits[h]: how many children node h may have; None if there is no limit but the single root.

    Raises ``ValueError`` for a node that does not exist, or a limit below 0.
    """
    if constraints is None or not constraints.max_children:
        return None
    limits = np.full(size, size - 1)
    for head, most in constraints.max_children.items():
        if not (0 <= head < size and most >= 0):
            raise ValueError(f"constraint of {most} children of node {head}: there are {size - 1} words")
        limits[head] = min(most, size - 1)
    if single_root:
        limits[0] = min(limits[0], 1)
    return limits


def masked(scores: Scores, constraints: Constraints | None, *, limits_children: bool = False) -> Scores:
    """``scores`` with -inf where the constraints on arcs and labels forbid an arc: a copy, or ``scores`` itself.

    Raises ``UnsupportedConstraint`` for a constraint that no mask expresses; the limits on children are left to a
    caller that ``limits_children``.
    """
    if constraints is None:
        return scores
    if constraints.max_children and not limits_children:
        raise unlimited_children()
    if constraints.max_degree is not None:
        raise UnsupportedConstraint("max_degree cannot be honoured by this decoder (projective=True is degree 0)")
    on_arcs = constraints.required_arcs or constraints.forbidden_arcs
    on_labels = constraints.required_labels or constraints.forbidden_labels
    if on_labels and scores.ndim == 2:
        raise ValueError("constraints on labels need labelled scores")
    if not (on_arcs or on_labels):
        return scores
    result = scores.copy()
    if on_arcs:
        result[~allowed_arcs(constraints, len(scores))] = -np.inf
    if on_labels:
        result[:, ~allowed_labels(constraints, *scores.shape[1:])] = -np.inf
    return result


def best_label_of_each_arc(scores: Scores) -> tuple[Scores, NDArray[np.int64] | None]:
    """Arc scores, and for labelled scores the best label of each arc (None otherwise)."""
    if scores.ndim == 2:
        return scores, None
    arcs = np.empty(scores.shape[:2])
    labels = np.empty(scores.shape[:2], dtype=np.int64)
    best_labels(scores, arcs, labels)
    return arcs, labels


def arcs_and_labels(
    scores: NDArray[Any], rule: Constraints | None, name: str
) -> tuple[NDArray[Any], NDArray[np.int64] | None]:
    """The score of each arc that the rule allows, and its best label.

    Where nothing but the scores of arcs counts, looking for NaN is left to the kernels.
    """
    if rule is None and is_shape_of_arcs(scores.shape):
        return scores, None
    return best_label_of_each_arc(masked(checked_scores(scores, name=name), rule, limits_children=True))


def summed_labels(scores: Scores) -> Scores:
    """Arc scores whose exponentials are the sums over the labels' exponentials."""
    if scores.ndim == 2:
        return scores
    arcs = np.empty(scores.shape[:2])
    log_sum_labels(scores, arcs)
    return arcs


def score_of_tree(scores: Scores, heads: NDArray[np.int64], labels: NDArray[np.int64] | None = None) -> float:
    """The sum of the scores of a tree's (labelled) arcs."""
    words = np.arange(1, len(heads))
    arcs = scores[heads[1:], words] if labels is None else scores[heads[1:], words, labels[1:]]
    return float(arcs.sum())


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


def trees_of(
    heads: Iterable[NDArray[np.int64]], labels: Iterable[NDArray[np.int64] | None] | None, scores: Iterable[float]
) -> list[Tree]:
    """``tree_of`` of many sentences; no labels at all if none of them has any."""
    chosen = repeat(None) if labels is None else map(labels_of, heads, labels)
    return list(map(_new_tree, zip(heads, chosen, scores, strict=False)))


def bad_number(array: Scores, flat_index: int, name: str) -> ValueError:
    position = tuple(int(i) for i in np.unravel_index(flat_index, array.shape))
    return ValueError(f"{name}[{', '.join(map(str, position))}] is {array[position]}")
