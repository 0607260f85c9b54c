"""Dual decomposition against HiGHS on the same relaxation, and against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import oracles
from crossarc.core import Constraints, NoTreeError
from crossarc.ilp import indicators_of, parts_of, relax, score_of, solve
from crossarc.ilp.deadline import Deadline
from crossarc.ilp.rounding import improved
from crossarc.trees import is_projective

pytestmark = pytest.mark.slow  # compiles much that few people use

KINDS = ("siblings", "grandparents", "next_siblings", "valencies", "sides", "nonprojective", "crossing")
ALL = KINDS[:4] + KINDS[5:]  # valencies are in it once

seeds = st.integers(0, 2**32 - 1)


def random_parts(seed, n, kinds, spread=1.0, missing=0.0):
    rng = np.random.default_rng(seed)
    shapes = {"valencies": (n + 1, 3), "sides": (n + 1, 2, 3), "nonprojective": (n + 1, n + 1)}
    shapes["crossing"] = shapes["nonprojective"]
    scores = {kind: spread * rng.normal(size=shapes.get(kind, (n + 1,) * 3)) for kind in kinds}
    if "nonprojective" in scores:
        # HiGHS excludes good marks of projective arcs only where a solution is integral
        scores["nonprojective"] = -np.abs(scores["nonprojective"])
    if "sides" in scores:
        scores["valencies"] = scores.pop("sides")
    arcs = rng.normal(size=(n + 1, n + 1))
    arcs[rng.random(arcs.shape) < missing] = -np.inf
    arcs[0] = np.maximum(arcs[0], -3.0)  # there is always a tree
    return parts_of(arcs, **scores)


@pytest.mark.parametrize("kinds", [*((kind,) for kind in KINDS), ALL])
@given(seed=seeds, n=st.integers(1, 6), one_root=st.booleans(), missing=st.sampled_from([0.0, 0.4]))
@example(seed=97280, n=5, one_root=False, missing=0.0)  # agrees long before the bound is reached
@settings(max_examples=12, derandomize=True)
def test_it_reaches_the_optimum_of_the_linear_program(kinds, seed, n, one_root, missing):
    parts = random_parts(seed, n, kinds, missing=missing if not one_root else 0.0)
    found = relax(parts, single_root=one_root, rounds=10_000, tolerance=1e-11)
    program = solve(parts, constraints=Constraints(single_root=one_root), exact=False)
    assert found.bound == pytest.approx(program.bound, abs=1e-3)
    assert total(parts, found.indicators) == pytest.approx(program.bound, abs=5e-2)


@given(seed=seeds, n=st.integers(1, 5), one_root=st.booleans(), kinds=st.sets(st.sampled_from(ALL[:4])))
@settings(max_examples=30)
def test_projective_relaxations_bound_projective_trees(seed, n, one_root, kinds):
    """They are those of HiGHS, with fewer cycles; and the trees that are said to be the best are."""
    parts = random_parts(seed, n, sorted(kinds), spread=0.5)
    best = max(score_of(parts, heads) for heads in oracles.all_trees(n, single_root=one_root, projective=True))
    constraints = Constraints(single_root=one_root, projective=True)
    found = relax(parts, single_root=one_root, projective=True, rounds=10_000, tolerance=1e-9)
    program = solve(parts, constraints=constraints, exact=False)
    assert best - 1e-6 <= found.bound <= program.bound + 1e-3 * max(1.0, abs(best))
    relaxed = solve(parts, constraints=constraints, exact=False, solver="ad3")
    assert is_projective(relaxed.tree.heads)
    assert relaxed.tree.score <= best + 1e-6
    assert relaxed.tree.score == pytest.approx(best) if relaxed.status == "integral" else relaxed.gap > 0
    assert solve(parts, constraints=constraints, solver="ad3").tree.score == pytest.approx(best)


def total(parts, indicators):
    """The score of a solution, perhaps a fractional one."""
    pairs = (getattr(parts, kind).scores for kind in ("siblings", "grandparents", "next_siblings"))
    scores = (parts.arcs, *pairs, parts.valencies, parts.nonprojective, parts.crossing)
    return sum(float((a * b)[b > 0].sum()) for a, b in zip(scores, indicators, strict=True))


@given(seed=seeds, n=st.integers(1, 5), one_root=st.booleans(), kinds=st.sets(st.sampled_from(ALL)))
@settings(max_examples=60)
def test_trees_that_are_said_to_be_the_best_are(seed, n, one_root, kinds):
    parts = random_parts(seed, n, sorted(kinds), spread=0.5)
    best = max(score_of(parts, heads) for heads in oracles.all_trees(n, single_root=one_root))
    constraints = Constraints(single_root=one_root)
    relaxed = solve(parts, constraints=constraints, exact=False, solver="ad3")
    assert relaxed.bound >= best - 1e-6
    assert oracles.is_tree(tuple(relaxed.tree.heads))
    assert relaxed.tree.score == pytest.approx(score_of(parts, relaxed.tree.heads))
    assert relaxed.tree.score == pytest.approx(best) if relaxed.status == "integral" else relaxed.gap > 0
    exact = solve(parts, constraints=constraints, solver="ad3")
    assert exact.status == "optimal"
    assert exact.tree.score == pytest.approx(best)


@pytest.mark.parametrize("seed", range(3))
def test_the_time_limit_is_one_of_dual_decomposition_too(seed):
    """Without any time, there is a bound and a tree from it; branch and bound does not throw them away."""
    parts = random_parts(seed, 5, KINDS[:4])
    found = relax(parts, single_root=False, deadline=Deadline.after(0.0))
    assert (found.rounds, found.in_time) == (0, False)
    best = max(score_of(parts, heads) for heads in oracles.all_trees(5))
    assert best <= found.bound < np.inf
    solution = solve(parts, solver="ad3", time_limit=0.0)
    assert solution.status == "time limit"
    assert best <= solution.bound <= found.bound
    assert solution.tree.score == pytest.approx(score_of(parts, solution.tree.heads))


def test_the_work_grows_with_the_parts():
    """Rounds end where the bound falls no further, and long sentences have fewer of them."""
    parts = random_parts(1, 6, KINDS[:3], spread=2.0)
    slow = relax(parts, single_root=False, tolerance=1e-11)
    quick = relax(parts, single_root=False, tolerance=1e-11, progress=0.5)
    assert quick.rounds <= 300 < slow.rounds
    assert quick.bound >= slow.bound - 1e-6


def test_it_says_both_integral_and_rounded():
    found = [solve(random_parts(seed, 6, KINDS[:3], 0.7), exact=False, solver="ad3") for seed in range(30)]
    assert {one.status for one in found} == {"integral", "rounded"}
    for one in found:
        assert one.indicators.arcs.sum() == pytest.approx(6, abs=0.1)


def test_a_forbidden_part_is_avoided():
    """Of the pair of siblings, and of the number of children."""
    siblings, valencies = np.zeros((4,) * 3), np.zeros((4, 3))
    siblings[2, 1, 3] = -np.inf
    arcs = np.array([[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0.0]])
    assert solve(parts_of(arcs, siblings=siblings), solver="ad3").tree.heads.tolist() == [-1, 0, 1, 2]
    valencies[2, 2] = -np.inf
    assert solve(parts_of(arcs, valencies=valencies), solver="ad3").tree.heads.tolist() == [-1, 0, 1, 2]


@given(seed=seeds, n=st.integers(2, 5), one_root=st.booleans())
@settings(max_examples=30)
def test_no_single_change_improves_an_improved_tree(seed, n, one_root):
    parts = random_parts(seed, n, ALL, spread=2.0)
    trees = list(oracles.all_trees(n, single_root=one_root))
    start = trees[seed % len(trees)]
    heads, _, score, _ = improved(parts, np.array(start), single_root=one_root)
    assert score == pytest.approx(score_of(parts, heads))
    assert score >= score_of(parts, start)
    for tree in trees:
        if sum(a != b for a, b in zip(tree, heads, strict=True)) == 1:
            assert score_of(parts, tree) <= score + 1e-9


def test_the_parts_of_a_tree_are_its_indicators():
    parts = random_parts(3, 4, ALL)
    for heads in oracles.all_trees(4):
        assert total(parts, indicators_of(parts, heads)) == pytest.approx(score_of(parts, heads))


def test_rounding_where_the_nearest_trees_are_forbidden():
    """A tree with a finite score is found from one without, or branch and bound finds it."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        valencies = rng.normal(size=(6, 3))
        valencies[rng.random(valencies.shape) < 0.3] = -np.inf
        valencies[0] = [-np.inf, 0.0, -np.inf]
        valencies[5, :] = 0.0
        parts = parts_of(rng.normal(size=(6, 6)), valencies=valencies)
        best = max(score_of(parts, heads) for heads in oracles.all_trees(5))
        for solver in ("highs", "ad3"):
            if best == -np.inf:
                with pytest.raises(NoTreeError):
                    solve(parts, solver=solver)
            else:
                assert solve(parts, solver=solver).tree.score == pytest.approx(best)
