"""The relaxation without a linear program: dual decomposition in alternating directions (AD³).

It is the relaxation that HiGHS solves with cutting planes, taken apart into small factors, which are solved one by one
and drawn towards each other: see ``_dual_decomposition``. Much faster, above all if a solution near the best will do.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import NoTreeError
from crossarc.ilp import _dual_decomposition as kernels
from crossarc.ilp._cuts import cut_sets, unreached_spans
from crossarc.ilp.arborescences import conflicts
from crossarc.ilp.factors import factors_of, grouped
from crossarc.ilp.parts import Indicators, Parts
from crossarc.ilp.rule_rows import FORBIDDEN, RuleRows, rule_rows

__all__ = ["Relaxed", "relax"]

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_RATE = 0.2  # the first one
_ROUNDS = 25  # between looks for what the clauses do not exclude yet
_EXACT = 1e-12  # a disagreement that is none
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


def relax(
    parts: Parts,
    *,
    single_root: bool,
    rounds: int = 1000,
    tolerance: float = 1e-6,
    progress: float = 0.0,
    rules: RuleRows | None = None,
    time_limit: float | None = None,
) -> Relaxed:
    """Solve the relaxation of parts without scores of crossing arcs; labels only where ``rules`` choose them.

    Parameters
    ----------
    parts : Parts
        Every word has candidates, and the root is one of some word.
    single_root : bool
        Whether the root has one child only.
    rounds : int
        How often the factors are solved at most.
    tolerance : float
        The disagreement of a fractional solution that will do. What is nearly a tree goes on until it is one.
    progress : float
        Rounds end when the bound falls by less than this in 100 of them, as a share of it, and the solution is nowhere
        near a tree.
    rules : RuleRows, optional
        What is added to the factors where a solution breaks it; not broken rows cost nothing.
    time_limit : float, optional
        Seconds, after which the solution and its bound are taken as they are.

    Raises
    ------
    NoTreeError
    """
    end = np.inf if time_limit is None else time.monotonic() + time_limit
    decomposition = _Decomposition(parts, single_root, rule_rows(parts, ()) if rules is None else rules)
    decomposition.run(rounds, tolerance, progress, end)
    return decomposition.relaxed(end)


class _Decomposition:
    """The state of the rounds: multipliers, copies, and what they agree on."""

    def __init__(self, parts: Parts, single_root: bool, rules: RuleRows) -> None:
        self.parts, self.n_arcs, self.rules = parts, len(parts.arcs), rules
        self.marks = slice(self.n_arcs, self.n_arcs + len(parts.nonprojective))
        self.scores = rules.scores.copy()
        self.scores[self.marks] = _scores_of_marks(parts)
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
        self._add(*_marks_are_arcs(self.n_arcs, self.scores[self.marks]))
        self._add_labels()

    def _add_labels(self) -> None:
        """Clauses by which an arc has exactly one of its labels: either it is not there, or one of them is."""
        arcs, columns = self.rules.choices[self.rules.choices[:, 1] >= self.n_arcs].T
        if len(arcs):
            every, rows = np.unique(arcs, return_inverse=True)
            self.agreed[columns] = self.agreed[arcs] / np.bincount(rows)[rows]
            negated = np.arange(len(arcs) + len(every)) >= len(arcs)
            literals = np.concatenate([columns, every])
            self._add(np.concatenate([rows, np.arange(len(every))]), literals, negated, most=np.ones(len(every)))

    def _count_copies(self, *variables: Indices) -> None:
        for of_kind in variables:
            self.degrees += np.bincount(of_kind, minlength=len(self.degrees))

    def _copies(self, variables: Indices) -> kernels.Copies:
        """A share of the score of its variable for each copy."""
        return kernels.Copies(self.scores[variables] / self.degrees[variables], self.agreed[variables])

    def run(self, rounds: int, tolerance: float, progress: float, end: float) -> None:
        bound, looked_at = np.inf, 0
        while self.rounds < rounds and time.monotonic() < end:
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
                min(rounds - self.rounds, _ROUNDS, self._rounds_until(end)),
                tolerance,
            )
            self.rounds += done
            # what is broken by less than the copies disagree may well mend itself
            if not self._cut(min(max(self.disagreement**0.5, 1e-5), 0.2)) and self.disagreement < tolerance:
                if tolerance == _EXACT or not self._is_nearly_integral():
                    break
                tolerance = _EXACT
            if progress > 0.0 and self.rounds >= looked_at + 100:
                before, bound, looked_at = bound, self._bound(), self.rounds
                if before - bound < progress * abs(bound) and not self._is_nearly_integral():
                    break

    def _rounds_until(self, end: float) -> int:
        """How many rounds are possible in the time left, judged by how many operations each takes."""
        if end == np.inf:
            return _ROUNDS
        seconds = 1e-7 * (len(self.factors.tables) + len(self.parts.siblings.first) + len(self.clauses.variables))
        return max(int((end - time.monotonic()) / seconds), 1)

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
            self._add(rows, entering, np.zeros(len(rows), np.bool_))
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
        literals = np.concatenate([found, found + self.n_arcs, leaving])
        self._add(np.concatenate([every, every, rows]), literals, np.arange(len(literals)) < len(found))
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
        self._add(
            own,
            rows.columns[literals].astype(np.int64),
            negated,
            rows.lower[broken] + n_negated,
            rows.upper[broken] + n_negated,
            self.rules.weights[broken],
        )
        return bool(broken.any())

    def _cut_crossing(self, tolerance: float) -> bool:
        """Add what says that an arc is marked if it and another one that it crosses are there."""
        marks = self.rules.variables.crossing
        if not len(marks):
            return False
        arcs = self.agreed[: self.n_arcs]
        there = np.flatnonzero(arcs - self.agreed[marks] > tolerance)
        conflicting = conflicts(self.parts, cycles=False, arcs=there)
        first, second = np.nonzero(conflicting & (arcs > tolerance))
        broken = arcs[there[first]] + arcs[second] - self.agreed[marks[there[first]]] > 1.0 + tolerance
        first, second = there[first[broken]], second[broken]
        new = self._unknown([b"crossing %d %d" % pair for pair in zip(first, second, strict=True)])
        first, second, every = first[new], second[new], np.arange(len(new))
        self._add(
            np.concatenate([every, every, every]),
            np.concatenate([first, second, marks[first]]),
            np.repeat([True, True, False], len(new)),
        )
        return bool(new)

    def _unknown(self, names: list[bytes]) -> list[int]:
        """The numbers of those sets that have no clauses yet."""
        new = [i for i, name in enumerate(names) if name not in self.known]
        self.known.update(names)
        return new

    def _add(
        self,
        rows: Indices,
        variables: Indices,
        negated: Flags,
        least: Floats | None = None,
        most: Floats | None = None,
        weights: Floats | None = None,
    ) -> None:
        """Add clauses, one of each row: that at least one literal is true, unless something else is said."""
        order = np.argsort(rows, kind="stable")
        variables, negated, counts = variables[order], negated[order], np.bincount(rows)
        without = self.degrees == 0  # marks that nothing has asked for so far
        self._count_copies(variables)
        new = self._copies(variables)
        new.multipliers[~without[variables]] = 0.0
        old, every = self.clauses, np.ones(len(counts))
        self.clauses = kernels.Clauses(
            np.concatenate([old.starts, old.starts[-1] + np.cumsum(counts)]),
            np.concatenate([old.variables, variables]),
            np.concatenate([old.negated, negated]),
            np.concatenate([old.least, every if least is None else least]),
            np.concatenate([old.most, np.inf * every if most is None else most]),
            np.concatenate([old.weights, np.inf * every if weights is None else weights]),
        )
        self.of_clauses = kernels.Copies(*map(np.concatenate, zip(self.of_clauses, new, strict=True)))

    def relaxed(self, end: float) -> Relaxed:
        parts, arcs = self.parts, self.agreed[: self.n_arcs]
        bound, valencies = self._bound(), np.zeros(parts.valencies.shape)
        grandparents, next_siblings = np.zeros(len(parts.grandparents.first)), np.zeros(len(parts.next_siblings.first))
        for kind, amounts in (
            (kernels.GRANDPARENTS, grandparents),
            (kernels.NEXT_SIBLINGS, next_siblings),
            (kernels.VALENCY, valencies.ravel()),
        ):
            kernels.add_amounts(self.factors, self.active, kind, amounts)
        without = valencies.sum(axis=2) == 0.0  # heads that are no candidates have no factor
        valencies[without, :1] = 1.0
        bound += float(parts.valencies[without, :1].sum())
        marks, crossing = self.agreed[self.marks], self.agreed[self.rules.variables.crossing]
        indicators = Indicators(
            arcs, parts.siblings.both(arcs), grandparents, next_siblings, valencies, marks, crossing
        )
        return Relaxed(indicators, bound, self.disagreement, self.rounds, time.monotonic() < end)

    def _bound(self) -> float:
        copies = self.of_factors, self.of_pairs, self.of_clauses
        return float(kernels.bound_of(self.factors, self.parts.siblings, self.clauses, *copies, len(self.scores)))


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


def _marks_are_arcs(n_arcs: int, scores: Floats) -> tuple[Indices, Indices, Flags]:
    """Clauses by which an arc that is not there is not marked: where a mark is an advantage."""
    marks = np.flatnonzero(scores > 0)
    every = np.arange(len(marks))
    return (
        np.concatenate([every, every]),
        np.concatenate([marks, marks + n_arcs]),
        np.repeat([False, True], len(marks)),
    )
