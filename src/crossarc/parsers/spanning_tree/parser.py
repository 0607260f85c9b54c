"""The spanning-tree parser: McDonald et al. (2005) and McDonald & Pereira (2006), beyond them Zhang et al. (2014).

Features, scores, decoder and learner, put together: each part of a tree is scored by the weights of its features;
trees are searched for exactly (order 1), from the exact projective tree (order 2), or by climbing with restarts
("high"); MIRA learns the weights online, averaged (``training``); labels are chosen with the arcs or in a second stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from crossarc.core import Constraints, Sentence
from crossarc.evaluation.calibration import Calibration
from crossarc.models import Tensors
from crossarc.parsers.base import Capability, Judged, Parsed, ParseOptions, Parser, UnsupportedOption, batches
from crossarc.parsers.linear.parser import LinearParser
from crossarc.parsers.probabilities import analysed, fitted_calibration, judged
from crossarc.parsers.spanning_tree.config import SpanningTreeConfig
from crossarc.parsers.spanning_tree.probabilities import LinearBatch

if TYPE_CHECKING:
    from crossarc.features.explain import Reason

__all__ = ["SpanningTreeParser"]

_BATCH = 64  # sentences


def _is_as_good(parser: LinearParser, tree: Sentence, other: Sentence, constraints: Constraints) -> bool:
    """Whether a tree scores as much as another one of the same sentence."""
    if tree.head == other.head:
        return True
    _, scores = LinearBatch(parser, [tree], constraints).tree_scores(0, np.stack([tree.heads, other.heads]))
    return bool(scores[0] >= scores[1])


def _with_status(parsed: Parsed, has_pruned: bool) -> Parsed:
    """The best tree of all, and whether the pruner leaves it."""
    status = "optimal" if has_pruned else "optimal (left out by the pruner)"
    trees = tuple(replace(tree, status=None if rank else status) for rank, tree in enumerate(parsed.trees))
    return replace(parsed, status=status, trees=trees)


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

    def decode(self, sentences: Sequence[Sentence], constraints: Constraints, options: ParseOptions) -> list[Parsed]:
        if options.rules is not None:
            return [self._solved(sentence, constraints, options) for sentence in sentences]
        if options.exact:
            return self._certified(sentences, constraints, options)
        if options.k == 1 and options.decode == "best" and not (options.confidence or options.labelled):
            return list(map(Parsed, self.best(sentences, constraints)))
        return analysed(sentences, LinearBatch(self, sentences, constraints), self.labels, self.calibration, options)

    def check(self, options: ParseOptions) -> None:
        """Order 1 has exact trees without integer programs, too."""
        if options.exact and options.rules is None and self.config.order == "1":
            if options.decode != "best" or options.labelled:
                raise UnsupportedOption("--exact is for the best trees: not with --decode or --labelled")
            options = replace(options, exact=None)
        super().check(options)

    def _certified(
        self, sentences: Sequence[Sentence], constraints: Constraints, options: ParseOptions
    ) -> list[Parsed]:
        """The best trees over all heads, and whether they are those of the heads that the pruner leaves."""
        whole = replace(self, scorer=self.scorer.without_pruning())
        found = whole.decode(sentences, constraints, replace(options, exact=None))
        pruned = self.best(sentences, constraints)
        return [
            _with_status(parsed, _is_as_good(whole, tree, parsed.sentence, constraints))
            for tree, parsed in zip(pruned, found, strict=True)
        ]

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
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> SpanningTreeParser:  # type: ignore[override]
        config = SpanningTreeConfig(**header["config"])
        linear = LinearParser.from_model(header, tensors, config)
        calibration = Calibration.from_header(header)
        return cls(config, linear.scorer, linear.dev, linear.treebank, calibration)
