"""Parsers that score arcs and labels: what can be done with such scores is the same for all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from crossarc.core import Constraints, Sentence
from crossarc.evaluation.calibration import Calibration
from crossarc.parsers.base import Judged, Parsed, ParseOptions, Parser, batches
from crossarc.parsers.probabilities import ScoredBatch, analysed, fitted_calibration, judged

__all__ = ["ScoringParser"]

Own = TypeVar("Own", bound="ScoringParser")

_BATCH = 64  # sentences


class ScoringParser(Parser):
    """A parser whose system says how sentences are scored (``scored``).

    Attributes
    ----------
    calibration : Calibration or None
        What makes probabilities of scores; None: these are unknown.
    """

    calibration: Calibration | None

    @abstractmethod
    def scored(self, sentences: Sequence[Sentence], constraints: Constraints) -> ScoredBatch:
        """What is known of some sentences. Constraints on arcs and labels come with one sentence only."""

    def decode(self, sentences: Sequence[Sentence], constraints: Constraints, options: ParseOptions) -> list[Parsed]:
        if options.rules is not None:
            return [self.solved(sentence, constraints, options) for sentence in sentences]
        if options.k > 1 or options.confidence or options.labelled or options.decode != "best":
            return analysed(sentences, self.scored(sentences, constraints), self.labels, self.calibration, options)
        return self.best_parsed(sentences, constraints)

    def best_parsed(self, sentences: Sequence[Sentence], constraints: Constraints) -> list[Parsed]:
        """The sentences with their best trees."""
        scored = self.scored(sentences, constraints)
        return [
            Parsed(self.with_labels(sentence, scored.heads[nodes], scored.labels[nodes]), score)
            for sentence, nodes, score in zip(sentences, scored.slices, scored.scores, strict=True)
        ]

    def solved(self, sentence: Sentence, constraints: Constraints, options: ParseOptions) -> Parsed:
        """The best tree under rules, by an integer program."""
        from crossarc.parsers.integer_program import solved_by_arcs  # brings the solver with it

        return solved_by_arcs(self, sentence, constraints, options)

    def judge(self, sentences: Iterable[Sentence]) -> Iterator[Judged]:
        for batch in batches(sentences, _BATCH):
            yield from judged(batch, self.scored(batch, Constraints()), self.labels, self.calibration)

    @property
    def knows_probabilities(self) -> bool:
        return self.calibration is not None

    def calibrated(self: Own, gold: Sequence[Sentence]) -> Own:
        trees = [sentence for sentence in gold if len(sentence)]
        fitted = fitted_calibration(self.scored(trees, Constraints()), self.labels, trees)
        return replace(self, calibration=fitted)  # type: ignore[type-var]
