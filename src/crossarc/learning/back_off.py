"""Conditional distributions from counts, smoothed by backing off to fewer conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["BackOff", "Level", "counted", "with_prior"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Level:
    """What is known where all conditions of this level hold, and how much of it is left to the level before.

    The probability of an outcome is its share plus ``kept`` times its probability on the level before.
    """

    contexts: Ints  # the contexts that were seen, sorted
    kept: Floats  # for each of them; at the end 1 for all that were not seen
    cells: Ints  # (place of the context) * n_outcomes + outcome, sorted
    shares: Floats  # for each cell

    def rows(self, contexts: Ints) -> Ints:
        """The places of contexts; those not seen have the last one."""
        places = np.searchsorted(self.contexts, contexts)
        found = np.append(self.contexts, -1)[places] == contexts
        return np.where(found, places, len(self.contexts))


@dataclass(frozen=True)
class BackOff:
    """p(outcome | context): levels from the most general to the most specific, each interpolated with the one before.

    A context is a number for each level. Before the first level, all outcomes are as probable as the ``base`` says that
    is given with them; if those of one context sum to 1, all probabilities of the context do.
    """

    n_outcomes: int
    levels: tuple[Level, ...]

    def of(self, contexts: Sequence[Ints], outcomes: Ints, base: ArrayLike) -> Floats:
        """The probability of one outcome for each context."""
        result = np.broadcast_to(np.asarray(base, dtype=np.float64), outcomes.shape)
        for level, context in zip(self.levels, contexts, strict=True):
            rows = level.rows(context)
            wanted = rows * self.n_outcomes + outcomes
            places = np.searchsorted(level.cells, wanted)
            found = np.append(level.cells, -1)[places] == wanted
            result = np.where(found, np.append(level.shares, 0.0)[places], 0.0) + level.kept[rows] * result
        return result

    def given(self, contexts: Sequence[Ints]) -> Floats:
        """The probabilities of all outcomes for each context: shape (contexts, outcomes); their base is uniform."""
        result = np.full((len(contexts[0]), self.n_outcomes), 1.0 / self.n_outcomes)
        for level, table, context in zip(self.levels, self._tables, contexts, strict=True):
            # neighbours often share a context: each is looked up once
            seen, places = np.unique(level.rows(context), return_inverse=True)
            result *= level.kept[seen][places, None]
            result += table[seen].toarray()[places]
        return result

    @cached_property
    def _tables(self) -> list[Any]:
        """The shares of each level as a sparse matrix; its last row, of unseen contexts, is empty."""
        from scipy.sparse import csr_matrix  # takes long to import, and parsing does without

        tables = []
        for level in self.levels:
            rows, outcomes = np.divmod(level.cells, self.n_outcomes)
            shape = (len(level.kept), self.n_outcomes)
            tables.append(csr_matrix((level.shares, (rows, outcomes)), shape=shape))
        return tables


def counted(contexts: Sequence[Ints], outcomes: Ints, n_outcomes: int, weight: float) -> BackOff:
    """From the contexts and outcomes of all events, smoothed as by Witten and Bell (1991).

    A level leaves to the one before it ``weight`` times the share that new outcomes have had in its context.
    """
    return BackOff(n_outcomes, tuple(_witten_bell(context, outcomes, n_outcomes, weight) for context in contexts))


def _witten_bell(contexts: Ints, outcomes: Ints, n_outcomes: int, weight: float) -> Level:
    seen, places = np.unique(contexts, return_inverse=True)
    cells, counts = np.unique(places * n_outcomes + outcomes, return_counts=True)
    rows = cells // n_outcomes
    left = weight * np.bincount(rows, minlength=len(seen))
    totals = np.bincount(rows, counts, minlength=len(seen)) + left
    return Level(seen, np.append(left / totals, 1.0), cells, counts / totals[rows])


def with_prior(cells: Ints, counts: Floats, base: Floats, strength: float) -> BackOff:
    """From (expected) counts of cells, which are context * n_outcomes + outcome, sorted; all other cells have none.

    Each context has ``strength`` more, shared out as ``base`` says: its distribution is the most probable one under a
    Dirichlet prior with the parameters 1 + strength * base. Its first level is the base, whose context is 0.
    """
    n_outcomes = len(base)
    contexts, rows = np.unique(cells // n_outcomes, return_inverse=True)
    totals = np.bincount(rows, counts, minlength=len(contexts)) + strength
    first = Level(np.array([0]), np.array([0.0, 1.0]), np.arange(n_outcomes), base)
    second = Level(
        contexts, np.append(strength / totals, 1.0), rows * n_outcomes + cells % n_outcomes, counts / totals[rows]
    )
    return BackOff(n_outcomes, (first, second))
