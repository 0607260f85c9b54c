"""Training of the graph parser: a linear scorer of trees first, then its weights and those of extra arcs together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import CrossarcError, Sentence
from crossarc.evaluation.graphs import GraphScores
from crossarc.learning.online import Learner, averaged, new_learner, table_size
from crossarc.parsers.graph._graph import SEEN_BITS
from crossarc.parsers.graph._training import learn_graphs, see_pairs
from crossarc.parsers.graph.config import GraphConfig
from crossarc.parsers.graph.parser import GraphParser, templates_of_extras
from crossarc.parsers.graph.treebank import GoldGraph, gold_graphs
from crossarc.parsers.linear.parser import LinearParser
from crossarc.parsers.linear.training import train_linear
from crossarc.parsers.training import EpochReport, TrainingListener, Treebank, dev_scores
from crossarc.scorers.linear.model import view

__all__ = ["train_graph"]

_EXTRA_BITS = 22
_LABEL_BITS = 20
_LABEL_STEP = 0.02  # as for the labels of trees


def train_graph(
    treebank: Sequence[Sentence],
    config: GraphConfig | None = None,
    *,
    dev: Sequence[Sentence] = (),
    tree: LinearParser | None = None,
    listener: TrainingListener | None = None,
) -> GraphParser:
    """Train on trees and graphs (DEPS); with ``dev``, the weights after the epoch that is best there are kept.

    Training starts from ``tree``, a parser of second order with labels in a second stage; by default one is trained.
    The best epoch is the one with the highest F of all labelled arcs. An interrupt after the first epoch of graphs ends
    training and keeps the best so far.

    Raises
    ------
    InputError : DEPS of a sentence is not as CoNLL-U demands
    CrossarcError : there are no extra arcs to learn, or the tree is of another kind
    """
    config, listener = config or GraphConfig(), listener or TrainingListener()
    graphs = gold_graphs(treebank, listener)
    if treebank and not any(graph.extra for graph in graphs):
        raise CrossarcError("cannot learn graphs: no word has an extra head in DEPS")
    if tree is None:
        tree = train_linear(treebank, config.linear, dev=dev, listener=listener)
    elif (tree.config.order, tree.config.labels) != ("2", "two-stage"):
        raise CrossarcError("graphs start from trees of order 2, with labels in a second stage")
    config = replace(config, projective=tree.config.projective, single_root=tree.config.single_root)
    return _Training(Treebank(treebank), graphs, dev, config, tree, listener).run()


class _Extra(NamedTuple):
    """The extra arcs of all sentences: those of sentence b are ``starts[b]`` to ``starts[b + 1]``."""

    starts: NDArray[np.int64]
    heads: NDArray[np.int64]
    modifiers: NDArray[np.int64]
    labels: NDArray[np.int64]


class _Learners(NamedTuple):
    graphs: Learner
    labels: Learner


class _Training:
    def __init__(
        self,
        treebank: Treebank,
        graphs: Sequence[GoldGraph],
        dev: Sequence[Sentence],
        config: GraphConfig,
        tree: LinearParser,
        listener: TrainingListener,
    ) -> None:
        self.treebank, self.dev, self.config, self.listener = treebank, dev, config, listener
        self.tree, self.search = tree, tree.config.search
        self.templates = templates_of_extras(tree.scorer)
        self.labels = tuple(sorted({label for graph in graphs for label in graph.extra.values()}))
        self.extra = self._numbered(graphs)
        self.seen = np.zeros(1 << SEEN_BITS, dtype=np.bool_)
        see_pairs(treebank.batch, self.extra, self.seen)

    def _numbered(self, graphs: Sequence[GoldGraph]) -> _Extra:
        number = {label: i for i, label in enumerate(self.labels)}
        arcs = [(h, m, number[label]) for graph in graphs for (h, m), label in graph.extra.items()]
        heads, modifiers, labels = np.array(arcs, dtype=np.int64).reshape(-1, 3).T.copy()
        starts = np.concatenate([[0], np.cumsum([len(graph.extra) for graph in graphs])])
        return _Extra(starts, heads, modifiers, labels)

    def run(self) -> GraphParser:
        learners = self._new_learners()
        rng = np.random.default_rng(self.config.seed)
        best: GraphParser | None = None
        try:
            for epoch in range(1, self.config.epochs + 1):
                loss, speed = self._epoch(epoch, learners, rng)
                current = self._scored(self._parser(averaged(learners.graphs), averaged(learners.labels)))
                if best is None or (current.dev_graph or 0) >= (best.dev_graph or 0):
                    best = current
                self.listener.report(EpochReport("graphs", epoch, loss, speed, current.dev, current.dev_graph))
        except KeyboardInterrupt:
            if best is None:
                raise
        assert best is not None
        return best

    def _new_learners(self) -> _Learners:
        """The weights of extra arcs come after those of the tree, in one table: MIRA changes both at once."""
        of_tree = self.tree.scorer.heads_model.weights
        graphs = new_learner(len(of_tree) + table_size(_EXTRA_BITS), self.tree.config.aggressiveness)
        graphs.weights[: len(of_tree)] = of_tree
        return _Learners(graphs, new_learner(table_size(_LABEL_BITS, row=len(self.labels)), _LABEL_STEP))

    def _epoch(self, epoch: int, learners: _Learners, rng: np.random.Generator) -> tuple[float, float]:
        models = self._parser(learners.graphs.weights, learners.labels.weights).models
        batch, gold = self.treebank.batch, self.treebank.gold

        def learn(chosen: NDArray[np.int64]) -> float:
            seed = np.uint64(rng.integers(2**63))
            loss: float = learn_graphs(batch, chosen, models, learners, gold, self.extra, self.search, seed)
            return loss

        return self.treebank.epoch("graphs", epoch, learn, rng, self.listener)

    def _parser(self, weights: NDArray[np.float32], label_weights: NDArray[np.float32]) -> GraphParser:
        of_tree = len(self.tree.scorer.heads_model.weights)
        return GraphParser(
            self.config,
            replace(self.tree, scorer=self.tree.scorer.with_heads(weights[:of_tree])),
            self.labels,
            view(self.templates, weights[of_tree:]),
            view(self.templates, label_weights, row=len(self.labels)),
            self.seen,
        )

    def _scored(self, parser: GraphParser) -> GraphParser:
        if not self.dev:
            return parser
        parsed = list(parser.parse(self.dev))
        scores = GraphScores()
        scores.add(list(self.dev), parsed, {word: word for word in range(sum(map(len, parsed)))})
        return replace(parser, dev=dev_scores(self.dev, iter(parsed)), dev_graph=scores.labelled.f1)
