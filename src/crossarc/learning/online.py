"""What a learner needs beside a table of weights: the state of online learning, with averaging."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.learning._online import average

__all__ = [
    "AdaptiveLearner",
    "Learner",
    "averaged",
    "new_adaptive_learner",
    "new_learner",
    "state_of",
    "table_size",
]


class Learner(NamedTuple):
    """The state of online learning with averaging."""

    weights: NDArray[np.float32]
    totals: NDArray[np.float64]  # Σ step·Δw: lazy averaging (Daumé 2006, §2.2.3); mean = weights - totals / steps
    scratch: NDArray[np.int32]  # zero between two steps
    step: NDArray[np.float64]  # one number: which step this is
    max_step: float  # the largest multiplier of a constraint ("C")


class AdaptiveLearner(NamedTuple):
    """The state of learning by gradients, with steps that adapt to each weight, and averaging."""

    weights: NDArray[np.float32]
    slopes: NDArray[np.void]  # of each weight, see ``SLOPE``
    step: NDArray[np.float64]
    rate: float


# What belongs to one weight lies together, so that it comes from memory together: the gradient (zero between two
# steps), the sum of the squares of all gradients so far, and the total of lazy averaging (as in ``Learner``).
SLOPE = np.dtype([("gradient", np.float64), ("squares", np.float32), ("total", np.float32)])


def averaged(learner: Learner | AdaptiveLearner) -> NDArray[np.float32]:
    """The mean of the weights over all steps so far."""
    if isinstance(learner, AdaptiveLearner):
        mean: NDArray[np.float32] = (learner.weights - learner.slopes["total"] / learner.step[0]).astype(np.float32)
        return mean
    weights = np.empty_like(learner.weights)
    average(learner.weights, learner.totals, learner.step[0], weights)
    return weights


def state_of(learner: Learner | AdaptiveLearner) -> dict[str, NDArray[Any]]:
    """All that must be kept to go on learning, by name; what is written there changes the learner."""
    if isinstance(learner, AdaptiveLearner):
        slopes = learner.slopes
        return {
            "weights": learner.weights,
            "squares": slopes["squares"],
            "totals": slopes["total"],
            "step": learner.step,
        }
    return {"weights": learner.weights, "totals": learner.totals, "step": learner.step}


def table_size(bits: int, *, row: int = 0) -> int:
    """How many weights a model has; with rows of that many labels, so many more."""
    return (1 << bits) + row


def new_learner(size: int, max_step: float) -> Learner:
    return Learner(
        np.zeros(size, dtype=np.float32), np.zeros(size), np.zeros(size, dtype=np.int32), np.ones(1), max_step
    )


def new_adaptive_learner(size: int, rate: float) -> AdaptiveLearner:
    return AdaptiveLearner(np.zeros(size, dtype=np.float32), np.zeros(size, dtype=SLOPE), np.ones(1), rate)
