"""Two parsers on the same text, side by side, with the question whether the difference is real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.evaluation.evaluate import Evaluation, Outcomes
from crossarc.evaluation.significance import Interval, approximate_randomisation, mcnemar, paired_bootstrap

__all__ = ["Comparison", "Difference", "SentenceDifference", "compare"]


@dataclass
class Difference:
    """The second parser's score less the first's, over gold words, and how sure we are of it."""

    name: str
    first: float
    second: float
    interval: Interval  # 95 %, paired bootstrap over sentences
    mcnemar: float  # p-values
    randomisation: float
    only_first: int  # words that only this parser got right
    only_second: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "first": 100 * self.first,
            "second": 100 * self.second,
            "difference": 100 * (self.second - self.first),
            "interval": [100 * self.interval.low, 100 * self.interval.high],
            "p_mcnemar": self.mcnemar,
            "p_randomisation": self.randomisation,
            "only_first": self.only_first,
            "only_second": self.only_second,
        }


class SentenceDifference(NamedTuple):
    """A sentence that two parsers get right to different degrees."""

    sentence: str
    words: int
    first: int  # words with the right head and label
    second: int


@dataclass
class Comparison:
    """How two parsers differ, in their scores and sentence by sentence."""

    differences: list[Difference]
    sentences: list[SentenceDifference]  # those that differ, most different first

    def as_dict(self) -> dict[str, Any]:
        return {
            "differences": {difference.name: difference.as_dict() for difference in self.differences},
            "sentences": [sentence._asdict() for sentence in self.sentences],
        }


def compare(first: Evaluation, second: Evaluation, *, seed: int, samples: int = 10_000) -> Comparison:
    """Compare two evaluations against the same gold file."""
    rng = np.random.default_rng(seed)
    a, b = first.outcomes, second.outcomes
    if a.sentence_lengths != b.sentence_lengths:
        raise ValueError("the two evaluations are not of the same gold sentences")
    keep = 1 - _bits(a.punctuation)
    everything = np.ones_like(keep)
    differences = [
        _difference(name, _bits(x), _bits(y), mask, a, rng, samples)
        for name, x, y, mask in (
            ("UAS", a.head, b.head, everything),
            ("LAS", a.head_and_label, b.head_and_label, everything),
            ("UAS without punctuation", a.head, b.head, keep),
            ("LAS without punctuation", a.head_and_label, b.head_and_label, keep),
        )
    ]
    return Comparison(differences, _most_different(a, b))


def _difference(
    name: str,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    mask: NDArray[np.int64],
    outcomes: Outcomes,
    rng: np.random.Generator,
    samples: int,
) -> Difference:
    first_right, second_right = (_per_sentence(values * mask, outcomes) for values in (first, second))
    sizes = _per_sentence(mask, outcomes)
    only_first = int((mask * first * (1 - second)).sum())
    only_second = int((mask * second * (1 - first)).sum())
    words = max(int(sizes.sum()), 1)
    return Difference(
        name,
        float(first_right.sum() / words),
        float(second_right.sum() / words),
        paired_bootstrap(first_right, second_right, sizes, rng=rng, samples=samples),
        mcnemar(only_first, only_second),
        approximate_randomisation(second_right - first_right, rng=rng, samples=samples),
        only_first,
        only_second,
    )


def _most_different(a: Outcomes, b: Outcomes) -> list[SentenceDifference]:
    first, second = (_per_sentence(_bits(outcomes.head_and_label), a) for outcomes in (a, b))
    order = np.argsort(-np.abs(second - first), kind="stable")
    return [
        SentenceDifference(a.sentence_names[i], a.sentence_lengths[i], int(first[i]), int(second[i]))
        for i in order.tolist()
        if first[i] != second[i]
    ]


def _bits(values: bytearray) -> NDArray[np.int64]:
    return np.frombuffer(values, dtype=np.uint8).astype(np.int64)


def _per_sentence(values: NDArray[np.int64], outcomes: Outcomes) -> NDArray[np.int64]:
    """Sums over the words of each sentence."""
    lengths = np.array(outcomes.sentence_lengths, dtype=np.int64)
    ends = np.cumsum(lengths)
    running = np.concatenate([[0], np.cumsum(values)])
    totals: NDArray[np.int64] = running[ends] - running[ends - lengths]
    return totals
