"""McDonald & Satta (2007), Figure 3: edge expectations in O(n⁵), and exact ones in rational numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def marginals(scores: np.ndarray) -> np.ndarray:
    """Figure 3, line by line; labelled scores [h, m, l]. Divided by Z, so that the result is a probability."""
    w = np.exp(scores)
    w[:, 0] = 0.0
    w[np.diag_indices(len(w))] = 0.0
    n, n_labels = len(w) - 1, w.shape[2]
    expectations = np.zeros_like(w)
    total = w.sum(axis=2)
    q = np.diag(total.sum(axis=0)) - total  # 1
    z = np.linalg.det(q[1:, 1:])
    for j in range(1, n + 1):  # 2
        kept = q[:, j].copy()  # 3
        q[:, j] = 0.0  # 4
        q[j, j] = 1.0
        for i in range(n + 1):  # 5
            if i != j:
                q[i, j] = -1.0  # 6
                z_of_edge = np.linalg.det(q[1:, 1:])  # 7
                for k in range(n_labels):
                    expectations[i, j, k] = w[i, j, k] * z_of_edge  # 8
                q[i, j] = 0.0
        q[:, j] = kept  # 10
    return expectations / z


def exact_marginals(weights: list[list[Fraction]], *, single_root: bool) -> tuple[Fraction, list[list[Fraction]]]:
    """Z and the marginals without any rounding, by the inverse of the Laplacian (Koo et al. 2007, §3)."""
    n = len(weights) - 1
    words = range(1, n + 1)
    q = [[-weights[h][m] for m in words] for h in words]
    for m in words:
        q[m - 1][m - 1] = sum((weights[h][m] for h in range(single_root, n + 1) if h != m), start=Fraction(0))
    if single_root:
        q[0] = [weights[0][m] for m in words]
    determinant, inverse = _inverse(q)
    result = [[Fraction(0)] * (n + 1) for _ in range(n + 1)]
    for m in words:
        for h in words:
            if h != m:
                through_m = 0 if single_root and m == 1 else inverse[m - 1][m - 1]
                through_h = 0 if single_root and h == 1 else inverse[m - 1][h - 1]
                result[h][m] = weights[h][m] * (through_m - through_h)
        result[0][m] = weights[0][m] * inverse[m - 1][0 if single_root else m - 1]
    return determinant, result


def _inverse(matrix: list[list[Fraction]]) -> tuple[Fraction, list[list[Fraction]]]:
    """Gauss and Jordan."""
    size = len(matrix)
    work = [[*row, *(Fraction(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    determinant = Fraction(1)
    for i in range(size):
        p = next(j for j in range(i, size) if work[j][i] != 0)
        if p != i:
            work[i], work[p] = work[p], work[i]
            determinant = -determinant
        pivot = work[i][i]
        determinant *= pivot
        work[i] = [x / pivot for x in work[i]]
        for j in range(size):
            factor = work[j][i]
            if j != i and factor != 0:
                work[j] = [x - factor * y for x, y in zip(work[j], work[i], strict=True)]
    return determinant, [row[size:] for row in work]
