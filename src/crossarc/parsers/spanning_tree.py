"""The spanning-tree parser: McDonald et al. (2005) and McDonald & Pereira (2006), beyond them Zhang et al. (2014).

Features, scores, decoder and learner, put together: each arc is scored by the weights of its features; trees are
searched for exactly (order 1) or by climbing over arcs, siblings and grandparents ("high"); MIRA learns the weights
online, averaged; labels are chosen in a second stage.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from operator import eq
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, CrossarcError, NoTreeError, Sentence, UnsupportedConstraint
from crossarc.parsers._labels import best_labels_of_tree, learn_labels
from crossarc.parsers._search import Limits, best_first_order, first_order_scores, parse_high_order
from crossarc.parsers._training import learn_first_order, learn_high_order
from crossarc.parsers.linear import LinearModel, averaged, new_learner, new_model
from crossarc.parsers.model_file import load_model, save_model
from crossarc.scoring.attributes import Attributes, attributes_of
from crossarc.scoring.templates import Templates, load_templates, parse_templates
from crossarc.trees.shape import is_projective

__all__ = ["Attachment", "EpochReport", "SpanningTreeConfig", "SpanningTreeParser", "train_spanning_tree"]

Heads = NDArray[np.int64]
Order = Literal["1", "high"]

_PRUNER_EPOCHS = 3
_PRUNER_BITS = 20
_LABEL_BITS = 20


@dataclass(frozen=True)
class SpanningTreeConfig:
    """How to train. The defaults are right for most people."""

    order: Order = "high"
    projective: bool | None = None  # None: if all trees of the treebank are
    single_root: bool | None = None  # None: if all trees of the treebank have one
    epochs: int = 10
    seed: int = 1
    features: str = "default"
    hash_bits: int = 22
    candidates: int = 10  # heads of each word that the pruner leaves (order high)
    restarts: int = 2  # further starts of the search (order high)
    aggressiveness: float = 1.0  # "C": the largest step of MIRA


class EpochReport(NamedTuple):
    """What a progress display may want to know after each epoch."""

    stage: str  # "pruner", "labels" or "heads"
    epoch: int
    wrong: float  # share of words that were wrong in training
    words_per_second: float
    dev: Attachment | None


class Attachment(NamedTuple):
    """Shares of words with the right head, and with the right head and label."""

    uas: float
    las: float


@dataclass(frozen=True)
class SpanningTreeParser:
    """A trained parser."""

    config: SpanningTreeConfig
    labels: tuple[str, ...]
    heads_model: LinearModel
    labels_model: LinearModel
    pruner: LinearModel | None  # None for order 1
    dev: Attachment | None = None  # scores on the dev set in training

    def parse(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences with heads and labels, as they come."""
        return map(self.parse_sentence, sentences)

    def parse_sentence(self, sentence: Sentence, constraints: Constraints | None = None) -> Sentence:
        attributes = attributes_of(sentence)
        heads = self.heads(attributes, constraints)
        labels = np.empty_like(heads)
        best_labels_of_tree(attributes.words, self.labels_model, heads, len(self.labels), labels)
        return sentence.with_tree(heads, ["_", *(self.labels[label] for label in labels[1:].tolist())])

    def heads(self, attributes: Attributes, constraints: Constraints | None = None) -> Heads:
        """The heads of the best tree that the search finds."""
        size = len(attributes.counts)
        heads = np.full(size, -1, dtype=np.int64)
        if size == 1:
            return heads
        limits, allowed = self._limits(constraints), _allowed(size, constraints)
        if self.pruner is None:
            scores = first_order_scores(attributes, *self.heads_model, allowed)
            score = best_first_order(scores, limits, heads)
        else:
            seed = np.bitwise_xor.reduce(attributes.words, axis=None)
            score = parse_high_order(
                attributes, self.pruner, self.heads_model, allowed, limits, self.config.candidates, seed, heads
            )
        if score == -np.inf:
            raise NoTreeError("the constraints allow no tree")
        return heads

    def scores(self, sentence: Sentence) -> NDArray[np.float64]:
        """``scores[h, m]`` of every arc by its own features, for ``crossarc.trees``."""
        allowed = _allowed(len(sentence) + 1, None)
        scores: NDArray[np.float64] = first_order_scores(attributes_of(sentence), *self.heads_model, allowed)
        return scores

    def save(self, path: str | Path) -> None:
        """Write the model to one file."""
        tensors = {"heads": self.heads_model.weights, "labels": self.labels_model.weights}
        if self.pruner is not None:
            tensors["pruner"] = self.pruner.weights
        header = {
            "system": "spanning-tree",
            "config": asdict(self.config),
            "labels": self.labels,
            "templates": load_templates(self.config.features).text,
            "dev": self.dev._asdict() if self.dev else None,
        }
        save_model(path, header, tensors)

    @classmethod
    def load(cls, path: str | Path) -> SpanningTreeParser:
        """Read a model from its file."""
        header, tensors = load_model(path)
        templates = parse_templates(header["templates"], str(path)).compiled
        pruner = tensors.get("pruner")
        labels = tuple(header["labels"])
        return cls(
            SpanningTreeConfig(**header["config"]),
            labels,
            _loaded(templates, tensors["heads"]),
            _loaded(templates, tensors["labels"], row=len(labels)),
            None if pruner is None else _loaded(load_templates("pruner").compiled, pruner),
            Attachment(**header["dev"]) if header["dev"] else None,
        )

    def _limits(self, constraints: Constraints | None) -> Limits:
        projective, single_root = bool(self.config.projective), bool(self.config.single_root)
        if constraints is not None:
            projective, single_root = projective or constraints.projective, single_root or constraints.single_root
        return Limits(single_root, projective, self.config.restarts)


