"""The spanning-tree parser: McDonald et al. (2005) and McDonald & Pereira (2006), beyond them Zhang et al. (2014).

Features, scores, decoder and learner, put together: each part of a tree is scored by the weights of its features;
trees are searched for exactly (order 1), from the exact projective tree (order 2), or by climbing with restarts
("high"); MIRA learns the weights online, averaged (``training``); labels are chosen with the arcs or in a second stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, NoTreeError, Sentence, UnsupportedConstraint
from crossarc.features.attributes import Batch, attributes_of
from crossarc.features.templates import PARTS, Templates, TemplateSet, load_templates, parse_templates
from crossarc.features.weights import dequantized
from crossarc.models.file import Tensors, load_model, save_model
from crossarc.parsers.spanning_tree.config import SpanningTreeConfig
from crossarc.parsers.training import DevScores
from crossarc.scorers.linear._part_scores import Rules
from crossarc.scorers.linear.model import LinearModel, view
from crossarc.search._decode import (
    parse_first_order,
    parse_high_order,
    parse_second_order,
    potentials_of,
    score_trees,
    scores_of_arcs,
    scores_of_labels,
)
from crossarc.trees import k_best_trees, log_partition

__all__ = [
    "Models",
    "ScoredTree",
    "SpanningTreeParser",
    "Temperatures",
    "allowed_labels",
    "check_required_arcs",
    "rules_of",
    "templates_of",
]

SYSTEM = "spanning-tree"

_PARSE = {"1": parse_first_order, "2": parse_second_order, "high": parse_high_order}
_BATCH = 64  # sentences
_BEYOND_SECOND = {"grandparent", "any-sibling", "valency"}
_UNUSED_PARTS = {"1": {"sibling", *_BEYOND_SECOND}, "2": _BEYOND_SECOND, "high": set()}
_RESCORED = 4  # trees that are scored anew for each of the k best of a higher order


class Models(NamedTuple):
    """All weights of a parser, as the kernels want them."""

    pruner: LinearModel
    heads: LinearModel
    labels: LinearModel


class Temperatures(NamedTuple):
    """What scores are divided by to make probabilities of them."""

    arcs: float
    labels: float


class Allowed(NamedTuple):
    """What trees of one sentence may have: ``arcs[h, m]`` and ``labels[m, l]``; empty if there is no constraint."""

    arcs: NDArray[np.bool_]
    labels: NDArray[np.bool_]


class ScoredTree(NamedTuple):
    """One of several trees of a sentence."""

    sentence: Sentence
    score: float
    probability: float | None  # of its heads; None if the parser knows no probabilities


@dataclass(frozen=True)
class SpanningTreeParser:
    """A trained parser."""

    config: SpanningTreeConfig
    labels: tuple[str, ...]
    templates: TemplateSet
    heads_model: LinearModel
    labels_model: LinearModel
    pruner: LinearModel | None  # None if all heads are looked at
    dev: DevScores | None = None  # scores on the dev set in training
    treebank: str = ""  # a checksum of what it was trained on
    temperatures: Temperatures | None = None  # None: probabilities are unknown

    def parse(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences with heads and labels, a batch at a time."""
        remaining = iter(sentences)
        while batch := list(islice(remaining, _BATCH)):
            yield from self._parse_batch(batch, Constraints())

    def parse_sentence(self, sentence: Sentence, constraints: Constraints | None = None) -> Sentence:
        """The sentence with the best tree that the search finds.

        Raises
        ------
        NoTreeError : the constraints allow no tree
        UnsupportedConstraint : for limits on children or degree
        """
        return self._parse_batch([sentence], constraints or Constraints())[0]

    def _parse_batch(self, sentences: Sequence[Sentence], constraints: Constraints) -> list[Sentence]:
        batch = attributes_of(sentences)
        return self.with_trees(sentences, batch, *self.best_trees(batch, constraints))

    def best_trees(self, batch: Batch, constraints: Constraints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Heads and labels of all nodes of a batch."""
        allowed, rules = self.allowed(int(batch.starts[1]), constraints), self.rules(constraints)
        heads, labels = np.full(len(batch.counts), -1), np.full(len(batch.counts), -1)
        scores = np.zeros(len(batch.starts) - 1)
        _PARSE[self.config.order](batch, self.models, allowed, rules, heads, labels, scores)
        if scores.min() == -np.inf:
            raise NoTreeError("the constraints allow no tree")
        return heads, labels

    def potentials(self, batch: Batch, heads: NDArray[np.int64], constraints: Constraints) -> list[NDArray[np.float64]]:
        """``scores[h, m]`` of the arcs of each sentence; -inf where the pruner or a constraint leaves no arc.

        Order 1: what trees are made of. Higher orders: what an arc adds to the given tree whose other arcs stay, which
        makes a first-order model of the trees nearby.
        """
        sizes = np.diff(batch.starts)
        first = np.concatenate([[0], np.cumsum(sizes**2)])
        flat = np.full(first[-1], -np.inf)
        allowed = self.allowed(int(sizes[0]), constraints)
        potentials_of(batch, self.models, allowed, self.rules(constraints), heads.copy(), first[:-1], flat)
        return [flat[i:j].reshape(size, size) for i, j, size in zip(first, first[1:], sizes.tolist(), strict=False)]

    def label_scores(self, batch: Batch, heads: NDArray[np.int64]) -> NDArray[np.float32]:
        """``scores[i, l]`` of each label of the arc into each node of a batch."""
        scores = np.zeros((len(heads), len(self.labels)), dtype=np.float32)
        scores_of_labels(batch, self.labels_model, heads, scores)
        return scores

    def with_trees(
        self, sentences: Sequence[Sentence], batch: Batch, heads: NDArray[np.int64], labels: NDArray[np.int64]
    ) -> list[Sentence]:
        """The sentences of a batch with these heads and labels."""
        starts = batch.starts.tolist()
        return [
            self._with_tree(sentence, heads[first:last], labels[first:last])
            for sentence, first, last in zip(sentences, starts, starts[1:], strict=False)
        ]

    def k_best(self, sentence: Sentence, k: int, constraints: Constraints | None = None) -> list[ScoredTree]:
        """The k best trees, distinct, best first; fewer if there are fewer.

        Exact for order 1. For higher orders the candidates are the best trees by what each arc is worth to the best
        tree; they are then put in the order of their full scores.
        """
        if not len(sentence):
            return [ScoredTree(sentence, 0.0, 1.0)]
        constraints = constraints or Constraints()
        batch, rules = attributes_of([sentence]), self.rules(constraints)
        best, _ = self.best_trees(batch, constraints)
        (potentials,) = self.potentials(batch, best, constraints)
        wanted = k if self.config.order == "1" else _RESCORED * k
        others = k_best_trees(potentials, wanted, single_root=rules.single_root, projective=rules.projective)
        trees = np.unique(np.stack([best, *(tree.heads for tree in others)]), axis=0)
        labels, scores = np.full_like(trees, -1), np.zeros(len(trees))
        score_trees(batch, self.models, self.allowed(len(best), constraints), rules, trees, labels, scores)
        probabilities = self._probabilities(trees, potentials, rules)
        return [
            ScoredTree(self._with_tree(sentence, trees[i], labels[i]), float(scores[i]), probabilities[i])
            for i in np.argsort(-scores, kind="stable")[:k].tolist()
        ]

    def _probabilities(
        self, trees: NDArray[np.int64], potentials: NDArray[np.float64], rules: Rules
    ) -> Sequence[float | None]:
        """Of each tree; None if the parser knows none."""
        if self.temperatures is None:
            return [None] * len(trees)
        scores = potentials / self.temperatures.arcs
        log_z = log_partition(scores, single_root=rules.single_root, projective=rules.projective)
        totals = scores[trees[:, 1:], np.arange(1, trees.shape[1])].sum(axis=1)
        probabilities: list[float] = np.exp(totals - log_z).tolist()
        return probabilities

    def scores(self, sentence: Sentence) -> NDArray[np.float64]:
        """``scores[h, m]`` of every arc by its own features, for ``crossarc.trees``."""
        every = self.allowed(len(sentence) + 1, Constraints())
        scores: NDArray[np.float64] = scores_of_arcs(attributes_of([sentence]), self.models.heads, every)
        return scores

    def save(self, path: str | Path) -> None:
        """Write the model to one file."""
        save_model(path, *self.contents())

    def contents(self) -> tuple[dict[str, Any], Tensors]:
        """The header and the tensors of a model file."""
        tensors: Tensors = {"heads": self.heads_model.weights, "labels": self.labels_model.weights}
        if self.pruner is not None:
            tensors["pruner"] = self.pruner.weights
        header = {
            "system": SYSTEM,
            "config": asdict(self.config),
            "labels": self.labels,
            "templates": self.templates.text,
            "pruner": load_templates("pruner").text if self.pruner is not None else None,
            "dev": self.dev._asdict() if self.dev else None,
            "treebank": self.treebank,
            "temperatures": self.temperatures._asdict() if self.temperatures else None,
        }
        return header, tensors

    @classmethod
    def load(cls, path: str | Path) -> SpanningTreeParser:
        """Read a model from its file."""
        return cls.of_contents(*load_model(path, compact=True), path)

    @classmethod
    def of_contents(cls, header: dict[str, Any], tensors: Tensors, path: str | Path) -> SpanningTreeParser:
        """The model with this header and these tensors, for which errors are said to be in that file."""
        config = SpanningTreeConfig(**header["config"])
        templates = parse_templates(header["templates"], str(path))
        compiled = templates_of(templates, config)
        labels = tuple(header["labels"])
        pruner = tensors.get("pruner")
        return cls(
            config,
            labels,
            templates,
            view(compiled, tensors["heads"]),
            view(compiled, dequantized(tensors["labels"]), row=len(labels)),  # whole rows of them are added up
            None if pruner is None else view(parse_templates(header["pruner"], str(path)).compiled, pruner),
            DevScores(**header["dev"]) if header["dev"] else None,
            header["treebank"],
            Temperatures(**header["temperatures"]) if header.get("temperatures") else None,
        )

    @cached_property
    def models(self) -> Models:
        """All weights."""
        return Models(self.pruner or self.heads_model, self.heads_model, self.labels_model)

    def rules(self, constraints: Constraints) -> Rules:
        """What trees must look like under these constraints."""
        if constraints.max_children or constraints.max_degree is not None:
            raise UnsupportedConstraint("this parser cannot limit the number of children or the degree")
        rules = rules_of(self.config)
        return rules._replace(
            projective=rules.projective or constraints.projective,
            single_root=rules.single_root or constraints.single_root,
        )

    def allowed(self, size: int, constraints: Constraints) -> Allowed:
        """What trees of that many nodes may have under these constraints."""
        return Allowed(_allowed_arcs(size, constraints), allowed_labels(size, len(self.labels), constraints))

    def _with_tree(self, sentence: Sentence, heads: NDArray[np.int64], labels: NDArray[np.int64]) -> Sentence:
        names = ("_" if label < 0 else self.labels[label] for label in labels[1:].tolist())
        return sentence.with_tree(heads, ["_", *names])


def rules_of(config: SpanningTreeConfig) -> Rules:
    """The configuration as the kernels want it."""
    return Rules(
        bool(config.single_root),
        bool(config.projective),
        config.max_candidates,
        config.pruning_margin,
        config.restarts,
        config.labels == "joint",
        config.learner == "crf",
    )


def templates_of(templates: TemplateSet, config: SpanningTreeConfig) -> Templates:
    """The templates that a parser of this order and kind looks at."""
    compiled = templates.of_parts(PARTS.keys() - _UNUSED_PARTS[config.order])
    return compiled._replace(label=templates.labels_of_arcs()) if config.labels == "joint" else compiled


def _allowed_arcs(size: int, constraints: Constraints) -> NDArray[np.bool_]:
    """Which arcs a tree may have; nothing at all if it may have all."""
    if not constraints.required_arcs and not constraints.forbidden_arcs:
        return np.ones((0, 0), dtype=np.bool_)
    allowed = np.ones((size, size), dtype=np.bool_)
    check_required_arcs(size, constraints)
    for head, modifier in constraints.required_arcs:
        allowed[:head, modifier] = allowed[head + 1 :, modifier] = False
    for head, modifier in constraints.forbidden_arcs:
        allowed[head, modifier] = False
    return allowed


def check_required_arcs(size: int, constraints: Constraints) -> None:
    """Refuse arcs that no tree of that many nodes can have."""
    for head, modifier in constraints.required_arcs:
        if not (0 <= head < size and 1 <= modifier < size):
            raise NoTreeError(f"the required arc {head} -> {modifier} is not between words of this sentence")


def allowed_labels(size: int, n_labels: int, constraints: Constraints) -> NDArray[np.bool_]:
    """Which labels the arc into each word may have; nothing at all if all may have all."""
    if not constraints.required_labels and not constraints.forbidden_labels:
        return np.ones((0, n_labels), dtype=np.bool_)
    allowed = np.ones((size, n_labels), dtype=np.bool_)
    for word, label in constraints.required_labels.items():
        allowed[word, :label] = allowed[word, label + 1 :] = False
    for word, label in constraints.forbidden_labels:
        allowed[word, label] = False
    if not allowed.any(axis=1).all():
        raise NoTreeError(f"the constraints allow no label for word {int(np.argmin(allowed.any(axis=1)))}")
    return allowed
