"""What callers give to a program, checked before a kernel looks at it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import NoTreeError
from crossarc.ilp.parts import Indicators, Pairs, Parts, indicators_of_tree, score_of_tree
from crossarc.ilp.rules import Arcs, Children, Rule, SameHead
from crossarc.trees._input import FLOAT, INTEGER, for_kernel
from crossarc.trees.shape import checked_tree

__all__ = ["check_candidates", "check_rules", "checked_parts", "indicators_of", "score_of"]

_LARGEST = 1 << 15  # nodes of a sentence: there are arrays of all pairs


def checked_parts(parts: Parts) -> Parts:
    """The parts as kernels want them; ``ValueError`` for numbers that are no arcs, and for scores that are not theirs.

    Arcs are in the order of their modifiers, and of their heads for each of these, as ``parts_of`` has them.
    """
    if not isinstance(parts, Parts):
        raise ValueError(f"parts must be Parts, as parts_of makes them, not {type(parts).__name__}")
    size = parts.size
    if not isinstance(size, int | np.integer) or not 1 <= size <= _LARGEST:
        raise ValueError(f"size is {size}, not a number of nodes from 1 to {_LARGEST}")
    heads, modifiers = _numbers("heads", parts.heads, 0, size), _numbers("modifiers", parts.modifiers, 1, size)
    n_arcs = len(heads)
    arcs = _scores("arcs", parts.arcs, (n_arcs,))
    if len(modifiers) != n_arcs or (heads == modifiers).any() or (np.diff(modifiers * size + heads) <= 0).any():
        raise ValueError("heads and modifiers are no arcs in order, each once")
    found = parts._replace(
        size=int(size),
        heads=heads,
        modifiers=modifiers,
        arcs=arcs,
        siblings=_pairs("siblings", parts.siblings, n_arcs),
        grandparents=_pairs("grandparents", parts.grandparents, n_arcs),
        next_siblings=_pairs("next_siblings", parts.next_siblings, n_arcs, lowest=-1),
        valencies=_valencies(parts.valencies, size),
        nonprojective=_of_arcs("nonprojective", parts.nonprojective, n_arcs),
        crossing=_of_arcs("crossing", parts.crossing, n_arcs),
        labels=_labels(parts.labels, n_arcs),
    )
    _check_pairs(found)
    return found


def check_candidates(parts: Parts) -> None:
    """``NoTreeError`` if a word has no candidate, or none has the root: there is no factor for it then."""
    candidates = np.bincount(parts.modifiers, minlength=parts.size)
    if parts.size > 1 and (candidates[1:].min() == 0 or not (parts.heads == 0).any()):
        raise NoTreeError("a word has no candidate head, or no word that of the root")


def indicators_of(parts: Parts, heads: ArrayLike) -> Indicators:
    """The parts that a tree has; ``ValueError`` for heads that are no tree, or one of another length."""
    checked = checked_parts(parts)
    return indicators_of_tree(checked, _heads(checked, heads))


def score_of(parts: Parts, heads: ArrayLike) -> float:
    """The sum of the scores of all parts of a tree, without labels; -inf if it has an arc that is no candidate.

    ``ValueError`` for heads that are no tree, or one of another length.
    """
    checked = checked_parts(parts)
    return score_of_tree(checked, _heads(checked, heads))


def check_rules(rules: Sequence[Rule], parts: Parts) -> None:
    """``ValueError`` for a rule about words that there are not, or one that rewards those who break it."""
    size = parts.size
    for rule in rules:
        if not rule.weight >= 0.0:
            raise ValueError(f"{rule}: its weight is {rule.weight}")
        if isinstance(rule, Children) and not (rule.heads or frozenset()) <= set(range(size)):
            raise ValueError(f"{rule}: it is about heads that there are not")
        if isinstance(rule, SameHead) and not (rule.words and set(rule.words) <= set(range(1, size))):
            raise ValueError(f"{rule}: it is about words that there are not")
        if isinstance(rule, Arcs) and np.shape(rule.forbidden) != (size, size):
            raise ValueError(
                f"{type(rule).__name__}: forbidden has the shape {np.shape(rule.forbidden)}, not {(size, size)}"
            )


def _heads(parts: Parts, heads: ArrayLike) -> NDArray[np.int64]:
    """The heads of a tree over the words of the parts; ``ValueError`` for anything else."""
    tree = checked_tree(heads)
    if len(tree) != parts.size:
        raise ValueError(f"heads of {len(tree) - 1} words, but parts of {parts.size - 1}")
    return tree


def _numbers(name: str, given: Any, low: int, high: int) -> NDArray[np.int64]:
    array = np.asarray(given)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} has the shape {array.shape} and the type {array.dtype}, not one row of integers")
    if len(array) and not (low <= int(array.min()) and int(array.max()) < high):
        raise ValueError(f"{name} has numbers that are not from {low} to {high - 1}")
    return for_kernel(array, INTEGER)


def _scores(name: str, given: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = for_kernel(given, FLOAT)
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}, not {shape}")
    if not (array < np.inf).all():
        raise ValueError(f"{name} has a score that is NaN or infinite")
    return array


def _pairs(name: str, given: Any, n_arcs: int, lowest: int = 0) -> Pairs:
    if not isinstance(given, Pairs):
        raise ValueError(f"{name} must be Pairs, not {type(given).__name__}")
    first, second = _numbers(name, given.first, lowest, n_arcs), _numbers(name, given.second, 0, n_arcs)
    scores = _scores(name, given.scores, (len(first),))
    if len(second) != len(first):
        raise ValueError(f"{name} has {len(first)} first arcs and {len(second)} second ones")
    return Pairs(first, second, scores)


def _check_pairs(parts: Parts) -> None:
    """Pairs are of arcs that have a word in common: kernels look for them there."""
    heads, modifiers = parts.heads, parts.modifiers
    first, second, _ = parts.siblings
    if (heads[first] != heads[second]).any() or (first == second).any():
        raise ValueError("siblings has arcs from different heads")
    first, second, _ = parts.grandparents
    if (modifiers[first] != heads[second]).any() or (heads[first] == modifiers[second]).any():
        raise ValueError("grandparents has arcs that do not follow each other")
    own = parts.next_siblings.first >= 0
    first, second = parts.next_siblings.first[own], parts.next_siblings.second[own]
    outside = np.abs(modifiers[second] - heads[second]) > np.abs(modifiers[first] - heads[first])
    if (heads[first] != heads[second]).any() or (parts.sides[first] != parts.sides[second]).any() or not outside.all():
        raise ValueError("next_siblings has arcs that are not on one side of the same head, the nearer one first")
    for name, pairs in (("grandparents", parts.grandparents), ("next_siblings", parts.next_siblings)):
        keys = (pairs.first + 1) * len(heads) + pairs.second
        if len(np.unique(keys)) < len(keys):
            raise ValueError(f"{name} has a pair twice")


def _valencies(given: Any, size: int) -> NDArray[np.float64]:
    array = for_kernel(given, FLOAT)
    if array.size == 0 and array.ndim == 3:
        return np.empty((0, 0, 0))
    if array.ndim != 3 or array.shape[0] != size or array.shape[1] not in (1, 2):
        raise ValueError(f"valencies has the shape {array.shape}, not ({size}, 1 or 2, K+1)")
    return _scores("valencies", array, array.shape)


def _of_arcs(name: str, given: Any, n_arcs: int) -> NDArray[np.float64]:
    array = for_kernel(given, FLOAT)
    return _scores(name, array, (n_arcs,) if array.size else (0,))


def _labels(given: Any, n_arcs: int) -> NDArray[np.float64]:
    array = for_kernel(given, FLOAT)
    if array.ndim != 2 or (array.size and len(array) != n_arcs):
        raise ValueError(f"labels has the shape {array.shape}, not ({n_arcs}, L)")
    return _scores("labels", array, array.shape)
