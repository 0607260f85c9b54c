"""Whether probabilities are honest: of arcs that are right with probability 0.8, four in five should be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Bin", "Temperatures", "expected_calibration_error", "fit_temperature", "reliability", "softmax"]

_RANGE = (np.log(0.01), np.log(100.0))  # of the logarithm of a temperature
_PRECISION = 0.02  # of the same


class Temperatures(NamedTuple):
    """What scores are divided by to make probabilities of them (Guo, Pleiss, Sun and Weinberger 2017)."""

    arcs: float
    labels: float


def fit_temperature(probabilities: Callable[[float], NDArray[np.float64]], right: NDArray[np.bool_]) -> float:
    """The temperature under which the probabilities of predictions have the smallest log loss.

    ``probabilities`` gives those of all predictions for a temperature; ``right``: which predictions are right.

    >>> margins = np.array([3.0, 2.0, 1.0, 0.5])
    >>> right = np.array([True, True, True, False])
    >>> round(fit_temperature(lambda t: 1 / (1 + np.exp(-margins / t)), right), 1)
    0.7
    """
    if not len(right):
        return 1.0

    def log_loss(logarithm: float) -> float:
        safe = probabilities(float(np.exp(logarithm))).clip(1e-9, 1 - 1e-9)
        return float(-np.where(right, np.log(safe), np.log1p(-safe)).mean())

    from scipy.optimize import minimize_scalar  # takes long to import, and parsing does without

    found = minimize_scalar(log_loss, bounds=_RANGE, method="bounded", options={"xatol": _PRECISION}).x
    return float(np.exp(found))


def softmax(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """The scores of each row as probabilities that sum to 1."""
    exponentials = np.exp(scores.astype(np.float64) - scores.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = exponentials / exponentials.sum(axis=1, keepdims=True)
    return shares


class Bin(NamedTuple):
    """All predictions whose probability is in one range."""

    lowest: float
    highest: float
    predictions: int
    confidence: float  # their mean probability
    accuracy: float  # the share of them that is right


def reliability(probabilities: ArrayLike, right: ArrayLike, bins: int = 10) -> list[Bin]:
    """The reliability table: predictions in ranges of the same width; ranges without any are left out.

    >>> reliability([0.25, 0.75, 0.85], [False, True, False], bins=2)
    [Bin(lowest=0.0, highest=0.5, predictions=1, confidence=0.25, accuracy=0.0),
     Bin(lowest=0.5, highest=1.0, predictions=2, confidence=0.8, accuracy=0.5)]
    """
    found, is_right = np.asarray(probabilities, dtype=float), np.asarray(right, dtype=bool)
    place = np.minimum((found * bins).astype(int), bins - 1)
    return [
        Bin(
            i / bins,
            (i + 1) / bins,
            int(inside.sum()),
            round(float(found[inside].mean()), 12),
            float(is_right[inside].mean()),
        )
        for i in range(bins)
        if (inside := place == i).any()
    ]


def expected_calibration_error(table: Sequence[Bin]) -> float:
    """The mean distance between confidence and accuracy, over all predictions.

    >>> round(expected_calibration_error(reliability([0.25, 0.75, 0.85], [False, True, False], bins=2)), 4)
    0.2833
    """
    total = sum(bin.predictions for bin in table)
    return sum(bin.predictions * abs(bin.confidence - bin.accuracy) for bin in table) / total if total else 0.0
