"""What a transformer does between two matrix products, in loops that become vector instructions (see ``_lstm``)."""

from typing import Any

import numpy as np

from crossarc._jit import njit

_VECTOR: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}

# erf x = x p(x²) / q(x²) to within 32-bit arithmetic, for |x| <= 4
LIMIT = np.float32(4.0)
P0, P1, P2 = np.float32(-1.60960333262415e-02), np.float32(-2.95459980854025e-03), np.float32(-7.34990630326855e-04)
P3, P4 = np.float32(-5.69250639462346e-05), np.float32(-2.10102402082508e-06)
P5, P6 = np.float32(2.77068142495902e-08), np.float32(-2.72614225801306e-10)
Q0, Q1, Q2 = np.float32(-1.42647390514189e-02), np.float32(-7.37332916720468e-03), np.float32(-1.68282697438203e-03)
Q3, Q4 = np.float32(-2.13374055278905e-04), np.float32(-1.45660718464996e-05)
HALF, ONE, ROOT_OF_HALF = np.float32(0.5), np.float32(1.0), np.float32(0.7071067811865476)


@njit(inline="always", **_VECTOR)
def erf(x):
    x = min(max(x, -LIMIT), LIMIT)
    square = x * x
    above = P0 + square * (P1 + square * (P2 + square * (P3 + square * (P4 + square * (P5 + square * P6)))))
    below = Q0 + square * (Q1 + square * (Q2 + square * (Q3 + square * Q4)))
    return x * above / below


@njit(cache=True, nogil=True, **_VECTOR)
def gelu(sums, bias):
    """Replace x by x Φ(x), where Φ is the distribution function of the normal distribution; bias is added before."""
    for i in range(len(sums)):
        row = sums[i]
        for j in range(len(bias)):
            x = row[j] + bias[j]
            row[j] = HALF * x * (ONE + erf(x * ROOT_OF_HALF))


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def add_and_normalize(states, added, bias, scale, shift, epsilon):
    """Replace states by the sum of states, ``added`` and bias, with mean 0 and variance 1, times scale, plus shift."""
    size = len(bias)
    for i in range(len(states)):
        row, other = states[i], added[i]
        total = np.float32(0.0)
        for j in range(size):
            row[j] += other[j] + bias[j]
            total += row[j]
        mean = total / np.float32(size)
        squares = np.float32(0.0)
        for j in range(size):
            squares += (row[j] - mean) * (row[j] - mean)
        factor = ONE / np.sqrt(squares / np.float32(size) + np.float32(epsilon))
        for j in range(size):
            row[j] = (row[j] - mean) * factor * scale[j] + shift[j]
