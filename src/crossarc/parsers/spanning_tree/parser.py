"""The spanning-tree parser: McDonald et al. (2005) and McDonald & Pereira (2006), beyond them Zhang et al. (2014).

Features, scores, decoder and learner, put together: each part of a tree is scored by the weights of its features;
trees are searched for exactly (order 1), from the exact projective tree (order 2), or by climbing with restarts
("high"); MIRA learns the weights online, averaged (``training``); labels are chosen with the arcs or in a second stage.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from crossarc.core import Constraints, Sentence
from crossarc.evaluation.calibration import Calibration
from crossarc.models import Tensors
from crossarc.models.schema import Kind
from crossarc.models.tensors import TensorKind
from crossarc.parsers.base import Capability, Parsed, ParseOptions, UnsupportedOption
from crossarc.parsers.header import CALIBRATION, fields_of_linear, tensors_of_linear
from crossarc.parsers.linear.parser import LinearParser
from crossarc.parsers.scoring import ScoringParser
from crossarc.parsers.spanning_tree.config import SpanningTreeConfig
from crossarc.parsers.spanning_tree.probabilities import LinearBatch

if TYPE_CHECKING:
    from crossarc.features.explain import Reason

__all__ = ["SpanningTreeParser"]


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
class SpanningTreeParser(LinearParser, ScoringParser):  # type: ignore[override]
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

    def scored(self, sentences: Sequence[Sentence], constraints: Constraints) -> LinearBatch:
        return LinearBatch(self, sentences, constraints)

    def decode(self, sentences: Sequence[Sentence], constraints: Constraints, options: ParseOptions) -> list[Parsed]:
        if options.exact and options.rules is None:
            return self._certified(sentences, constraints, options)
        return super().decode(sentences, constraints, options)

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

    def best_parsed(self, sentences: Sequence[Sentence], constraints: Constraints) -> list[Parsed]:
        return list(map(Parsed, self.best(sentences, constraints)))

    def solved(self, sentence: Sentence, constraints: Constraints, options: ParseOptions) -> Parsed:
        from crossarc.parsers.linear.integer_program import parsed_by_program  # brings the solver with it

        return parsed_by_program(self, sentence, constraints, options)

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
