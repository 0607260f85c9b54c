"""A hashed linear model over feature templates, and what a learner needs beside it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.learning._online import average
from crossarc.scoring.templates import Templates

__all__ = ["Learner", "LinearModel", "new_learner", "table_size", "view"]


class LinearModel(NamedTuple):
    """Templates and the table of their weights; a feature's place is given by the highest bits of its hash."""

    templates: Templates
    weights: NDArray[np.float32]
    shift: np.uint64


class Learner(NamedTuple):
    """The state of online learning with averaging."""

    weights: NDArray[np.float32]
    totals: NDArray[np.float64]  # what the average takes back from each weight, times the number of steps
    scratch: NDArray[np.int32]  # zero between two steps
    step: NDArray[np.float64]  # one number: which step this is
    most: float  # the largest multiplier of a constraint ("C")

    def averaged(self) -> NDArray[np.float32]:
        """The mean of the weights over all steps so far."""
        weights = np.empty_like(self.weights)
        average(self.weights, self.totals, self.step[0], weights)
        return weights


def table_size(bits: int, *, row: int = 0) -> int:
    """How many weights a model has; with rows of that many labels, so many more."""
    return (1 << bits) + row


def view(templates: Templates, weights: NDArray[np.float32], *, row: int = 0) -> LinearModel:
    """A model whose weights are those of the table."""
    bits = (len(weights) - row).bit_length() - 1
    return LinearModel(templates, weights, np.uint64(64 - bits))


def new_learner(size: int, most: float) -> Learner:
    return Learner(np.zeros(size, dtype=np.float32), np.zeros(size), np.zeros(size, dtype=np.int32), np.ones(1), most)
