"""The solver behind the programs: HiGHS."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from crossarc.programs.program import Block, Program, matrix_of

__all__ = ["Answer", "Infeasible", "Solver"]

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROWWISE = 2
_MAXIMISE = -1
_DONE = highspy.HighsModelStatus.kOptimal
_FEASIBLE = int(highspy.SolutionStatus.kSolutionStatusFeasible)
_IMPOSSIBLE = (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible)


class Answer(NamedTuple):
    """What the solver found.

    Attributes
    ----------
    values : array or None
        Of the variables; None if nothing was found in time.
    score : float
        Of the values.
    bound : float
        No solution has a higher score.
    done : bool
        Whether the values are the best there are.
    """

    values: Floats | None
    score: float
    bound: float
    done: bool


class Infeasible(Exception):
    """A program without any solution."""


class Solver:
    """Solves a program, again and again as rows are added; each time from where it stood."""

    def __init__(self, program: Program, time_limit: float | None = None) -> None:
        self._end = None if time_limit is None else time.monotonic() + time_limit
        self._size, self._integral, self._is_integer = program.size, program.integral, False
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", 1e-6),
        ):
            self._highs.setOptionValue(option, value)
        rows = program.matrix()
        self._highs.passModel(
            program.size,
            len(rows.lower),
            len(rows.values),
            _ROWWISE,
            _MAXIMISE,
            0.0,
            program.scores,
            np.zeros(program.size),
            program.most,
            rows.lower,
            rows.upper,
            rows.starts,
            rows.columns,
            rows.values,
            np.zeros(program.size, dtype=np.int32),
        )

    def add(self, block: Block) -> None:
        rows = matrix_of([block], self._size)
        self._highs.addRows(
            len(rows.lower), rows.lower, rows.upper, len(rows.values), rows.starts, rows.columns, rows.values
        )

    def fix(self, columns: Indices, values: Floats) -> None:
        """Let variables have these values."""
        self._highs.changeColsBounds(len(columns), columns.astype(np.int32), values, values)

    def relaxed(self) -> Answer:
        """The linear program, in which no variable need be an integer."""
        return self._run()

    def integer(self, columns: Indices, start: Floats) -> Answer:
        """The integer program, by branch and bound; ``start`` is a good value of some variables."""
        self._is_integer = True
        kinds = np.full(len(self._integral), int(highspy.HighsVarType.kInteger), dtype=np.uint8)
        self._highs.changeColsIntegrality(len(self._integral), self._integral.astype(np.int32), kinds)
        if len(columns):
            self._highs.setSolution(len(columns), columns.astype(np.int32), start)
        return self._run()

    @property
    def out_of_time(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end

    def _run(self) -> Answer:
        if self._end is not None:
            self._highs.setOptionValue("time_limit", max(self._end - time.monotonic(), 0.0))
        self._highs.run()
        status, info = self._highs.getModelStatus(), self._highs.getInfo()
        if status in _IMPOSSIBLE:
            raise Infeasible
        done = status == _DONE
        found = done or info.primal_solution_status == _FEASIBLE
        values = np.array(self._highs.getSolution().col_value) if found else None
        score = info.objective_function_value if found else -np.inf
        bound = info.mip_dual_bound if self._is_integer else np.inf
        return Answer(values, score, score if done else bound, done)
