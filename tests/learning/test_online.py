"""MIRA's quadratic program against a general solver; averaging against the plain mean."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from scipy.optimize import minimize

from crossarc.learning import _online
from crossarc.learning._online import average

UNLIMITED = 1e9


hildreth, difference = njit(_online.hildreth), njit(_online.difference)  # for kernels only, but compiled as there


def sparse(rows):
    """Rows of a matrix as the learner wants them."""
    indices, values, bounds = [], [], [0]
    for row in rows:
        (at,) = np.nonzero(row)
        indices.extend(at)
        values.extend(row[at])
        bounds.append(len(indices))
    return np.array(indices, dtype=np.int64), np.array(values, dtype=np.float32), np.array(bounds)


def solve(weights, rows, losses, most=UNLIMITED, passes=2000):
    result = weights.astype(np.float32)
    hildreth(result, np.zeros(len(weights)), 1.0, *sparse(rows), np.array(losses, dtype=float), most, passes)
    return result


@pytest.mark.parametrize("seed", range(10))
def test_hildreth_solves_the_quadratic_program(seed):
    rng = np.random.default_rng(seed)
    weights, rows, losses = rng.normal(size=6), rng.integers(-2, 3, size=(3, 6)), rng.uniform(0, 3, size=3)
    best = minimize(
        lambda w: ((w - weights) ** 2).sum(),
        weights,
        constraints=[
            {"type": "ineq", "fun": lambda w, r=row, b=loss: r @ w - b} for row, loss in zip(rows, losses, strict=True)
        ],
        tol=1e-10,
    )
    if best.success:  # the constraints may contradict each other
        np.testing.assert_allclose(solve(weights, rows, losses), best.x, atol=2e-3)


def test_one_constraint_is_the_closed_form():
    weights, row = np.array([1.0, -1.0, 0.5]), np.array([1, -1, 0])
    np.testing.assert_allclose(solve(weights, [row], [5], passes=1), [2.5, -2.5, 0.5])
    np.testing.assert_allclose(solve(weights, [row], [2], passes=1), weights)
    np.testing.assert_allclose(solve(weights, [row], [5], most=0.1, passes=1), [1.1, -1.1, 0.5])


def test_a_difference_counts_each_feature_once():
    scratch = np.zeros(10, dtype=np.int32)
    gold, other = np.array([1, 1, 2, 3]), np.array([3, 4, 2, 2])
    indices, values = np.empty(8, dtype=np.int64), np.empty(8, dtype=np.float32)
    count = difference(gold, 4, other, 4, scratch, indices, values)
    assert dict(zip(indices[:count].tolist(), values[:count].tolist(), strict=True)) == {1: 2, 2: -1, 4: -1}
    assert not scratch.any()


def test_the_average_is_the_mean_over_all_steps():
    rng = np.random.default_rng(0)
    weights, totals = np.zeros(5, dtype=np.float32), np.zeros(5)
    history = [weights.copy()]
    for step in range(1, 30):
        row = rng.integers(-1, 2, size=5)
        hildreth(weights, totals, float(step), *sparse([row]), np.array([2.0]), UNLIMITED, 1)
        history.append(weights.copy())
    mean = np.empty(5, dtype=np.float32)
    average(weights, totals, 30.0, mean)
    np.testing.assert_allclose(mean, np.mean(history, axis=0), rtol=1e-5)
