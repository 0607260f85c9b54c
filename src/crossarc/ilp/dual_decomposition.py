"""The relaxation without a linear program: dual decomposition in alternating directions (AD³).

It is the relaxation that HiGHS solves with cutting planes, taken apart into small factors, which are solved one by one
and drawn towards each other: see ``_dual_decomposition``. Much faster, above all if a solution near the best will do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import NoTreeError
from crossarc.ilp import _dual_decomposition as kernels
from crossarc.ilp import deadline as clock
from crossarc.ilp._cuts import cut_sets, unreached_spans
from crossarc.ilp.arborescences import conflicts
from crossarc.ilp.checks import check_candidates, checked_parts
from crossarc.ilp.crossing_clauses import (
    Literals,
    broken_exclusions,
    exclusions,
    good_marks_of_arcs,
    unfounded_marks,
)
from crossarc.ilp.deadline import Deadline
from crossarc.ilp.factors import factors_of, grouped
from crossarc.ilp.parts import Indicators, Parts
from crossarc.ilp.rule_rows import FORBIDDEN, RuleRows, rule_rows

__all__ = ["Relaxed", "Stopping", "relax", "relax_checked"]

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_RATE = 0.2  # the first one
_ROUNDS = 25  # between looks for what the clauses do not exclude yet
_EXACT = 1e-12  # a disagreement that is none, of what is nearly a tree
_LEAST = 1e-18  # the least disagreement that is worth working for
_LITTLE = 1e-5  # less than this of a part is nothing
_INTEGRAL = 0.1  # how far from an integer a variable may be that is likely to become one


class Relaxed(NamedTuple):
    """A solution of the relaxation.

    Attributes
    ----------
    indicators : Indicators
        How much it has of each part.
    bound : float
        No tree has a higher score.
    disagreement : float
        The sum of the squared differences between what the factors want and what they agree on.
    rounds : int
        How often the factors were solved.
    in_time : bool
        Whether it ended before the time limit.
    """

    indicators: Indicators
    bound: float
    disagreement: float
    rounds: int
    in_time: bool = True


class Stopping(NamedTuple):
    """When rounds end: see ``relax``."""

    rounds: int = 1000
    tolerance: float = 1e-6
    progress: float = 0.0


def relax(
    parts: Parts,
    *,
    single_root: bool,
    projective: bool = False,
    rounds: int = 1000,
    tolerance: float = 1e-6,
    progress: float = 0.0,
    rules: RuleRows | None = None,
    deadline: Deadline | None = None,
) -> Relaxed:
    """Solve the relaxation of the parts; labels only where ``rules`` choose them.

    Parameters
    ----------
    parts : Parts
        Every word has candidates, and the root is one of some word.
    single_root : bool
        Whether the root has one child only.
    projective : bool
        Whether arcs must not cross.
    rounds : int
        How often the factors are solved at most.
    tolerance : float
        The disagreement of a fractional solution that will do, if its score is below the bound by the square root of
        this at most, as a share. What is nearly a tree goes on until it is one.
    progress : float
        Rounds end when the bound falls by less than this in 100 of them, as a share of it, and the solution is nowhere
        near a tree.
    rules : RuleRows, optional
        What is added to the factors where a solution breaks it; not broken rows cost nothing.
    deadline : Deadline, optional
        When the solution and its bound are taken as they are.

    Raises
    ------
    NoTreeError
        A word has no candidates.
    ValueError
        The parts do not fit together, or arcs have scores of -inf.
    """
    checked = checked_parts(parts)
    check_candidates(checked)
    if rounds < 0 or not tolerance >= 0.0 or not progress >= 0.0:
        raise ValueError("rounds, tolerance and progress must not be negative")
    if (checked.arcs == -np.inf).any():
        raise ValueError("forbidden arcs: these are for solve")
    rows = rule_rows(checked, ()) if rules is None else rules
    stopping = Stopping(rounds, tolerance, progress)
    deadline = deadline or Deadline.after(None)
    return relax_checked(checked, rows, stopping, deadline, single_root=single_root, projective=projective)


def relax_checked(
    parts: Parts, rules: RuleRows, stopping: Stopping, deadline: Deadline, *, single_root: bool, projective: bool
) -> Relaxed:
    """``relax`` of parts that are known to be right."""
    decomposition = _Decomposition(parts, rules, single_root=single_root, projective=projective)
    decomposition.run(stopping, deadline)
    return decomposition.relaxed(in_time=not deadline.is_over)


class _Decomposition:
    """The state of the rounds: multipliers, copies, and what they agree on."""

    def __init__(self, parts: Parts, rules: RuleRows, *, single_root: bool, projective: bool) -> None:
        self.parts, self.n_arcs, self.rules, self.projective = parts, len(parts.arcs), rules, projective
        self.marks = slice(self.n_arcs, self.n_arcs + len(parts.nonprojective))
        self.scores = rules.scores.copy()
        self.scores[self.marks] = _scores_of_marks(parts)
        crossing = rules.variables.crossing
        self.scores[crossing] = np.maximum(parts.crossing, -FORBIDDEN)
        self.factors = factors_of(parts)
        self.clauses = _choices(parts, single_root)
        self.known: set[bytes] = set()  # the sets of words that have clauses
        self.open = np.diff(rules.rows.starts) > 0  # the rows of rules that have no clause yet
        self.degrees = np.zeros(len(self.scores))
        self._count_copies(self.factors.variables, *parts.siblings[:2], self.clauses.variables)
        candidates = np.bincount(parts.modifiers, minlength=parts.size)
        self.agreed = np.zeros(len(self.scores))
        self.agreed[: self.n_arcs] = 1.0 / candidates[parts.modifiers]
        self.of_factors = self._copies(self.factors.variables)
        self.of_pairs = self._copies(np.stack(parts.siblings[:2]))
        self.of_clauses = self._copies(self.clauses.variables)
        self.active = _none_active(len(self.factors.kinds), len(self.factors.variables))
        self.rate, self.rounds, self.disagreement = _RATE, 0, np.inf
        self.seconds = 0.0  # that the last rounds took each
        for marks in (np.arange(self.n_arcs, self.n_arcs + len(parts.nonprojective)), crossing):
            good = np.flatnonzero(self.scores[marks] > 0)
            self._add(good_marks_of_arcs(good, marks[good]))
        self._add_labels()

    def _add_labels(self) -> None:
        """Clauses by which an arc has exactly one of its labels: either it is not there, or one of them is."""
        arcs, columns = self.rules.choices[self.rules.choices[:, 1] >= self.n_arcs].T
        if len(arcs):
            every, rows = np.unique(arcs, return_inverse=True)
            self.agreed[columns] = self.agreed[arcs] / np.bincount(rows)[rows]
            negated = np.arange(len(arcs) + len(every)) >= len(arcs)
            literals = np.concatenate([columns, every])
            ones = np.ones(len(every))
            self._add(Literals(np.concatenate([rows, np.arange(len(every))]), literals, negated, ones, ones))

    def _count_copies(self, *variables: Indices) -> None:
        for of_kind in variables:
            self.degrees += np.bincount(of_kind, minlength=len(self.degrees))

    def _copies(self, variables: Indices) -> kernels.Copies:
        """A share of the score of its variable for each copy."""
        return kernels.Copies(self.scores[variables] / self.degrees[variables], self.agreed[variables])

    def run(self, stopping: Stopping, deadline: Deadline) -> None:
        rounds, tolerance, progress = stopping
        bound, looked_at, gap = np.inf, 0, tolerance**0.5
        while self.rounds < rounds and not deadline.is_over:
            start = clock.now()
            done, self.rate, self.disagreement = kernels.alternate(
                self.factors,
                self.parts.siblings,
                self.clauses,
                self.active,
                self.of_factors,
                self.of_pairs,
                self.of_clauses,
                self.agreed,
                self.degrees,
                self.rate,
                self.rounds,
                min(rounds - self.rounds, _ROUNDS, self._rounds_in(deadline.left)),
                tolerance,
            )
            self.rounds += done
            self.seconds = (clock.now() - start) / done
            # what is broken by less than the copies disagree may well mend itself
            if not self._cut(min(max(self.disagreement**0.5, 1e-5), 0.2)) and self.disagreement < tolerance:
                least = _EXACT if self._is_nearly_integral() else _LEAST
                if tolerance <= least or (least == _LEAST and self._gap() <= gap):
                    break
                tolerance = least if least == _EXACT else 0.01 * tolerance
            if progress > 0.0 and self.rounds >= looked_at + 100:
                before, bound, looked_at = bound, self._bound(), self.rounds
                if before - bound < progress * abs(bound) and not self._is_nearly_integral():
                    break

    def _rounds_in(self, seconds: float) -> int:
        """How many rounds are possible in this time, judged by the last ones; before, by their operations."""
        operations = len(self.factors.tables) + len(self.parts.siblings.first) + len(self.clauses.variables)
        each = self.seconds or 1e-7 * operations
        return _ROUNDS if seconds > _ROUNDS * each else max(int(seconds / each), 1)

    def _is_nearly_integral(self) -> bool:
        return bool((np.abs(self.agreed - np.rint(self.agreed)) < _INTEGRAL).all())

    def _cut(self, tolerance: float) -> bool:
        """Add clauses that are broken by more than the tolerance: rules, cycles, or else missing marks."""
        parts, arcs = self.parts, self.agreed[: self.n_arcs]
        ruled = self._cut_rules(tolerance)
        capacity = np.zeros((parts.size, parts.size))
        # much less than what is asked for makes no difference, but there is a little of nearly every arc
        capacity[parts.heads, parts.modifiers] = np.where(arcs > 0.1 * tolerance, arcs, 0.0)
        sets: Flags = cut_sets(capacity, tolerance)
        sets = sets[self._unknown([bytes(one) for one in sets])]
        if len(sets):
            rows, entering = np.nonzero(sets[:, parts.modifiers] & ~sets[:, parts.heads])
            if len(np.unique(rows)) < len(sets):
                raise NoTreeError("no arc leads into a cycle")
            ones = np.ones(len(sets))
            self._add(Literals(rows, entering, np.zeros(len(rows), np.bool_), ones, np.inf * ones))
            return True
        crossing = self._cut_crossing(tolerance)
        if not len(parts.nonprojective):
            return ruled or crossing
        marks = self.agreed[self.marks]
        found, sets = unreached_spans(capacity, parts.heads, parts.modifiers, arcs, marks, tolerance)
        new = self._unknown([bytes(arc) + bytes(one) for arc, one in zip(found, sets, strict=True)])
        found, sets = found[new], sets[new]
        rows, leaving = np.nonzero(sets[:, parts.heads] & ~sets[:, parts.modifiers])
        every = np.arange(len(found))
        literals, ones = np.concatenate([found, found + self.n_arcs, leaving]), np.ones(len(found))
        negated = np.arange(len(literals)) < len(found)
        self._add(Literals(np.concatenate([every, every, rows]), literals, negated, ones, np.inf * ones))
        return bool(len(found)) or ruled or crossing

    def _cut_rules(self, tolerance: float) -> bool:
        """Add the rows of rules that are broken."""
        rows = self.rules.rows
        if not self.open.any():
            return False
        own = np.repeat(np.arange(len(rows.lower)), np.diff(rows.starts))
        filled = np.bincount(own, rows.values * self.agreed[rows.columns], minlength=len(rows.lower))
        broken = self.open & (np.maximum(rows.lower - filled, filled - rows.upper) > tolerance)
        self.open &= ~broken
        literals = broken[own]
        negated = rows.values[literals] < 0.0
        number = np.cumsum(broken) - 1
        own = number[own[literals]]
        n_negated = np.bincount(own, negated, minlength=int(broken.sum()))
        columns, limits = rows.columns[literals].astype(np.int64), (rows.lower[broken], rows.upper[broken])
        self._add(Literals(own, columns, negated, *(limit + n_negated for limit in limits)), self.rules.weights[broken])
        return bool(broken.any())

    def _cut_crossing(self, tolerance: float) -> bool:
        """Add what says of arcs that cross: not both are there, or they are marked; and marked arcs do cross others."""
        parts, arcs, marks = self.parts, self.agreed[: self.n_arcs], self.rules.variables.crossing
        found = False
        if self.projective:
            found = self._exclude(broken_exclusions(parts, arcs, arcs, tolerance, cycles=True), None)
        if not len(marks):
            return found
        marked = self.agreed[marks]
        found |= self._exclude(broken_exclusions(parts, arcs - marked, arcs, tolerance, cycles=False), marks)
        own = np.flatnonzero((self.scores[marks] > 0.0) & (marked > tolerance))
        crossed = np.where(conflicts(parts, cycles=False, arcs=own), arcs, 0.0).sum(axis=1)
        own = own[marked[own] > crossed + tolerance]
        own = own[self._unknown([b"unfounded %d" % arc for arc in own])]
        self._add(unfounded_marks(parts, own, marks))
        return found or bool(len(own))

    def _exclude(self, pairs: Indices, marks: Indices | None) -> bool:
        """Add clauses against arcs that cross the arcs into a word; whether any are new."""
        cycles = marks is None
        pairs = pairs[self._unknown([b"crossing %d %d %d" % (cycles, arc, word) for arc, word in pairs])]
        if len(pairs):
            self._add(exclusions(self.parts, pairs, marks, cycles=cycles))
        return bool(len(pairs))

    def _unknown(self, names: list[bytes]) -> list[int]:
        """The numbers of those sets that have no clauses yet."""
        new = [i for i, name in enumerate(names) if name not in self.known]
        self.known.update(names)
        return new

    def _add(self, literals: Literals, weights: Floats | None = None) -> None:
        """Add clauses; those with a finite weight may be broken at that cost."""
        rows, variables, negated, least, most = literals
        order = np.argsort(rows, kind="stable")
        variables, negated, counts = variables[order], negated[order], np.bincount(rows, minlength=len(least))
        without = self.degrees == 0  # marks that nothing has asked for so far
        self._count_copies(variables)
        new = self._copies(variables)
        new.multipliers[~without[variables]] = 0.0
        old = self.clauses
        self.clauses = kernels.Clauses(
            np.concatenate([old.starts, old.starts[-1] + np.cumsum(counts)]),
            np.concatenate([old.variables, variables]),
            np.concatenate([old.negated, negated]),
            np.concatenate([old.least, least]),
            np.concatenate([old.most, most]),
            np.concatenate([old.weights, np.full(len(least), np.inf) if weights is None else weights]),
        )
        self.of_clauses = kernels.Copies(*map(np.concatenate, zip(self.of_clauses, new, strict=True)))

    def relaxed(self, *, in_time: bool) -> Relaxed:
        return Relaxed(self._indicators(), self._bound(), self.disagreement, self.rounds, in_time)

    def _indicators(self) -> Indicators:
        """How much there is of each part: of the variables as agreed, of other parts as their factors mix them."""
        parts, arcs = self.parts, self.agreed[: self.n_arcs]
        grandparents, next_siblings = np.zeros(len(parts.grandparents.first)), np.zeros(len(parts.next_siblings.first))
        valencies = np.zeros(parts.valencies.shape)
        for kind, amounts in (
            (kernels.GRANDPARENTS, grandparents),
            (kernels.NEXT_SIBLINGS, next_siblings),
            (kernels.VALENCY, valencies.ravel()),
        ):
            kernels.add_amounts(self.factors, self.active, kind, amounts)
        valencies[self._without_children, :1] = 1.0
        marks, crossing = self.agreed[self.marks], self.agreed[self.rules.variables.crossing]
        return Indicators(arcs, parts.siblings.both(arcs), grandparents, next_siblings, valencies, marks, crossing)

    @property
    def _without_children(self) -> Flags:
        """``[h, side]``: heads that are no candidates have no factor."""
        parts, n_sides = self.parts, self.parts.valencies.shape[1]
        there = np.zeros(parts.valencies.shape[:2], np.bool_)
        if there.size:
            there[parts.heads, parts.sides.astype(np.int64) if n_sides == 2 else 0] = True
        return ~there

    def _gap(self) -> float:
        """How far the score of what is agreed on is below the bound, as a share."""
        parts, found, bound = self.parts, self._indicators(), self._bound()
        own = (parts.siblings.scores, parts.grandparents.scores, parts.next_siblings.scores, parts.valencies)
        score = float(self.scores @ self.agreed) - self._cost_of_rules()
        score += sum(float(a[b > _LITTLE] @ b[b > _LITTLE]) for a, b in zip(own, found[1:5], strict=True))
        return (bound - score) / max(abs(bound), 1.0)

    def _cost_of_rules(self) -> float:
        """What it costs that soft rules are broken."""
        clauses = self.clauses
        values = np.where(clauses.negated, 1.0 - self.agreed[clauses.variables], self.agreed[clauses.variables])
        filled = np.add.reduceat(values, clauses.starts[:-1])
        soft = clauses.weights < np.inf
        away = np.maximum(np.maximum(clauses.least - filled, filled - clauses.most), 0.0)[soft]
        return float(clauses.weights[soft] @ away)

    def _bound(self) -> float:
        """No tree has a higher score."""
        copies = self.of_factors, self.of_pairs, self.of_clauses
        bound = kernels.bound_of(self.factors, self.parts.siblings, self.clauses, *copies, len(self.scores))
        return float(bound + self.parts.valencies[self._without_children, :1].sum())


def _none_active(n_factors: int, n_copies: int) -> kernels.Active:
    most = kernels.MOST_ACTIVE
    return kernels.Active(
        np.zeros(n_factors, np.int64),
        np.zeros((n_factors, most)),
        np.zeros((n_factors, most)),
        np.zeros((n_factors, most, most)),
        np.zeros(most * n_copies),
        np.full(n_copies, np.inf),
    )


def _choices(parts: Parts, single_root: bool) -> kernels.Clauses:
    """Every word has one head; the root has one child, or at least one."""
    by_word, from_root = grouped(parts.modifiers, parts.heads), np.flatnonzero(parts.heads == 0)
    variables = np.concatenate([by_word.arcs, from_root])
    starts = np.concatenate([by_word.starts, [len(by_word.arcs), len(variables)]])
    every = np.ones(len(starts) - 1)
    most = np.where(np.arange(len(every)) < len(by_word.starts) + single_root, 1.0, np.inf)
    return kernels.Clauses(starts, variables, np.zeros(len(variables), np.bool_), every, most, np.inf * every)


def _scores_of_marks(parts: Parts) -> Floats:
    """Marks of arcs that are always projective have no advantage, and are never set."""
    if not len(parts.nonprojective):
        return parts.nonprojective
    possible = (parts.heads > 0) & (np.abs(parts.heads - parts.modifiers) > 1)
    return np.where(possible, np.maximum(parts.nonprojective, -FORBIDDEN), 0.0)
