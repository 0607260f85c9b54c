"""A hashed linear model over feature templates, and what a learner needs beside it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.learning._online import average
from crossarc.scoring.templates import Templates, TemplateSet

__all__ = ["Learner", "LinearModel", "averaged", "new_learner", "new_model"]


class LinearModel(NamedTuple):
    """Templates and the table of their weights; a feature's place is given by the highest bits of its hash."""

    templates: Templates
    weights: NDArray[np.float32]
    shift: np.uint64


class Learner(NamedTuple):
    """The state of online learning with averaging."""

    totals: NDArray[np.float64]  # what the average takes back from each weight, times the number of steps
    scratch: NDArray[np.int32]  # zero between two steps
    step: NDArray[np.float64]  # one number: which step this is
    most: float  # the largest multiplier of a constraint ("C")


def new_model(templates: TemplateSet, bits: int, *, row: int = 0) -> LinearModel:
    """A model of zeros with 2^bits weights; with rows of that many labels, so many more."""
    return LinearModel(templates.compiled, np.zeros((1 << bits) + row, dtype=np.float32), np.uint64(64 - bits))


def new_learner(model: LinearModel, most: float) -> Learner:
    size = len(model.weights)
    return Learner(np.zeros(size), np.zeros(size, dtype=np.int32), np.ones(1), most)


def averaged(model: LinearModel, learner: Learner) -> LinearModel:
    """The model with the mean of its weights over all steps so far."""
    weights = np.empty_like(model.weights)
    average(model.weights, learner.totals, learner.step[0], weights)
    return model._replace(weights=weights)
