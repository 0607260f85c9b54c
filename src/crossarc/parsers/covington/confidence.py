"""How sure the incremental parser is of an arc: a softmax over the scores of the actions that were possible."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crossarc.evaluation.calibration import Temperatures, fit_temperature, softmax
from crossarc.parsers.covington._parse import CHOSEN, LABELS

__all__ = ["UNFITTED", "fit_temperatures", "probabilities"]

Evidence = NDArray[np.float32]  # a row for each node; see ``_parse``

UNFITTED = Temperatures(1.0, 0.2)  # about what real treebanks give


def probabilities(
    evidence: Evidence, labels: NDArray[np.int64], temperatures: Temperatures
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each node: of the arc into it, and of the arc with this label."""
    arcs = softmax(evidence[:, :LABELS] / temperatures.arcs)[:, CHOSEN]
    return arcs, arcs * _of_labels(evidence, labels, temperatures.labels)


def fit_temperatures(
    evidence: Evidence, labels: NDArray[np.int64], right_heads: NDArray[np.bool_], right_labels: NDArray[np.bool_]
) -> Temperatures:
    """The temperatures that fit best; that of labels by the words whose heads are right."""
    of_labels, chosen = evidence[right_heads], labels[right_heads]
    return Temperatures(
        fit_temperature(lambda t: softmax(evidence[:, :LABELS] / t)[:, CHOSEN], right_heads),
        fit_temperature(lambda t: _of_labels(of_labels, chosen, t), right_labels[right_heads]),
    )


def _of_labels(evidence: Evidence, labels: NDArray[np.int64], temperature: float) -> NDArray[np.float64]:
    shares = softmax(evidence[:, LABELS:] / temperature)
    return shares[np.arange(len(labels)), labels]
