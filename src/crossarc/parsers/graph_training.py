"""Training of the graph parser: a spanning-tree parser first, then its weights and those of extra arcs together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import InputError, Sentence
from crossarc.evaluation.graphs import GraphScores, arcs_of_deps
from crossarc.io.problems import graph_problems
from crossarc.parsers._graph import SEEN_BITS
from crossarc.parsers._graph_training import learn_graphs, see_pairs
from crossarc.parsers.config import GraphConfig, SpanningTreeConfig
from crossarc.parsers.graph import GraphParser, templates_of_extras
from crossarc.parsers.linear import Learner, averaged, new_learner, table_size, view
from crossarc.parsers.spanning_tree import SpanningTreeParser, rules_of
from crossarc.parsers.training import train_spanning_tree
from crossarc.parsers.treebank import EpochReport, Treebank, Watcher, attachment

__all__ = ["train_graph"]

_EXTRA_BITS = 22
_LABEL_BITS = 20
_LABEL_STEP = 0.02  # as for the labels of trees


def train_graph(
    treebank: Sequence[Sentence],
    config: GraphConfig | None = None,
    *,
    dev: Sequence[Sentence] = (),
    watcher: Watcher | None = None,
) -> GraphParser:
    """Train on trees and graphs (DEPS); with ``dev``, the weights after the epoch that is best there are kept.

    The best is the one with the highest F of all labelled arcs. An interrupt after the first epoch of graphs ends
    training and keeps the best so far.

    Raises
    ------
    InputError : DEPS of a sentence is not as CoNLL-U demands
    """
    config, watcher = config or GraphConfig(), watcher or Watcher()
    graphs = list(map(_gold_graph, treebank))
    _report_unlearnt(graphs, watcher)
    tree = train_spanning_tree(treebank, _tree_config(config), dev=dev, watcher=watcher)
    return _Training(Treebank(treebank), graphs, dev, config, tree, watcher).run()


def _tree_config(config: GraphConfig) -> SpanningTreeConfig:
    return SpanningTreeConfig(
        order="2",
        projective=config.projective,
        single_root=config.single_root,
        epochs=config.epochs,
        seed=config.seed,
        features=config.features,
        hash_bits=config.hash_bits,
    )


class _GoldGraph(NamedTuple):
    """The extra arcs of a sentence that can be learnt, and how many arcs cannot."""

    extra: dict[tuple[int, int], str]  # head and modifier: label
    to_empty_nodes: int
    in_cycles: int
    relabelled: int
    not_in_deps: int


class _Extra(NamedTuple):
    """The extra arcs of all sentences: those of sentence b are ``starts[b]`` to ``starts[b + 1]``."""

    starts: NDArray[np.int64]
    heads: NDArray[np.int64]
    modifiers: NDArray[np.int64]
    labels: NDArray[np.int64]


class _Learners(NamedTuple):
    graphs: Learner
    labels: Learner


def _gold_graph(sentence: Sentence) -> _GoldGraph:
    """What can be learnt of DEPS: acyclic, between words, beside the tree.

    Arcs are added to the tree in the order of the file, unless they close a cycle.
    """
    for problem in graph_problems(sentence):
        raise InputError(problem.message, sentence.place(problem.word))
    names: dict[tuple[int, int], list[str]] = {}
    heads_of = {m: {int(head)} for m, head in enumerate(sentence.head, 1)}
    to_empty_nodes = in_cycles = relabelled = not_in_deps = 0
    for m, (head, deprel, deps) in enumerate(zip(sentence.head, sentence.deprel, sentence.deps, strict=True), 1):
        arcs = list(arcs_of_deps(deps))
        not_in_deps += bool(arcs) and all(h != head for h, _ in arcs)
        for h, label in arcs:
            if h == head:
                relabelled += label != deprel
            elif "." in h:
                to_empty_nodes += 1
            elif _descends(int(h), m, heads_of):
                in_cycles += 1
            else:
                heads_of[m].add(int(h))
                names.setdefault((int(h), m), []).append(label)
    to_empty_nodes += sum(len(list(arcs_of_deps(i.row.deps))) for i in sentence.inserts if i.is_empty_node)
    extra = {arc: "|".join(labels) for arc, labels in names.items()}
    return _GoldGraph(extra, to_empty_nodes, in_cycles, relabelled, not_in_deps)


def _descends(word: int, ancestor: int, heads_of: dict[int, set[int]]) -> bool:
    """Whether there is a way from the ancestor down to the word."""
    above, waiting = {word}, [word]
    while waiting:
        new = heads_of.get(waiting.pop(), set()) - above
        above |= new
        waiting += new
    return ancestor in above


def _report_unlearnt(graphs: Sequence[_GoldGraph], watcher: Watcher) -> None:
    for count, how in (
        (sum(g.to_empty_nodes for g in graphs), "of DEPS go from or to empty nodes: not learnt"),
        (sum(g.in_cycles for g in graphs), "of DEPS would close a cycle: not learnt"),
        (sum(g.relabelled for g in graphs), "of trees have another label in DEPS: that of DEPREL is learnt"),
        (sum(g.not_in_deps for g in graphs), "of trees are not in DEPS: learnt all the same"),
    ):
        if count:
            watcher.unrepresented(count, how)


class _Training:
    def __init__(
        self,
        treebank: Treebank,
        graphs: Sequence[_GoldGraph],
        dev: Sequence[Sentence],
        config: GraphConfig,
        tree: SpanningTreeParser,
        watcher: Watcher,
    ) -> None:
        self.treebank, self.dev, self.config, self.watcher = treebank, dev, config, watcher
        self.tree, self.rules = tree, rules_of(tree.config)
        self.templates = templates_of_extras(tree)
        self.labels = tuple(sorted({label for graph in graphs for label in graph.extra.values()}))
        self.extra = self._numbered(graphs)
        self.seen = np.zeros(1 << SEEN_BITS, dtype=np.bool_)
        see_pairs(treebank.batch, self.extra, self.seen)

    def _numbered(self, graphs: Sequence[_GoldGraph]) -> _Extra:
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
                self.watcher.report(EpochReport("graphs", epoch, loss, speed, current.dev, current.dev_graph))
        except KeyboardInterrupt:
            if best is None:
                raise
        assert best is not None
        return best

    def _new_learners(self) -> _Learners:
        """The weights of extra arcs come after those of the tree, in one table: MIRA changes both at once."""
        of_tree = self.tree.heads_model.weights
        graphs = new_learner(len(of_tree) + table_size(_EXTRA_BITS), self.tree.config.aggressiveness)
        graphs.weights[: len(of_tree)] = of_tree
        return _Learners(graphs, new_learner(table_size(_LABEL_BITS, row=len(self.labels)), _LABEL_STEP))

    def _epoch(self, epoch: int, learners: _Learners, rng: np.random.Generator) -> tuple[float, float]:
        models = self._parser(learners.graphs.weights, learners.labels.weights).models
        batch, gold = self.treebank.batch, self.treebank.gold

        def learn(chosen: NDArray[np.int64]) -> float:
            seed = np.uint64(rng.integers(2**63))
            loss: float = learn_graphs(batch, chosen, models, learners, gold, self.extra, self.rules, seed)
            return loss

        return self.treebank.epoch("graphs", epoch, learn, rng, self.watcher)

    def _parser(self, weights: NDArray[np.float32], label_weights: NDArray[np.float32]) -> GraphParser:
        of_tree = len(self.tree.heads_model.weights)
        return GraphParser(
            self.config,
            replace(self.tree, heads_model=view(self.tree.heads_model.templates, weights[:of_tree]), temperatures=None),
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
        return replace(parser, dev=attachment(self.dev, iter(parsed)), dev_graph=scores.labelled.f1)
