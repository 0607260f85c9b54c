"""The graph parser: words with more than one head, without cycles (McDonald & Pereira 2006, §3).

A second-order spanning-tree parser finds the tree; from there, the change or the addition of a head that raises the
score most is taken, again and again. The tree goes to HEAD and DEPREL, the graph to DEPS. Beyond the paper, extra arcs
are scored by where their words stand in the basic tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, NoTreeError, Sentence
from crossarc.features.attributes import attributes_of
from crossarc.features.language import FeatureSet, parse_set
from crossarc.features.templates import Templates
from crossarc.features.weights import dequantized
from crossarc.learning.listener import DevScores
from crossarc.models import ModelError, Tensors
from crossarc.models.schema import FEATURE_SET, Kind, ListOf, Maybe, Number, Record
from crossarc.models.tensors import Array, HashedWeights, TensorKind
from crossarc.parsers.base import Capability, Parsed, ParseOptions, Parser
from crossarc.parsers.graph._graph import SEEN_BITS, parse_graphs
from crossarc.parsers.graph.config import GraphConfig
from crossarc.parsers.graph.features import SCHEMA, PathTemplates, compile_path
from crossarc.parsers.header import LABELS, fields_of_linear, fields_of_parser, tensors_of_linear
from crossarc.parsers.linear.config import LinearConfig
from crossarc.parsers.linear.parser import LinearParser
from crossarc.scorers.linear.model import LinearModel, view
from crossarc.scorers.linear.scorer import LinearScorer, ScoringModels

if TYPE_CHECKING:
    from crossarc.features.explain import Reason

__all__ = ["GraphModels", "GraphParser", "templates_of_extras"]

_TREE = "tree."  # before the names of the tensors of the scorer of trees


class GraphModels(NamedTuple):
    """All weights of a parser, as the kernels want them."""

    tree: ScoringModels
    extras: LinearModel
    labels: LinearModel  # of extra arcs
    n_labels: int
    seen: NDArray[np.bool_]  # which pairs of tags have been seen on extra arcs
    path: PathTemplates
    shared: bool  # whether ``extras`` has the weights of the arcs of trees


@dataclass(frozen=True, repr=False)
class GraphParser(Parser):
    """Words with several heads: a tree by a linear scorer, and extra arcs from there, without cycles.

    Attributes
    ----------
    tree : LinearParser
        What finds the trees, by second-order search.
    extra_labels : tuple of str
        Labels of extra arcs; "nsubj|obj" for an arc with two labels.
    extras_model, extra_labels_model : LinearModel
        The weights of extra arcs and of their labels.
    seen : array of bool
        Which pairs of tags have been seen on extra arcs.
    features : FeatureSet
        Of paths in the basic tree, beside those of arcs.
    dev_graph : float or None
        F of all labelled arcs of the dev set in training.
    """

    config: GraphConfig
    tree: LinearParser
    extra_labels: tuple[str, ...]
    extras_model: LinearModel
    extra_labels_model: LinearModel
    seen: NDArray[np.bool_]
    features: FeatureSet
    dev: DevScores | None = None
    dev_graph: float | None = None

    system: ClassVar[str] = "graph"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {Capability.GRAPHS, Capability.EXPLANATIONS, Capability.EPOCHS, Capability.PARALLEL_TRAINING}
    )

    header_kinds: ClassVar[Mapping[str, Kind]] = {
        **fields_of_parser(GraphConfig),
        "tree": Record(fields_of_linear(LinearConfig)),
        "extra_labels": ListOf(LABELS.kind, most=LABELS.most),
        "features": FEATURE_SET,
        "dev_graph": Maybe(Number(0, 1)),
    }

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        """The labels of trees."""
        return self.tree.labels

    @property
    def treebank(self) -> str:  # type: ignore[override]
        return self.tree.treebank

    def decode(self, sentences: Sequence[Sentence], constraints: Constraints, options: ParseOptions) -> list[Parsed]:
        """Constraints on arcs hold for the graph (a word whose head is required has no other), others for the tree."""
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
            Parsed(self._with_graph(tree, extra_labels[i : i + size**2].reshape(size, size)))
            for tree, i, size in zip(trees, first, sizes.tolist(), strict=False)
        ]

    def _with_graph(self, sentence: Sentence, extra_labels: NDArray[np.int64]) -> Sentence:
        """The sentence with its tree and the extra arcs in DEPS, in the order of heads."""
        arcs = [[(int(head), label)] for head, label in zip(sentence.head, sentence.deprel, strict=True)]
        for h, m in np.argwhere(extra_labels >= 0).tolist():
            arcs[m - 1] += [(h, label) for label in self.extra_labels[extra_labels[h, m]].split("|")]
        return sentence.with_columns(deps=["|".join(f"{h}:{label}" for h, label in sorted(word)) for word in arcs])

    def explain(self, sentence: Sentence, head: int, modifier: int) -> list[Reason]:
        from crossarc.parsers.graph.explain import explain

        return explain(self, sentence, head, modifier)

    @cached_property
    def models(self) -> GraphModels:
        """All weights."""
        return GraphModels(
            self.tree.scorer.models,
            self.extras_model,
            self.extra_labels_model,
            len(self.extra_labels),
            self.seen,
            compile_path(self.features),
            self.config.shared_weights,
        )

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        tree_header, tree_tensors = self.tree.to_model()
        tensors = {
            **{f"{_TREE}{name}": tensor for name, tensor in tree_tensors.items()},
            **({} if self.config.shared_weights else {"extras": self.extras_model.weights}),
            "extra_labels": self.extra_labels_model.weights,
            "seen": self.seen,
        }
        own = {"extra_labels": self.extra_labels, "features": self.features.text, "dev_graph": self.dev_graph}
        return {**self.header(), "tree": tree_header, **own}, tensors

    @classmethod
    def tensor_kinds(cls, header: dict[str, Any]) -> Mapping[str, TensorKind]:
        shared = header["config"].get("shared_weights", False)
        return {
            **{f"{_TREE}{name}": kind for name, kind in tensors_of_linear(header["tree"]).items()},
            **({} if shared else {"extras": HashedWeights()}),
            "extra_labels": HashedWeights(row=len(header["extra_labels"])),
            "seen": Array(np.bool_, (1 << SEEN_BITS,)),
        }

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> GraphParser:
        tensors = {name: dequantized(tensor) for name, tensor in tensors.items()}
        of_tree = {name.removeprefix(_TREE): t for name, t in tensors.items() if name.startswith(_TREE)}
        tree = LinearParser.from_model(header["tree"], of_tree)
        if (tree.config.order, tree.config.labels) != ("2", "two-stage"):
            raise ModelError("graphs start from trees of order 2, with labels in a second stage")
        templates = templates_of_extras(tree.scorer)
        extra_labels = tuple(header["extra_labels"])
        if not extra_labels and ("extras" not in tensors or tensors["seen"].any()):
            raise ModelError("extra arcs without any labels")
        return cls(
            GraphConfig(**header["config"]),
            tree,
            extra_labels,
            view(templates, tensors.get("extras", of_tree["heads"])),
            view(templates, tensors["extra_labels"], row=len(extra_labels)),
            tensors["seen"],
            parse_set(SCHEMA, header["features"], "the model's features"),
            header["dev"] and DevScores(**header["dev"]),
            header["dev_graph"],
        )


def templates_of_extras(tree: LinearScorer) -> Templates:
    """The templates of extra arcs: those of the tree's arcs, and for labels those that look at no more than an arc."""
    return tree.compiled._replace(label=tree.templates.labels_of_arcs())
