"""How sure the incremental parser is of an arc: a softmax over the scores of the actions that were possible.

The scores of a classifier are no probabilities. They are divided by a temperature that is fitted on the dev set, so
that of the arcs with a probability of 0.8, about 80 % are right (Guo, Pleiss, Sun and Weinberger 2017).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.parsers.covington._parse import CHOSEN, LABELS

__all__ = ["UNFITTED", "Temperature", "fit_temperature", "probabilities"]

Evidence = NDArray[np.float32]  # a row for each node; see ``_covington``

_WIDEST = 10.0  # of the logarithm of a temperature, from 0


class Temperature(NamedTuple):
    """What scores are divided by."""

    arc: float
    label: float


UNFITTED = Temperature(1.0, 0.2)  # about what real treebanks give


def probabilities(
    evidence: Evidence, labels: NDArray[np.int64], temperature: Temperature
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each node: of the arc into it, and of the arc with this label."""
    arcs = _softmax(evidence[:, :LABELS], np.full(len(evidence), CHOSEN), temperature.arc)
    return arcs, arcs * _softmax(evidence[:, LABELS:], labels, temperature.label)


def fit_temperature(
    evidence: Evidence, labels: NDArray[np.int64], right_heads: NDArray[np.bool_], right_labels: NDArray[np.bool_]
) -> Temperature:
    """The temperatures with the smallest log loss; that of labels by the words whose heads are right."""
    chosen = np.full(len(evidence), CHOSEN)
    return Temperature(
        _fit(evidence[:, :LABELS], chosen, right_heads),
        _fit(evidence[right_heads, LABELS:], labels[right_heads], right_labels[right_heads]),
    )


def _fit(scores: Evidence, chosen: NDArray[np.int64], right: NDArray[np.bool_]) -> float:
    if not len(scores):
        return 1.0

    def log_loss(logarithm: float) -> float:
        sure = _softmax(scores, chosen, np.exp(logarithm)).clip(1e-6, 1 - 1e-6)
        return -float(np.log(np.where(right, sure, 1 - sure)).mean())

    from scipy.optimize import minimize_scalar  # takes long to import, and parsing does without

    return float(np.exp(minimize_scalar(log_loss, bounds=(-_WIDEST, _WIDEST), method="bounded").x))


def _softmax(scores: Evidence, chosen: NDArray[np.int64], temperature: float) -> NDArray[np.float64]:
    """The probability of the chosen column in each row."""
    shifted = (scores - scores.max(axis=1, keepdims=True)).astype(np.float64) / temperature
    weights = np.exp(shifted)
    result: NDArray[np.float64] = weights[np.arange(len(scores)), chosen] / weights.sum(axis=1)
    return result