def train_spanning_tree(
    treebank: Sequence[Sentence],
    config: SpanningTreeConfig | None = None,
    *,
    dev: Sequence[Sentence] = (),
    report: Callable[[EpochReport], None] = lambda _: None,
) -> SpanningTreeParser:
    """Train on trees; with ``dev``, the weights after the epoch that is best there are kept.

    An interrupt after the first epoch ends training and keeps the best so far.
    """
    if not treebank:
        raise CrossarcError("cannot train on an empty treebank")
    config = _fitted_to(config or SpanningTreeConfig(), treebank)
    return _Training(treebank, dev, config, report).run()


class _Training:
    """Pruner, labels, heads: one stage after the other."""

    def __init__(
        self,
        treebank: Sequence[Sentence],
        dev: Sequence[Sentence],
        config: SpanningTreeConfig,
        report: Callable[[EpochReport], None],
    ) -> None:
        self.config, self.dev, self.report = config, dev, report
        self.sentences = [attributes_of(sentence) for sentence in treebank]
        self.gold = [sentence.heads for sentence in treebank]
        self.labels = tuple(sorted({label for sentence in treebank for label in sentence.deprel}))
        number = {label: i for i, label in enumerate(self.labels)}
        self.gold_labels = [np.array([-1, *(number[label] for label in s.deprel)]) for s in treebank]
        self.words = sum(map(len, treebank))
        self.rng = np.random.default_rng(config.seed)
        self.limits = Limits(bool(config.single_root), bool(config.projective), config.restarts)
        self.templates = load_templates(config.features)

    def run(self) -> SpanningTreeParser:
        pruner = self._train_pruner() if self.config.order == "high" else None
        labels_model = self._train_labels()
        heads_model = new_model(self.templates, self.config.hash_bits)
        learner = new_learner(heads_model, self.config.aggressiveness)
        parser = SpanningTreeParser(self.config, self.labels, heads_model, labels_model, pruner)
        best: SpanningTreeParser | None = None
        try:
            for epoch in range(1, self.config.epochs + 1):
                wrong, speed = self._epoch(self._learn_heads(pruner, heads_model, learner), learner.step)
                current = replace(parser, heads_model=averaged(heads_model, learner))
                if self.dev:
                    current = replace(current, dev=_attachment(current, self.dev))
                if best is None or best.dev is None or (current.dev is not None and current.dev.las > best.dev.las):
                    best = current
                self.report(EpochReport("heads", epoch, wrong, speed, current.dev))
        except KeyboardInterrupt:
            if best is None:
                raise
        assert best is not None
        return best

    def _train_pruner(self) -> LinearModel:
        model = new_model(load_templates("pruner"), _PRUNER_BITS)
        learner = new_learner(model, self.config.aggressiveness)
        for epoch in range(1, _PRUNER_EPOCHS + 1):
            wrong, speed = self._epoch(
                lambda i: learn_first_order(self.sentences[i], model, learner, self.gold[i], self.limits), learner.step
            )
            self.report(EpochReport("pruner", epoch, wrong, speed, None))
        return averaged(model, learner)

    def _train_labels(self) -> LinearModel:
        model = new_model(self.templates, _LABEL_BITS, row=len(self.labels))
        learner = new_learner(model, self.config.aggressiveness)

        def learn(i: int) -> int:
            gold, labels = self.gold[i], self.gold_labels[i]
            wrong: int = learn_labels(self.sentences[i].words, model, learner, gold, labels, len(self.labels))
            return wrong

        for epoch in range(1, self.config.epochs + 1):
            wrong, speed = self._epoch(learn, learner.step)
            self.report(EpochReport("labels", epoch, wrong, speed, None))
        return averaged(model, learner)

    def _learn_heads(self, pruner: LinearModel | None, model: LinearModel, learner: Any) -> Callable[[int], int]:
        def learn(i: int) -> int:
            wrong: int
            if pruner is None:
                wrong = learn_first_order(self.sentences[i], model, learner, self.gold[i], self.limits)
            else:
                seed = np.uint64(self.rng.integers(2**63))
                wrong = learn_high_order(
                    self.sentences[i], pruner, model, learner, self.gold[i], self.limits, self.config.candidates, seed
                )
            return wrong

        return learn

    def _epoch(self, learn: Callable[[int], int], step: NDArray[np.float64]) -> tuple[float, float]:
        """Learn from all sentences in random order: share of wrong words, words per second."""
        start = time.perf_counter()
        wrong = 0
        for i in self.rng.permutation(len(self.sentences)).tolist():
            if len(self.gold[i]) > 1:
                wrong += learn(i)
                step += 1
        return wrong / self.words, self.words / (time.perf_counter() - start)


