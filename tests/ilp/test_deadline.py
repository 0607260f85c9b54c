"""One time limit for all stages, on a clock of the test's own: what each stage takes is known."""

from __future__ import annotations

import contextlib
import time

import numba
import numpy as np
import pytest

from crossarc.core import Constraints
from crossarc.ilp import Children, FewArcs, NoChildren, NoCrossing, deadline, parts_of, score_of, solve
from crossarc.ilp import _dual_decomposition as rounds
from crossarc.ilp import _rounding as rounding
from crossarc.ilp.deadline import Deadline
from crossarc.ilp.highs import Solver
from crossarc.ilp.solving import OutOfTime
from crossarc.search.integer_program import solve_parts
from oracles import children, is_tree

pytestmark = pytest.mark.slow  # compiles much that few people use

N, L = 8, 3
ROUND, TREE, PROGRAM = 0.001, 0.04, 0.3  # seconds
RULES = (
    Children(most=3),
    Children(most=1, labels=frozenset([0])),
    NoChildren(frozenset([1])),
    NoCrossing(frozenset([2]), weight=0.5),
    FewArcs(2),
    FewArcs(3, crossing=True),
)


class Clock:
    """Stands still but for what the stages take."""

    time = 0.0

    def __call__(self):
        return self.time


@pytest.fixture
def clock(monkeypatch):
    """Each round of dual decomposition, each tree of rounding and each run of HiGHS takes some time."""
    clock, alternate, nearest, run = Clock(), rounds.alternate, rounding.best_of_nearest, Solver._run

    def slow_rounds(*given):
        done = alternate(*given)
        clock.time += ROUND * done[0]
        return done

    def slow_rounding(*given):
        clock.time += TREE * (len(given[2]) + 1)
        return nearest(*given)

    def slow_program(solver):
        """HiGHS keeps its own limit; without time it finds nothing."""
        left = solver._deadline.left
        clock.time += min(left, PROGRAM)
        answer = run(solver)
        return answer if left >= PROGRAM else answer._replace(values=None, score=-np.inf, bound=np.inf, done=False)

    monkeypatch.setattr(deadline, "now", clock)
    monkeypatch.setattr(rounds, "alternate", slow_rounds)
    monkeypatch.setattr(rounding, "best_of_nearest", slow_rounding)
    monkeypatch.setattr(Solver, "_run", slow_program)
    return clock


def random_parts(seed):
    rng = np.random.default_rng(seed)
    arcs, shape = rng.normal(size=(N + 1, N + 1)), (N + 1,) * 3
    siblings, grandparents = 2.0 * rng.normal(size=shape), 2.0 * rng.normal(size=shape)
    return parts_of(arcs, siblings=siblings, grandparents=grandparents), rng


@pytest.mark.parametrize("limit", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_no_stage_overruns(clock, seed, exact, limit):
    """By no more than a tenth, the last look for a tree, and what stages cannot do less of: 25 rounds, two trees."""
    parts, rng = random_parts(seed)
    labels = rng.normal(size=(len(parts.arcs), L))
    options = {"rules": RULES, "exact": exact, "time_limit": limit, "label_scores": lambda heads: labels}
    with contextlib.suppress(OutOfTime):  # says that no tree was found in time
        check(parts, solve_parts(parts, constraints=Constraints(), **options))
    assert clock.time <= 1.1 * limit + 0.05 + 25 * ROUND + 2 * 2 * TREE


def check(parts, found):
    heads = tuple(found.tree.heads.tolist())
    assert is_tree(heads)
    assert max(len(children(heads, h)) for h in range(N + 1)) <= 3
    assert found.tree.score <= found.bound + 1e-6
    assert score_of(parts, heads) > -np.inf


def test_more_time_gives_no_worse_bounds(clock):
    parts, _ = random_parts(1)
    found = [solve(parts, time_limit=limit, solver="ad3") for limit in (0.1, 0.5, 2.0, 20.0)]
    bounds = [one.bound for one in found]
    assert bounds == sorted(bounds, reverse=True)
    assert (found[0].status, found[-1].status) == ("time limit", "optimal")
    assert all(one.tree.score <= found[-1].tree.score + 1e-6 <= one.bound + 2e-6 for one in found)


def test_the_clock_stands_still_while_kernels_are_compiled():
    """Otherwise the first sentence after an installation would have no time at all."""
    before, on_the_wall = deadline.now(), time.monotonic()
    numba.njit(lambda x: x + 1.0)(1.0)
    passed, in_all = deadline.now() - before, time.monotonic() - on_the_wall
    assert 0.0 <= passed < in_all


def test_deadlines(clock):
    whole = Deadline.after(10.0)
    clock.time = 4.0
    assert (whole.left, whole.is_over, whole.keeping(0.5).left) == (6.0, False, 1.0)
    clock.time = 12.0
    assert (whole.left, whole.is_over, whole.at_least(0.5).left) == (0.0, True, 0.5)
    assert Deadline.after(None).keeping(0.5).left == np.inf
