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
from crossarc.ilp._cuts import cut_sets, unreached_spans
from crossarc.ilp.factors import factors_of, grouped
from crossarc.ilp.parts import Indicators, Parts

__all__ = ["Relaxed", "relax"]

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_RATE = 0.2  # the first one
_ROUNDS = 25  # between looks for what the clauses do not exclude yet
_EXACT = 1e-12  # a disagreement that is none
_FORBIDDEN = 1e6
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
    """

    indicators: Indicators
    bound: float
    disagreement: float
    rounds: int


def relax(parts: Parts, *, single_root: bool, rounds: int = 1000, tolerance: float = 1e-6) -> Relaxed:
    """Solve the relaxation of parts without crossing arcs and labels.

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

    Raises
    ------
    NoTreeError
    """
    decomposition = _Decomposition(parts, single_root)
    decomposition.run(rounds, tolerance)
    return decomposition.relaxed()


class _Decomposition:
    """The state of the rounds: multipliers, copies, and what they agree on."""

    def __init__(self, parts: Parts, single_root: bool) -> None:
        self.parts, self.n_arcs = parts, len(parts.arcs)
        self.scores = np.concatenate([parts.arcs, _scores_of_marks(parts)])
        self.factors = factors_of(parts)
        self.clauses = _choices(parts, single_root)
        self.known: set[bytes] = set()  # the sets of words that have clauses
        self.degrees = np.zeros(len(self.scores))
        self._count_copies(self.factors.variables, *parts.siblings[:2], self.clauses.variables)
        candidates = np.bincount(parts.modifiers, minlength=parts.size)
        self.agreed = np.concatenate([1.0 / candidates[parts.modifiers], np.zeros(len(parts.nonprojective))])
        self.of_factors = self._copies(self.factors.variables)
        self.of_pairs = self._copies(np.stack(parts.siblings[:2]))
        self.of_clauses = self._copies(self.clauses.variables)
        self.active = _none_active(len(self.factors.kinds), len(self.factors.variables))
        self.rate, self.rounds, self.disagreement = _RATE, 0, np.inf
        self._add(*_marks_are_arcs(self.n_arcs, self.scores[self.n_arcs :]))

    def _count_copies(self, *variables: Indices) -> None:
        for of_kind in variables:
            self.degrees += np.bincount(of_kind, minlength=len(self.degrees))

    def _copies(self, variables: Indices) -> kernels.Copies:
        """A share of the score of its variable for each copy."""
        return kernels.Copies(self.scores[variables] / self.degrees[variables], self.agreed[variables])

    def run(self, rounds: int, tolerance: float) -> None:
        while self.rounds < rounds:
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
                min(rounds - self.rounds, _ROUNDS),
                tolerance,
            )
            self.rounds += done
            # what is broken by less than the copies disagree may well mend itself
            if not self._cut(min(max(self.disagreement**0.5, 1e-5), 0.2)) and self.disagreement < tolerance:
                if tolerance == _EXACT or not self._is_nearly_integral():
                    break
                tolerance = _EXACT

    def _is_nearly_integral(self) -> bool:
        return bool((np.abs(self.agreed - np.rint(self.agreed)) < _INTEGRAL).all())

    def _cut(self, tolerance: float) -> bool:
        """Add clauses that are broken by more than the tolerance: against cycles, or else against missing marks."""
        parts, arcs = self.parts, self.agreed[: self.n_arcs]
        capacity = np.zeros((parts.size, parts.size))
        capacity[parts.heads, parts.modifiers] = arcs
        sets: Flags = cut_sets(capacity, tolerance)
        sets = sets[self._unknown([bytes(one) for one in sets])]
        if len(sets):
            rows, entering = np.nonzero(sets[:, parts.modifiers] & ~sets[:, parts.heads])
            if len(np.unique(rows)) < len(sets):
                raise NoTreeError("no arc leads into a cycle")
            self._add(rows, entering, np.zeros(len(rows), np.bool_))
            return True
        if not len(parts.nonprojective):
            return False
        marks = self.agreed[self.n_arcs :]
        found, sets = unreached_spans(capacity, parts.heads, parts.modifiers, arcs, marks, tolerance)
        new = self._unknown([bytes(arc) + bytes(one) for arc, one in zip(found, sets, strict=True)])
        found, sets = found[new], sets[new]
        rows, leaving = np.nonzero(sets[:, parts.heads] & ~sets[:, parts.modifiers])
        every = np.arange(len(found))
        literals = np.concatenate([found, found + self.n_arcs, leaving])
        self._add(np.concatenate([every, every, rows]), literals, np.arange(len(literals)) < len(found))
        return bool(len(found))

    def _unknown(self, names: list[bytes]) -> list[int]:
        """The numbers of those sets that have no clauses yet."""
        new = [i for i, name in enumerate(names) if name not in self.known]
        self.known.update(names)
        return new

    def _add(self, rows: Indices, variables: Indices, negated: Flags) -> None:
        """Add clauses, one of each row."""
        order = np.argsort(rows, kind="stable")
        variables, negated, counts = variables[order], negated[order], np.bincount(rows)
        without = self.degrees == 0  # marks that nothing has asked for so far
        self._count_copies(variables)
        new = self._copies(variables)
        new.multipliers[~without[variables]] = 0.0
        old = self.clauses
        self.clauses = kernels.Clauses(
            np.concatenate([old.starts, old.starts[-1] + np.cumsum(counts)]),
            np.concatenate([old.variables, variables]),
            np.concatenate([old.negated, negated]),
            np.concatenate([old.exactly, np.zeros(len(counts), np.bool_)]),
        )
        self.of_clauses = kernels.Copies(*map(np.concatenate, zip(self.of_clauses, new, strict=True)))

    def relaxed(self) -> Relaxed:
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
        marks = self.agreed[self.n_arcs :]
        indicators = Indicators(
            arcs, parts.siblings.both(arcs), grandparents, next_siblings, valencies, marks, parts.crossing
        )
        return Relaxed(indicators, bound, self.disagreement, self.rounds)

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
    exactly = np.arange(len(starts) - 1) < len(by_word.starts) + single_root
    return kernels.Clauses(starts, variables, np.zeros(len(variables), np.bool_), exactly)


def _scores_of_marks(parts: Parts) -> Floats:
    """Marks of arcs that are always projective have no advantage, and are never set."""
    if not len(parts.nonprojective):
        return parts.nonprojective
    possible = (parts.heads > 0) & (np.abs(parts.heads - parts.modifiers) > 1)
    return np.where(possible, np.maximum(parts.nonprojective, -_FORBIDDEN), 0.0)


def _marks_are_arcs(n_arcs: int, scores: Floats) -> tuple[Indices, Indices, Flags]:
    """Clauses by which an arc that is not there is not marked: where a mark is an advantage."""
    marks = np.flatnonzero(scores > 0)
    every = np.arange(len(marks))
    return (
        np.concatenate([every, every]),
        np.concatenate([marks, marks + n_arcs]),
        np.repeat([False, True], len(marks)),
    )
