"""The solver behind the programs: HiGHS."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.ilp.deadline import Deadline
from crossarc.ilp.program import Block, Matrix, Program, matrix_of

__all__ = ["Answer", "Infeasible", "Solver"]

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROWWISE = 2
_MAXIMISE = -1


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

    def __init__(self, program: Program, deadline: Deadline) -> None:
        self._deadline = deadline
        self._size, self._integral, self._is_integer = program.size, program.integral, False
        import highspy  # takes long to import, and most searches do without

        self._enums: Any = highspy
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("presolve", "off"),  # takes longer than it saves, until there are branches
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", 1e-6),
        ):
            self._highs.setOptionValue(option, value)
        most = program.most
        self._used = np.flatnonzero(most > 0.0)  # the others are 0; HiGHS never sees them
        self._number = np.cumsum(most > 0.0) - 1
        self._is_used = most > 0.0
        rows = self._without_unused(program.matrix())
        self._highs.passModel(
            len(self._used),
            len(rows.lower),
            len(rows.values),
            _ROWWISE,
            _MAXIMISE,
            0.0,
            program.scores[self._used],
            np.zeros(len(self._used)),
            most[self._used],
            rows.lower,
            rows.upper,
            rows.starts,
            rows.columns,
            rows.values,
            np.zeros(len(self._used), dtype=np.int32),
        )

    def _without_unused(self, rows: Matrix) -> Matrix:
        kept = self._is_used[rows.columns]
        starts = np.concatenate([[0], np.cumsum(kept)])[rows.starts].astype(np.int32)
        columns = self._number[rows.columns[kept]].astype(np.int32)
        return rows._replace(starts=starts, columns=columns, values=rows.values[kept])

    def _numbers(self, columns: Indices) -> NDArray[np.int32]:
        return self._number[columns].astype(np.int32)

    def add(self, block: Block) -> None:
        rows = self._without_unused(matrix_of([block], self._size))
        self._highs.addRows(
            len(rows.lower), rows.lower, rows.upper, len(rows.values), rows.starts, rows.columns, rows.values
        )

    def relaxed(self) -> Answer:
        """The linear program, in which no variable need be an integer."""
        return self._run()

    def integer(self, columns: Indices, start: Floats) -> Answer:
        """The integer program, by branch and bound; ``start`` is a good value of some variables."""
        self._is_integer = True
        self._highs.setOptionValue("presolve", "choose")
        integral = self._numbers(self._integral[self._is_used[self._integral]])
        kinds = np.full(len(integral), int(self._enums.HighsVarType.kInteger), dtype=np.uint8)
        self._highs.changeColsIntegrality(len(integral), integral, kinds)
        if len(columns):
            used = self._is_used[columns]
            self._highs.setSolution(int(used.sum()), self._numbers(columns[used]), start[used])
        return self._run()

    def _run(self) -> Answer:
        self._highs.setOptionValue("time_limit", self._deadline.left)
        self._highs.run()
        status, info = self._highs.getModelStatus(), self._highs.getInfo()
        statuses = self._enums.HighsModelStatus
        if status in (statuses.kInfeasible, statuses.kUnboundedOrInfeasible):
            raise Infeasible
        done = status == statuses.kOptimal
        found = done or info.primal_solution_status == int(self._enums.SolutionStatus.kSolutionStatusFeasible)
        values = None
        if found:
            values = np.zeros(self._size)
            values[self._used] = self._highs.getSolution().col_value
        score = info.objective_function_value if found else -np.inf
        bound = info.mip_dual_bound if self._is_integer else np.inf
        return Answer(values, score, score if done else bound, done)
