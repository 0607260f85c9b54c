"""From a fractional solution to a tree: the nearest one, or a better one near it that keeps the rules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import NoTreeError
from crossarc.ilp import _rounding as kernels
from crossarc.ilp import deadline as clock
from crossarc.ilp.deadline import Deadline
from crossarc.ilp.parts import Parts, score_of_tree
from crossarc.ilp.rule_rows import FORBIDDEN, RuleRows, rule_rows
from crossarc.ilp.rules import FewArcs, Rule
from crossarc.trees import best_tree, crossing_arcs, nonprojective_arcs

__all__ = ["Rounded", "improved", "nearest_tree", "rounded"]

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

_TREES = 16
_NOISE = 0.3  # how much values are changed at random, in Gumbel noise
_LITTLE = 1e-3  # less than this of an arc is nothing
_BROKEN = 1e-6


class Rounded(NamedTuple):
    """A tree.

    Attributes
    ----------
    heads : array
    labels : array or None
        If there are labels to be chosen.
    score : float
        Of its parts and labels, less what it loses for soft rules; -inf if it has a forbidden part or breaks a hard
        rule.
    broken : rules
        The rules that it breaks.
    """

    heads: Indices
    labels: Indices | None
    score: float
    broken: tuple[Rule, ...]


def nearest_tree(parts: Parts, values: Floats, *, single_root: bool, projective: bool = False) -> Indices:
    """The maximal arborescence over the values of the arcs.

    Raises
    ------
    NoTreeError
    """
    weights = np.full((parts.size, parts.size), -np.inf)
    weights[parts.heads, parts.modifiers] = values
    return best_tree(weights, single_root=single_root, projective=projective).heads


def improved(parts: Parts, tree: Indices, *, single_root: bool, rules: RuleRows | None = None) -> Rounded:
    """A tree that gets no better if the arc or the label of one word is changed, found from another one."""
    return _best(parts, np.empty((0, len(parts.arcs))), np.empty(0, np.int64), tree, single_root, rules)


def rounded(
    parts: Parts,
    values: Floats,
    *,
    single_root: bool,
    seed: int,
    projective: bool = False,
    rules: RuleRows | None = None,
    enough: float = np.inf,
    deadline: Deadline | None = None,
) -> Rounded:
    """The best of several trees near the values of the arcs.

    They are maximal arborescences over the values, and over values that are changed at random; each is improved by arcs
    that have a value, and the best one by all. A fractional solution is often a mixture of few trees. The first of them
    will do if it scores ``enough``; of the others there are as many as the time allows.

    Raises
    ------
    NoTreeError
    """
    deadline = deadline or Deadline.after(None)
    there, start = np.flatnonzero(values > _LITTLE), clock.now()
    nearest = _nearest_projective if projective else _nearest
    best = nearest(parts, values[np.newaxis], there, single_root, rules)
    others = int(min(deadline.left / max(clock.now() - start, 1e-9), _TREES - 1))
    if best.score >= enough or others == 0:
        return best
    many = np.tile(values, (others, 1))
    many[:, there] += np.random.default_rng(seed).gumbel(scale=_NOISE, size=(_TREES - 1, len(there)))[:others]
    other = nearest(parts, many, there, single_root, rules)
    return other if other.score > best.score else best


def _nearest(parts: Parts, many: Floats, arcs: Indices, single_root: bool, rules: RuleRows | None) -> Rounded:
    return _best(parts, many, arcs, np.full(parts.size, -1), single_root, rules)


def _nearest_projective(
    parts: Parts, many: Floats, arcs: Indices, single_root: bool, rules: RuleRows | None
) -> Rounded:
    """The best of maximal projective trees, each improved by all arcs; the rules say that arcs must not cross."""
    nearest = [nearest_tree(parts, values, single_root=single_root, projective=True) for values in many]
    different = {tree.tobytes(): tree for tree in nearest}
    found = [improved(parts, tree, single_root=single_root, rules=rules) for tree in different.values()]
    return max(found, key=lambda tree: tree.score)


def _best(
    parts: Parts, many: Floats, arcs: Indices, tree: Indices, single_root: bool, rules: RuleRows | None
) -> Rounded:
    rows = rules or rule_rows(parts, ())
    ruled, heads, chosen = _ruled(rows), tree.copy(), np.zeros_like(tree)
    if kernels.best_of_nearest(parts, ruled, many, arcs, single_root, heads, chosen) == -np.inf:
        raise NoTreeError("the candidates have no tree")
    return _with_rules(parts, rows, ruled, heads, chosen)


def _ruled(rows: RuleRows) -> kernels.Ruled:
    """The choices of a tree, and the rows of the rules by variables."""
    n_arcs, rule = len(rows.variables.arcs), rows.rows
    own = np.repeat(np.arange(len(rule.lower)), np.diff(rule.starts))
    order = np.argsort(rule.columns, kind="stable")
    limits = [one for one in rows.rules if isinstance(one, FewArcs)]
    # what is said of marks is counted in the tree
    weights = np.array([0.0 if isinstance(one, FewArcs) else min(one.weight, FORBIDDEN) for one in rows.rules])
    # a kernel is compiled for contiguous arrays, or for others: not for both, as those of one arc would make it be
    arcs, columns = (np.ascontiguousarray(column) for column in rows.choices.T)
    return kernels.Ruled(
        np.searchsorted(arcs, np.arange(n_arcs + 1)),
        columns,
        np.where(columns >= n_arcs, rows.scores[columns], rows.scores[arcs] - rows.variables.parts.arcs[arcs]),
        np.searchsorted(rule.columns[order], np.arange(len(rows.scores) + 1)),
        own[order],
        rule.values[order],
        rule.lower,
        rule.upper,
        weights[rows.rule] if len(rows.rules) else np.empty(0),
        np.array([[one.crossing, one.most] for one in limits], dtype=np.int64).reshape(-1, 2),
        np.array([min(one.weight, FORBIDDEN) for one in limits]),
    )


def _with_rules(parts: Parts, rows: RuleRows, ruled: kernels.Ruled, heads: Indices, chosen: Indices) -> Rounded:
    """The tree of some choices: its score, and the rules that it breaks."""
    choice, labels = chosen[1:], None
    score = score_of_tree(parts, heads) + float(ruled.scores[choice].sum())
    if rows.variables.labels.shape[1]:
        labels = np.concatenate([[-1], rows.labels[choice]])
    if not len(rows.rules):
        return Rounded(heads, labels, score, ())
    values = np.zeros(len(rows.scores))
    values[rows.choices[choice].ravel()] = 1.0
    arcs, crossing = rows.choices[choice, 0], np.unique(crossing_arcs(heads))
    if len(rows.variables.nonprojective):
        values[rows.variables.nonprojective[arcs]] = nonprojective_arcs(heads)[1:]
    if len(rows.variables.crossing):
        values[rows.variables.crossing[arcs[crossing - 1]]] = 1.0
    rule = rows.rows
    own = np.repeat(np.arange(len(rule.lower)), np.diff(rule.starts))
    filled = np.bincount(own, rule.values * values[rule.columns], minlength=len(rule.lower))
    times = np.maximum(np.maximum(rule.lower - filled, filled - rule.upper), 0.0)
    broken = np.bincount(rows.rule, times, minlength=len(rows.rules))
    score -= sum(one.weight * much for one, much in zip(rows.rules, broken, strict=True) if much > _BROKEN)
    return Rounded(
        heads, labels, score, tuple(one for one, much in zip(rows.rules, broken, strict=True) if much > _BROKEN)
    )
