"""Whether probabilities are honest: of arcs that are right with probability 0.8, four in five should be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Bin",
    "Calibration",
    "Curve",
    "Temperatures",
    "expected_calibration_error",
    "fit_curve",
    "fit_temperature",
    "reliability",
    "softmax",
]

_RANGE = (np.log(0.01), np.log(100.0))  # of the logarithm of a temperature
_PRECISION = 0.02  # of the same
_POINTS = 20  # of a curve at most
_FEWEST = 50  # predictions for each point
_NOTHING = 1e-12  # a probability that is no more than rounding


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


class Curve(NamedTuple):
    """What the probabilities of predictions mean: how often they are right, linear between some points.

    >>> overconfident = Curve((0.0, 0.5, 1.0), (0.0, 0.5, 0.9))
    >>> overconfident(np.array([0.25, 0.75, 1.0])).round(3).tolist()
    [0.25, 0.7, 0.9]
    """

    probabilities: tuple[float, ...] = (0.0, 1.0)
    accuracies: tuple[float, ...] = (0.0, 1.0)  # never falling

    def __call__(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """The accuracies at some probabilities."""
        return np.interp(probabilities, self.probabilities, self.accuracies)

    def applied(
        self, shares: NDArray[np.float64], chosen: NDArray[np.int64], possible: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """``shares[i, a]`` of the alternatives of each choice, with that of the chosen one on the curve.

        The others share what is left, in their proportions, or evenly if they had nothing. What has no other possible
        alternative (``possible[i, a]``) stays certain.
        """
        rows = np.arange(len(shares))
        others = np.where(possible, shares, 0.0)
        others[rows, chosen] = 0.0
        evenly = np.where(possible, 1.0, 0.0)
        evenly[rows, chosen] = 0.0
        weights = np.where(others.sum(axis=1, keepdims=True) > _NOTHING, others, evenly)
        total = weights.sum(axis=1)
        open_choice = total > 0.0
        own = np.where(open_choice, self(shares[rows, chosen]), shares[rows, chosen])
        found: NDArray[np.float64] = weights * ((1.0 - own) / np.where(open_choice, total, 1.0))[:, None]
        found[rows, chosen] = own
        return found


def fit_curve(probabilities: NDArray[np.float64], right: NDArray[np.bool_]) -> Curve:
    """The curve from probabilities of predictions to how often they are right, by isotonic regression.

    Predictions are put into bins of the same size by their probability; bins whose accuracies fall are pooled (Zadrozny
    and Elkan 2002). Few predictions have fewer bins; hardly any, none: then nothing changes.

    >>> rng = np.random.default_rng(1)
    >>> said = rng.uniform(size=5000)
    >>> curve = fit_curve(said, rng.uniform(size=5000) < said**2)
    >>> curve(np.array([0.3, 0.6, 0.9])).round(1).tolist()
    [0.1, 0.3, 0.8]
    """
    points = min(_POINTS, len(right) // _FEWEST)
    if points == 0:
        return Curve()
    bins = np.array_split(np.argsort(probabilities, kind="stable"), points)
    sizes = [len(bin) for bin in bins]
    means = [float(probabilities[bin].mean()) for bin in bins]
    # each bin has one more prediction, that is right as often as all are: a few right ones do not make certainty
    accuracies = [(right[bin].sum() + right.mean()) / (len(bin) + 1) for bin in bins]
    pooled = _pooled(accuracies, sizes)
    return Curve((0.0, *means, 1.0), (0.0, *pooled, pooled[-1]))


def _pooled(values: Sequence[float], sizes: Sequence[int]) -> list[float]:
    """Isotonic regression: the nearest values that never fall (pool adjacent violators)."""
    blocks: list[tuple[float, int, int]] = []  # the mean of a block, its weight, how many values it has
    for value, size in zip(values, sizes, strict=True):
        block = (float(value), size, 1)
        while blocks and blocks[-1][0] >= block[0]:
            before = blocks.pop()
            weight = before[1] + block[1]
            block = ((before[0] * before[1] + block[0] * block[1]) / weight, weight, before[2] + block[2])
        blocks.append(block)
    return [mean for mean, _, count in blocks for _ in range(count)]


class Calibration(NamedTuple):
    """How scores become honest probabilities: temperatures make distributions of them, curves say what these mean.

    Trees have the probabilities of the first, arcs and labels those of both.
    """

    temperatures: Temperatures = Temperatures(1.0, 1.0)
    arcs: Curve = Curve()  # of the arcs of the parser's own trees
    labels: Curve = Curve()  # of their labels, given that the arc is right

    def to_header(self) -> dict[str, Any]:
        """As a model file has it."""
        curves = {"arcs": list(self.arcs), "labels": list(self.labels)}
        return {"temperatures": self.temperatures._asdict(), "curves": curves}

    @classmethod
    def from_header(cls, header: dict[str, Any]) -> Calibration | None:
        """That of a model file, None if it has none; older files have no curves."""
        if not header["temperatures"]:
            return None
        curves = header.get("curves") or {}
        return cls(
            Temperatures(**header["temperatures"]),
            **{name: Curve(*map(tuple, curve)) for name, curve in curves.items()},
        )


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
