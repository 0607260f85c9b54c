"""The spanning-tree parser: McDonald et al. (2005) and McDonald & Pereira (2006), beyond them Zhang et al. (2014).

Features, scores, decoder and learner, put together: each part of a tree is scored by the weights of its features;
trees are searched for exactly (order 1), from the exact projective tree (order 2), or by climbing with restarts
("high"); MIRA learns the weights online, averaged (``training``); labels are chosen with the arcs or in a second stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, CrossarcError, Sentence
from crossarc.evaluation.calibration import Temperatures
from crossarc.features.attributes import Batch, attributes_of
from crossarc.models import Tensors
from crossarc.parsers.base import Capability, Parsed, ParseOptions, Parser
from crossarc.parsers.linear._parse import score_trees
from crossarc.parsers.linear.parser import LinearParser
from crossarc.parsers.spanning_tree.config import SpanningTreeConfig
from crossarc.parsers.spanning_tree.probabilities import Probabilities, fitted_temperatures
from crossarc.trees import k_best_trees

if TYPE_CHECKING:
    from crossarc.features.explain import Reason

__all__ = ["SpanningTreeParser"]

_RESCORED = 4  # trees that are scored anew for each of the k best of a higher order


@dataclass(frozen=True, repr=False)
class SpanningTreeParser(LinearParser, Parser):  # type: ignore[override]
    """Trees by the scores of their parts: O(n²) for order 1, about as much for each restart of the higher ones.

    Attributes
    ----------
    config, scorer, dev, treebank
        See ``LinearParser``.
    temperatures : Temperatures or None
        What makes probabilities of scores; None: these are unknown.

    >>> from crossarc.parsers import SpanningTreeConfig, train
    >>> from crossarc.testing import random_treebank
    >>> treebank = list(random_treebank(30, seed=1))
    >>> parser = train(treebank, SpanningTreeConfig(order="1", epochs=1, hash_bits=16))
    >>> len(list(parser.trees(treebank)))
    30
    """

    config: SpanningTreeConfig
    temperatures: Temperatures | None = None

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
        if options.k == 1 and not options.confidence and options.decode == "best":
            return list(map(Parsed, self.best(sentences, constraints)))
        return self._analysed(sentences, constraints, options)

    def _solved(self, sentence: Sentence, constraints: Constraints, options: ParseOptions) -> Parsed:
        """The best tree under rules, by an integer program."""
        from crossarc.parsers.linear.solving import parsed_by_program  # brings the solver with it

        return parsed_by_program(self, sentence, constraints, options)

    def _analysed(self, sentences: Sequence[Sentence], constraints: Constraints, options: ParseOptions) -> list[Parsed]:
        """Trees with their probabilities, or several of them; they are searched for once."""
        batch = attributes_of(sentences)
        heads, labels = self.best_trees(batch, constraints)
        potentials = self.potentials(batch, heads, constraints)
        sums = None
        if options.confidence or options.decode != "best" or self.temperatures is not None:
            sums = self._probabilities(batch, potentials, constraints)
        starts = batch.starts.tolist()
        if options.k > 1:
            return [
                self._k_best(sentence, heads[i:j], potentials[b], constraints, options, sums, b)
                for b, (sentence, i, j) in enumerate(zip(sentences, starts, starts[1:], strict=False))
            ]
        assert sums is not None
        if options.decode != "best":
            heads, labels = sums.min_risk()
        shares = sums.label_shares(batch, heads)
        found = []
        for b, (sentence, i, j) in enumerate(zip(sentences, starts, starts[1:], strict=False)):
            own_heads, own_labels = heads[i:j], labels[i:j]
            sure = sums.confidence(b, own_heads, own_labels, shares[i:j])
            if options.decode == "marginal-threshold":
                likely = sure.arcs >= options.threshold
                own_heads, own_labels = np.where(likely, own_heads, -1), np.where(likely, own_labels, -1)
            tree = self.with_tree(sentence, own_heads, own_labels)
            found.append(Parsed(tree, None, sure.probability, confidence=sure if options.confidence else None))
        return found

    def _probabilities(
        self, batch: Batch, potentials: list[NDArray[np.float64]], constraints: Constraints
    ) -> Probabilities:
        if self.temperatures is None:
            raise CrossarcError(
                "this model knows no probabilities: it was trained without --dev; "
                "crossarc calibrate DEV -m MODEL --fit makes up for that"
            )
        shape = self.search_for(constraints).shape
        return Probabilities(self, self.temperatures, batch, potentials, shape.single_root, shape.projective)

    def _k_best(
        self,
        sentence: Sentence,
        best: NDArray[np.int64],
        potentials: NDArray[np.float64],
        constraints: Constraints,
        options: ParseOptions,
        sums: Probabilities | None,
        b: int,
    ) -> Parsed:
        """The k best trees, distinct, best first; fewer if there are fewer.

        Exact for order 1. For higher orders the candidates are the best trees by what each arc adds to the best tree;
        they are then put in the order of their full scores. ``sums`` has sentence b.
        """
        if not len(sentence):
            return Parsed(sentence, 0.0, 1.0, trees=(Parsed(sentence, 0.0, 1.0),))
        batch, shape = attributes_of([sentence]), self.search_for(constraints).shape
        wanted = options.k if self.config.order == "1" else _RESCORED * options.k
        others = k_best_trees(potentials, wanted, single_root=shape.single_root, projective=shape.projective)
        trees = np.unique(np.stack([best, *(tree.heads for tree in others)]), axis=0)
        labels, scores = np.full_like(trees, -1), np.zeros(len(trees))
        allowed = self.allowed(len(best), constraints)
        score_trees(batch, self.scorer.models, allowed, shape, trees, labels, scores)
        found = []
        for i in np.argsort(-scores, kind="stable")[: options.k].tolist():
            tree = Parsed(self.with_tree(sentence, trees[i], labels[i]), float(scores[i]))
            if sums is not None:
                sure = sums.confidence(b, trees[i], labels[i], sums.label_shares(batch, trees[i]))
                tree = replace(tree, probability=sure.probability, confidence=sure if options.confidence else None)
            found.append(tree)
        return replace(found[0], trees=tuple(found))

    @property
    def knows_probabilities(self) -> bool:
        return self.temperatures is not None

    def calibrated(self, gold: Sequence[Sentence]) -> SpanningTreeParser:
        return replace(self, temperatures=fitted_temperatures(self, gold))

    def explain(self, sentence: Sentence, head: int, modifier: int) -> list[Reason]:
        from crossarc.parsers.spanning_tree.explain import explain

        return explain(self, sentence, head, modifier)

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        header, tensors = LinearParser.to_model(self)
        temperatures = self.temperatures and self.temperatures._asdict()
        return {"system": self.system, **header, "temperatures": temperatures}, tensors

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> SpanningTreeParser:  # type: ignore[override]
        config = SpanningTreeConfig(**header["config"])
        linear = LinearParser.from_model(header, tensors, config)
        temperatures = header["temperatures"] and Temperatures(**header["temperatures"])
        return cls(config, linear.scorer, linear.dev, linear.treebank, temperatures)
