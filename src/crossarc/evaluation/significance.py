"""Is one parser better than another, or was it luck? Three answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Interval", "approximate_randomisation", "bootstrap_f1", "mcnemar", "paired_bootstrap"]

_CHUNK = 4_000_000  # random numbers drawn at a time


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p-value of McNemar's test.

    Of the words that just one of two parsers got right, are the two shares too unequal for chance?

    >>> mcnemar(10, 10)
    1.0
    >>> round(mcnemar(2, 12), 4)
    0.0129
    """
    from scipy.stats import binomtest

    disagreements = only_first + only_second
    return float(binomtest(only_first, disagreements).pvalue) if disagreements else 1.0


def approximate_randomisation(differences: ArrayLike, *, rng: np.random.Generator, samples: int = 10_000) -> float:
    """The two-sided p-value of approximate randomisation (Noreen 1989; Yeh 2000).

    Parameters
    ----------
    differences : for each sentence, how many more words the second parser got right
        Swapping the two parsers' output on a sentence turns its sign.
    """
    observed_differences = np.asarray(differences, dtype=np.float64)
    observed = abs(observed_differences.sum())
    as_large = 0
    for rows in _chunks(samples, len(observed_differences)):
        signs = rng.integers(0, 2, size=(rows, len(observed_differences)), dtype=np.int8) * 2 - 1
        as_large += int((np.abs(signs @ observed_differences) >= observed - 1e-9).sum())
    return (as_large + 1) / (samples + 1)


def paired_bootstrap(
    first: ArrayLike,
    second: ArrayLike,
    sizes: ArrayLike,
    *,
    rng: np.random.Generator,
    samples: int = 10_000,
    confidence: float = 0.95,
) -> Interval:
    """An interval for the difference of two scores (second - first), by drawing sentences with replacement.

    Parameters
    ----------
    first, second : for each sentence, the number of words that each parser got right
    sizes : for each sentence, the number of its words
    """
    difference = np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64)
    words = np.asarray(sizes, dtype=np.float64)
    rates: list[NDArray[np.float64]] = []
    for rows in _chunks(samples, len(words)):
        drawn = rng.integers(0, len(words), size=(rows, len(words)))
        rates.append(difference[drawn].sum(axis=1) / np.maximum(words[drawn].sum(axis=1), 1))
    low, high = np.quantile(np.concatenate(rates), [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))


def bootstrap_f1(
    counts: ArrayLike, *, rng: np.random.Generator, samples: int = 10_000, confidence: float = 0.95
) -> list[Interval]:
    """An interval for each of several F1 scores, by drawing sentences with replacement.

    Parameters
    ----------
    counts : array [sentence, score, 3]
        How many there are in the gold file and in the system's, and how many of these are right.
    """
    values = np.asarray(counts, dtype=np.float64)
    n = len(values)
    rates: list[NDArray[np.float64]] = []
    for rows in _chunks(samples, n):
        drawn = rng.multinomial(n, np.full(n, 1 / n), size=rows).astype(np.float64)
        gold, system, correct = np.moveaxis(np.tensordot(drawn, values, 1), 2, 0)
        rates.append(2 * correct / np.maximum(gold + system, 1))
    ends = np.quantile(np.concatenate(rates), [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return [Interval(float(low), float(high)) for low, high in ends.T]


def _chunks(samples: int, width: int) -> Iterator[int]:
    """Numbers of rows that add up to ``samples`` and keep a matrix of that width small."""
    rows = max(1, _CHUNK // max(width, 1))
    while samples > 0:
        yield min(rows, samples)
        samples -= rows
