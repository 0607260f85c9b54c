"""The graph parser: words with more than one head, without cycles (McDonald & Pereira 2006, §3).

A second-order spanning-tree parser finds the tree; from there, the change or the addition of a head that raises the
score most is taken, again and again. The tree goes to HEAD and DEPREL, the graph to DEPS. Beyond the paper, extra arcs
are scored by where their words stand in the basic tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, NoTreeError, Sentence
from crossarc.features.attributes import attributes_of
from crossarc.features.templates import Templates
from crossarc.models.file import load_model, save_model
from crossarc.parsers.graph._graph import parse_graphs
from crossarc.parsers.graph.config import GraphConfig
from crossarc.parsers.linear.config import LinearConfig
from crossarc.parsers.linear.parser import LinearParser
from crossarc.parsers.training import DevScores
from crossarc.scorers.linear.model import LinearModel, view
from crossarc.scorers.linear.scorer import LinearScorer, ScoringModels

__all__ = ["GraphModels", "GraphParser", "templates_of_extras"]

SYSTEM = "graph"

_BATCH = 64  # sentences
_TREE = "tree."  # before the names of the tensors of the scorer of trees


class GraphModels(NamedTuple):
    """All weights of a parser, as the kernels want them."""

    tree: ScoringModels
    extras: LinearModel
    labels: LinearModel  # of extra arcs
    n_labels: int
    seen: NDArray[np.bool_]  # which pairs of tags have been seen on extra arcs
    basic_tree: bool


@dataclass(frozen=True)
class GraphParser:
    """A trained graph parser: trees by a linear scorer, and extra arcs from there."""

    config: GraphConfig
    tree: LinearParser
    extra_labels: tuple[str, ...]  # "nsubj|obj" for an arc with two labels
    extras_model: LinearModel
    extra_labels_model: LinearModel
    seen: NDArray[np.bool_]
    dev: DevScores | None = None  # scores of the trees on the dev set in training
    dev_graph: float | None = None  # F of all labelled arcs there

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of trees."""
        return self.tree.labels

    @property
    def treebank(self) -> str:
        """A checksum of what it was trained on."""
        return self.tree.treebank

    def parse(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences with trees and graphs, a batch at a time."""
        remaining = iter(sentences)
        while batch := list(islice(remaining, _BATCH)):
            yield from self._parse_batch(batch, Constraints())

    def parse_sentence(self, sentence: Sentence, constraints: Constraints | None = None) -> Sentence:
        """The sentence with the best graph that the search finds.

        Constraints on arcs hold for the graph (a word whose head is required has no other), all others for the tree.

        Raises
        ------
        NoTreeError : the constraints allow no tree
        UnsupportedConstraint : for limits on children or degree
        """
        return self._parse_batch([sentence], constraints or Constraints())[0]

    def _parse_batch(self, sentences: Sequence[Sentence], constraints: Constraints) -> list[Sentence]:
        batch = attributes_of(sentences)
        sizes = np.diff(batch.starts)
        allowed = self.tree.allowed(int(sizes[0]), constraints)
        search = self.tree.search_for(constraints)
        heads, labels = np.full(len(batch.counts), -1), np.full(len(batch.counts), -1)
        first = np.concatenate([[0], np.cumsum(sizes**2)])
        extra_labels, scores = np.full(first[-1], -1), np.zeros(len(sizes))
        parse_graphs(batch, self.models, allowed, search, heads, labels, first[:-1], extra_labels, scores)
        if scores.min() == -np.inf:
            raise NoTreeError("the constraints allow no tree")
        trees = self.tree.with_trees(sentences, batch, heads, labels)
        return [
            self._with_graph(tree, extra_labels[i : i + size**2].reshape(size, size))
            for tree, i, size in zip(trees, first, sizes.tolist(), strict=False)
        ]

    def _with_graph(self, sentence: Sentence, extra_labels: NDArray[np.int64]) -> Sentence:
        """The sentence with its tree and the extra arcs in DEPS, in the order of heads."""
        arcs = [[(int(head), label)] for head, label in zip(sentence.head, sentence.deprel, strict=True)]
        for h, m in np.argwhere(extra_labels >= 0).tolist():
            arcs[m - 1] += [(h, label) for label in self.extra_labels[extra_labels[h, m]].split("|")]
        return sentence.with_columns(deps=["|".join(f"{h}:{label}" for h, label in sorted(word)) for word in arcs])

    @cached_property
    def models(self) -> GraphModels:
        """All weights."""
        return GraphModels(
            self.tree.scorer.models,
            self.extras_model,
            self.extra_labels_model,
            len(self.extra_labels),
            self.seen,
            self.config.basic_tree,
        )

    def save(self, path: str | Path) -> None:
        """Write the model to one file."""
        tree_header, tree_tensors = self.tree.to_model()
        tensors = {
            **{f"{_TREE}{name}": tensor for name, tensor in tree_tensors.items()},
            "extras": self.extras_model.weights,
            "extra_labels": self.extra_labels_model.weights,
            "seen": self.seen,
        }
        header = {
            "system": SYSTEM,
            "config": asdict(self.config),
            "tree": tree_header,
            "labels": self.labels,
            "extra_labels": self.extra_labels,
            "dev": self.dev._asdict() if self.dev else None,
            "dev_graph": self.dev_graph,
            "treebank": self.treebank,
        }
        save_model(path, header, tensors)

    @classmethod
    def load(cls, path: str | Path) -> GraphParser:
        """Read a model from its file."""
        header, tensors = load_model(path)
        of_tree = {name.removeprefix(_TREE): t for name, t in tensors.items() if name.startswith(_TREE)}
        config = LinearConfig(**header["tree"]["config"])
        tree = LinearParser.from_model(header["tree"], of_tree, config, path)
        templates = templates_of_extras(tree.scorer)
        extra_labels = tuple(header["extra_labels"])
        return cls(
            GraphConfig(**header["config"]),
            tree,
            extra_labels,
            view(templates, tensors["extras"]),
            view(templates, tensors["extra_labels"], row=len(extra_labels)),
            tensors["seen"],
            DevScores(**header["dev"]) if header["dev"] else None,
            header["dev_graph"],
        )


def templates_of_extras(tree: LinearScorer) -> Templates:
    """The templates of extra arcs: those of the tree's arcs, and for labels those that look at no more than an arc."""
    return tree.compiled._replace(label=tree.templates.labels_of_arcs())
