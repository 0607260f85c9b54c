"""The spanning-tree parser: McDonald et al. (2005) and McDonald & Pereira (2006), beyond them Zhang et al. (2014).

Features, scores, decoder and learner, put together: each part of a tree is scored by the weights of its features;
trees are searched for exactly (order 1), from the exact projective tree (order 2), or by climbing with restarts
("high"); MIRA learns the weights online, averaged (``training``); labels are chosen with the arcs or in a second stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, Sentence
from crossarc.features.attributes import attributes_of
from crossarc.ilp.rules import Rule
from crossarc.models.file import load_model, save_model
from crossarc.parsers.linear._parse import score_trees
from crossarc.parsers.linear.parser import LinearParser
from crossarc.parsers.linear.solving import Solved, solve_sentence
from crossarc.parsers.spanning_tree.config import SpanningTreeConfig
from crossarc.scorers.shape import TreeShape
from crossarc.trees import k_best_trees, log_partition

__all__ = ["ScoredTree", "SpanningTreeParser", "Temperatures"]

SYSTEM = "spanning-tree"

_RESCORED = 4  # trees that are scored anew for each of the k best of a higher order


class Temperatures(NamedTuple):
    """What scores are divided by to make probabilities of them."""

    arcs: float
    labels: float


class ScoredTree(NamedTuple):
    """One of several trees of a sentence."""

    sentence: Sentence
    score: float
    probability: float | None  # of its heads; None if the parser knows no probabilities


@dataclass(frozen=True)
class SpanningTreeParser(LinearParser):
    """A trained spanning-tree parser: trees by the scores of their parts.

    Attributes
    ----------
    temperatures : Temperatures or None
        None: probabilities are unknown.

    >>> from crossarc.parsers import SpanningTreeConfig, train
    >>> from crossarc.testing import random_treebank
    >>> treebank = list(random_treebank(30, seed=1))
    >>> parser = train(treebank, SpanningTreeConfig(order="1", epochs=1, hash_bits=16))
    >>> len(list(parser.parse(treebank)))
    30
    """

    temperatures: Temperatures | None = None

    def k_best(self, sentence: Sentence, k: int, constraints: Constraints | None = None) -> list[ScoredTree]:
        """The k best trees, distinct, best first; fewer if there are fewer.

        Exact for order 1. For higher orders the candidates are the best trees by what each arc is worth to the best
        tree; they are then put in the order of their full scores.
        """
        if not len(sentence):
            return [ScoredTree(sentence, 0.0, 1.0)]
        constraints = constraints or Constraints()
        batch, shape = attributes_of([sentence]), self.search_for(constraints).shape
        best, _ = self.best_trees(batch, constraints)
        (potentials,) = self.potentials(batch, best, constraints)
        wanted = k if self.config.order == "1" else _RESCORED * k
        others = k_best_trees(potentials, wanted, single_root=shape.single_root, projective=shape.projective)
        trees = np.unique(np.stack([best, *(tree.heads for tree in others)]), axis=0)
        labels, scores = np.full_like(trees, -1), np.zeros(len(trees))
        score_trees(
            batch,
            self.scorer.models,
            self.allowed(len(best), constraints),
            shape,
            trees,
            labels,
            scores,
        )
        probabilities = self._probabilities(trees, potentials, shape)
        return [
            ScoredTree(self.with_tree(sentence, trees[i], labels[i]), float(scores[i]), probabilities[i])
            for i in np.argsort(-scores, kind="stable")[:k].tolist()
        ]

    def _probabilities(
        self, trees: NDArray[np.int64], potentials: NDArray[np.float64], shape: TreeShape
    ) -> Sequence[float | None]:
        """Of each tree; None if the parser knows none."""
        if self.temperatures is None:
            return [None] * len(trees)
        scores = potentials / self.temperatures.arcs
        log_z = log_partition(scores, single_root=shape.single_root, projective=shape.projective)
        totals = scores[trees[:, 1:], np.arange(1, trees.shape[1])].sum(axis=1)
        probabilities: list[float] = np.exp(totals - log_z).tolist()
        return probabilities

    def solve(
        self,
        sentence: Sentence,
        constraints: Constraints | None = None,
        *,
        rules: Sequence[Rule] = (),
        exact: bool = True,
        time_limit: float | None = None,
    ) -> Solved:
        """The sentence with the best tree under constraints and rules, by an integer program."""
        return solve_sentence(self, sentence, constraints, rules=rules, exact=exact, time_limit=time_limit)

    def save(self, path: str | Path) -> None:
        """Write the model to one file."""
        header, tensors = self.to_model()
        temperatures = self.temperatures._asdict() if self.temperatures else None
        save_model(path, {"system": SYSTEM, **header, "temperatures": temperatures}, tensors)

    @classmethod
    def load(cls, path: str | Path) -> SpanningTreeParser:
        """Read a model from its file."""
        header, tensors = load_model(path, compact=True)
        parser = cls.from_model(header, tensors, SpanningTreeConfig(**header["config"]), path)
        return replace(
            parser, temperatures=Temperatures(**header["temperatures"]) if header.get("temperatures") else None
        )