def _fitted_to(config: SpanningTreeConfig, treebank: Sequence[Sentence]) -> SpanningTreeConfig:
    """The configuration with what it leaves to the treebank filled in."""
    if config.projective is None:
        config = replace(config, projective=all(is_projective(sentence.heads) for sentence in treebank))
    if config.single_root is None:
        config = replace(config, single_root=all(sentence.head.count("0") == 1 for sentence in treebank))
    return config


def _attachment(parser: SpanningTreeParser, sentences: Sequence[Sentence]) -> Attachment:
    heads = labels = 0
    for gold, parsed in zip(sentences, parser.parse(sentences), strict=True):
        for right_head, right_label in zip(
            map(eq, gold.head, parsed.head), map(eq, gold.deprel, parsed.deprel), strict=True
        ):
            heads += right_head
            labels += right_head and right_label
    words = sum(map(len, sentences))
    return Attachment(heads / words, labels / words)


def _loaded(templates: Templates, weights: NDArray[np.float32], *, row: int = 0) -> LinearModel:
    return LinearModel(templates, weights, np.uint64(64 - (len(weights) - row).bit_length() + 1))


def _allowed(size: int, constraints: Constraints | None) -> NDArray[np.bool_]:
    """Which arcs a tree may have."""
    allowed = np.ones((size, size), dtype=np.bool_)
    if constraints is None:
        return allowed
    if constraints.max_children or constraints.max_degree is not None:
        raise UnsupportedConstraint("this parser cannot limit the number of children or the degree")
    if constraints.required_labels or constraints.forbidden_labels:
        raise UnsupportedConstraint("this parser takes no constraints on labels yet")
    for head, modifier in constraints.required_arcs:
        allowed[:, modifier] = False
        allowed[head, modifier] = True
    for head, modifier in constraints.forbidden_arcs:
        allowed[head, modifier] = False
    return allowed
