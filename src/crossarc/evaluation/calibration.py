"""Whether probabilities are honest: of arcs that are right with probability 0.8, four in five should be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Bin", "expected_calibration_error", "reliability"]


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
