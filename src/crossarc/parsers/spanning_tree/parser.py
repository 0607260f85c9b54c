"""The spanning-tree parser: McDonald et al. (2005) and McDonald & Pereira (2006), beyond them Zhang et al. (2014).

Features, scores, decoder and learner, put together: each part of a tree is scored by the weights of its features;
trees are searched for exactly (order 1), from the exact projective tree (order 2), or by climbing with restarts
("high"); MIRA learns the weights online, averaged (``training``); labels are chosen with the arcs or in a second stage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from crossarc.core import Constraints, Sentence
from crossarc.evaluation.calibration import Calibration
from crossarc.models import Tensors
from crossarc.models.schema import Kind
from crossarc.models.tensors import TensorKind
from crossarc.parsers.base import Capability, Judged, Parsed, ParseOptions, Parser, batches
from crossarc.parsers.header import CALIBRATION, fields_of_linear, tensors_of_linear
from crossarc.parsers.linear.parser import LinearParser
from crossarc.parsers.probabilities import analysed, fitted_calibration, judged
from crossarc.parsers.spanning_tree.config import SpanningTreeConfig
from crossarc.parsers.spanning_tree.probabilities import LinearBatch

if TYPE_CHECKING:
    from crossarc.features.explain import Reason

__all__ = ["SpanningTreeParser"]

_BATCH = 64  # sentences


@dataclass(frozen=True, repr=False)
class SpanningTreeParser(LinearParser, Parser):  # type: ignore[override]
    """Trees by the scores of their parts: O(n²) for order 1, about as much for each restart of the higher ones.

    Attributes
    ----------
    config, scorer, dev, treebank
        See ``LinearParser``.
    calibration : Calibration or None
        What makes probabilities of scores; None: these are unknown.

    >>> from crossarc.parsers import SpanningTreeConfig, train
    >>> from crossarc.testing import random_treebank
    >>> treebank = list(random_treebank(30, seed=1))
    >>> parser = train(treebank, SpanningTreeConfig(order="1", epochs=1, hash_bits=16))
    >>> len(list(parser.trees(treebank)))
    30
    """

    config: SpanningTreeConfig
    calibration: Calibration | None = None

    system: ClassVar[str] = "spanning-tree"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {
            Capability.K_BEST,
            Capability.PROBABILITIES,
            Capability.DISTRIBUTION,
            Capability.RULES,
            Capability.EXPLANATIONS,
            Capability.EPOCHS,
            Capability.PARALLEL_TRAINING,
        }
    )

    header_kinds: ClassVar[Mapping[str, Kind]] = {**fields_of_linear(SpanningTreeConfig), **CALIBRATION}
    optional_fields: ClassVar[Collection[str]] = ("curves",)

    def decode(self, sentences: Sequence[Sentence], constraints: Constraints, options: ParseOptions) -> list[Parsed]:
        if options.rules is not None:
            return [self._solved(sentence, constraints, options) for sentence in sentences]
        if options.k == 1 and options.decode == "best" and not (options.confidence or options.labelled):
            return list(map(Parsed, self.best(sentences, constraints)))
        return analysed(sentences, LinearBatch(self, sentences, constraints), self.labels, self.calibration, options)

    def judge(self, sentences: Iterable[Sentence]) -> Iterator[Judged]:
        for batch in batches(sentences, _BATCH):
            yield from judged(batch, LinearBatch(self, batch, Constraints()), self.labels, self.calibration)

    def _solved(self, sentence: Sentence, constraints: Constraints, options: ParseOptions) -> Parsed:
        """The best tree under rules, by an integer program."""
        from crossarc.parsers.linear.solving import parsed_by_program  # brings the solver with it

        return parsed_by_program(self, sentence, constraints, options)

    @property
    def knows_probabilities(self) -> bool:
        return self.calibration is not None

    def calibrated(self, gold: Sequence[Sentence]) -> SpanningTreeParser:
        trees = [sentence for sentence in gold if len(sentence)]
        scored = LinearBatch(self, trees, Constraints())
        return replace(self, calibration=fitted_calibration(scored, self.labels, trees))

    def explain(self, sentence: Sentence, head: int, modifier: int) -> list[Reason]:
        from crossarc.parsers.spanning_tree.explain import explain

        return explain(self, sentence, head, modifier)

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        header, tensors = LinearParser.to_model(self)
        calibration = {"temperatures": None} if self.calibration is None else self.calibration.to_header()
        return {"system": self.system, **header, **calibration}, tensors

    @classmethod
    def tensor_kinds(cls, header: dict[str, Any]) -> Mapping[str, TensorKind]:
        return tensors_of_linear(header)

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> SpanningTreeParser:  # type: ignore[override]
        config = SpanningTreeConfig(**header["config"])
        linear = LinearParser.from_model(header, tensors, config)
        calibration = Calibration.from_header(header)
        return cls(config, linear.scorer, linear.dev, linear.treebank, calibration)
