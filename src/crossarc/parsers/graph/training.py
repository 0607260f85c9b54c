"""Training of the graph parser: a linear scorer of trees first, then its weights and those of extra arcs together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import CrossarcError, Sentence
from crossarc.evaluation.graphs import GraphScores
from crossarc.features.language import load_set, parse_set
from crossarc.learning.listener import EpochReport
from crossarc.learning.online import Learner, averaged, new_learner, state_of, table_size
from crossarc.models import Contents
from crossarc.parsers.graph._graph import SEEN_BITS
from crossarc.parsers.graph._training import learn_graphs, see_pairs
from crossarc.parsers.graph.config import GraphConfig
from crossarc.parsers.graph.features import SCHEMA
from crossarc.parsers.graph.parser import GraphParser, templates_of_extras
from crossarc.parsers.graph.treebank import GoldGraph, gold_graphs
from crossarc.parsers.linear.parser import LinearParser
from crossarc.parsers.linear.training import train_linear
from crossarc.parsers.training import Epochs, TrainingSetup, Treebank, dev_scores, run_epochs, with_treebank_defaults
from crossarc.scorers.linear.model import view

__all__ = ["train"]

_EXTRA_BITS = 22
_LABEL_BITS = 20
_LABEL_STEP = 0.02  # as for the labels of trees


def train(
    treebank: Sequence[Sentence], config: GraphConfig, setup: TrainingSetup, *, tree: LinearParser | None = None
) -> GraphParser:
    """Train on trees and graphs (DEPS): see ``crossarc.parsers.train``.

    Training starts from ``tree``, a parser of second order with labels in a second stage; by default one is trained.
    The best epoch is the one with the highest F of all labelled arcs.

    Raises
    ------
    InputError : DEPS of a sentence is not as CoNLL-U demands
    CrossarcError : there are no extra arcs to learn, or the tree is of another kind
    """
    config = with_treebank_defaults(treebank, config)
    graphs = gold_graphs(treebank, setup.listener)
    if config.cycles == "sentence":
        treebank, graphs = _without_cycles(treebank, graphs, setup)
    if treebank and not any(graph.extra for graph in graphs):
        raise CrossarcError("cannot learn graphs: no word has an extra head in DEPS")
    trees = Treebank(treebank)
    checkpoint = setup.checkpoint_for(config, trees.checksum)
    if checkpoint.saved is not None and checkpoint.saved.stage == _Training.stage:
        tree = GraphParser.from_model(*checkpoint.saved.best).tree
    elif tree is None:
        tree = train_linear(treebank, config.linear, setup, checkpoint)
        checkpoint.saved = None  # it was of the trees
    elif (tree.config.order, tree.config.labels) != ("2", "two-stage"):
        raise CrossarcError("graphs start from trees of order 2, with labels in a second stage")
    return run_epochs(_Training(trees, graphs, config, tree, setup), config.epochs, checkpoint)


def _without_cycles(
    treebank: Sequence[Sentence], graphs: Sequence[GoldGraph], setup: TrainingSetup
) -> tuple[list[Sentence], list[GoldGraph]]:
    """What is left without the sentences that have a cycle."""
    kept = [(sentence, graph) for sentence, graph in zip(treebank, graphs, strict=True) if not graph.in_cycles]
    if len(kept) < len(graphs):
        setup.listener.sentences_left_out(len(graphs) - len(kept), "their graphs have cycles")
    return [sentence for sentence, _ in kept], [graph for _, graph in kept]


class _Extra(NamedTuple):
    """The extra arcs of all sentences: those of sentence b are ``starts[b]`` to ``starts[b + 1]``."""

    starts: NDArray[np.int64]
    heads: NDArray[np.int64]
    modifiers: NDArray[np.int64]
    labels: NDArray[np.int64]


class _Learners(NamedTuple):
    graphs: Learner
    labels: Learner


class _Training(Epochs[GraphParser]):
    stage = "graphs"

    def __init__(
        self,
        treebank: Treebank,
        graphs: Sequence[GoldGraph],
        config: GraphConfig,
        tree: LinearParser,
        setup: TrainingSetup,
    ) -> None:
        super().__init__(setup)
        self.treebank, self.config = treebank, config
        self.tree, self.search = tree, tree.config.search
        self.rng = np.random.default_rng(config.seed)
        self.templates = templates_of_extras(tree.scorer)
        self.features = load_set(SCHEMA, "default") if config.basic_tree else parse_set(SCHEMA, "")
        self.labels = tuple(sorted({label for graph in graphs for label in graph.extra.values()}))
        self.extra = self._numbered(graphs)
        self.seen = np.zeros(1 << SEEN_BITS, dtype=np.bool_)
        see_pairs(treebank.batch, self.extra, self.seen)
        self.learners = self._new_learners()

    def _numbered(self, graphs: Sequence[GoldGraph]) -> _Extra:
        number = {label: i for i, label in enumerate(self.labels)}
        arcs = [(h, m, number[label]) for graph in graphs for (h, m), label in graph.extra.items()]
        heads, modifiers, labels = np.array(arcs, dtype=np.int64).reshape(-1, 3).T.copy()
        starts = np.concatenate([[0], np.cumsum([len(graph.extra) for graph in graphs])])
        return _Extra(starts, heads, modifiers, labels)

    def result(self) -> GraphParser:
        return self._scored(self._parser(averaged(self.learners.graphs), averaged(self.learners.labels)))

    def restored(self, contents: Contents) -> GraphParser:
        return GraphParser.from_model(*contents)

    def state(self) -> dict[str, NDArray[Any]]:
        learners = self.learners._asdict().items()
        return {f"{name}.{own}": array for name, learner in learners for own, array in state_of(learner).items()}

    def quality(self, result: GraphParser) -> float | None:
        return result.dev_graph

    def report(self, epoch: int, loss: float | None, speed: float, result: GraphParser) -> EpochReport:
        return EpochReport(self.stage, epoch, loss, speed, result.dev, result.dev_graph)

    def _new_learners(self) -> _Learners:
        """Weights of their own of extra arcs come after those of the tree, in one table: MIRA changes both at once."""
        of_tree = self.tree.scorer.heads_model.weights
        own = 0 if self.config.shared_weights else table_size(_EXTRA_BITS)
        graphs = new_learner(len(of_tree) + own, self.tree.config.aggressiveness)
        graphs.weights[: len(of_tree)] = of_tree
        return _Learners(graphs, new_learner(table_size(_LABEL_BITS, row=len(self.labels)), _LABEL_STEP))

    def run(self, epoch: int) -> tuple[float, float]:
        models = self._parser(self.learners.graphs.weights, self.learners.labels.weights).models
        batch, gold = self.treebank.batch, self.treebank.gold

        def learn(chosen: NDArray[np.int64]) -> float:
            seed = np.uint64(self.rng.integers(2**63))
            learners, augmented = self.learners, self.config.loss_augmented
            loss: float = learn_graphs(batch, chosen, models, learners, gold, self.extra, self.search, augmented, seed)
            return loss

        return self.treebank.epoch(self.stage, epoch, learn, self.rng, self.listener)

    def _parser(self, weights: NDArray[np.float32], label_weights: NDArray[np.float32]) -> GraphParser:
        of_tree = len(self.tree.scorer.heads_model.weights)
        return GraphParser(
            self.config,
            replace(self.tree, scorer=self.tree.scorer.with_heads(weights[:of_tree])),
            self.labels,
            view(self.templates, weights if self.config.shared_weights else weights[of_tree:]),
            view(self.templates, label_weights, row=len(self.labels)),
            self.seen,
            self.features,
        )

    def _scored(self, parser: GraphParser) -> GraphParser:
        if not self.dev:
            return parser
        parsed = list(parser.trees(self.dev))
        scores = GraphScores()
        scores.add(list(self.dev), parsed, {word: word for word in range(sum(map(len, parsed)))})
        return replace(parser, dev=dev_scores(self.dev, parsed), dev_graph=scores.labelled.f1)
