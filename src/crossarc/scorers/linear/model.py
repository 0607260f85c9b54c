"""A hashed linear model over feature templates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crossarc.features.templates import Templates
from crossarc.features.weights import Weights, bits_of_table

__all__ = ["LinearModel", "view"]


class LinearModel(NamedTuple):
    """Templates and the table of their weights; a feature's place is given by the highest bits of its hash."""

    templates: Templates
    weights: Weights
    shift: np.uint64


def view(templates: Templates, weights: Weights, *, row: int = 0) -> LinearModel:
    """A model whose weights are those of the table."""
    return LinearModel(templates, weights, np.uint64(64 - bits_of_table(weights, row)))
