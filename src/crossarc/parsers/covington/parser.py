"""The incremental parser: Covington's algorithm with degrees of non-projectivity (Nivre 2007).

Words are read from left to right, and each is linked with the words before it, nearest first, where an arc is
permissible. A classifier decides each link from the words and from the graph so far: whether there is an arc and in
which direction, and then its label. Every decision is final; the time is at most quadratic.

References
----------
Joakim Nivre (2007), *Incremental Non-Projective Dependency Parsing*. NAACL-HLT.
Michael Covington (2001), *A Fundamental Algorithm for Dependency Parsing*. ACM Southeast Conference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, CrossarcError, NoTreeError, Sentence, UnsupportedConstraint
from crossarc.features.attributes import attributes_of
from crossarc.learning.svm import Svm, no_svm
from crossarc.models.file import load_model, save_model
from crossarc.parsers.covington._graph import NO_LIMIT
from crossarc.parsers.covington._parse import LABELS, LinkConstraints, LinkModel, LinkOptions, parse_batch
from crossarc.parsers.covington.confidence import UNFITTED, Temperature, fit_temperature, probabilities
from crossarc.parsers.covington.config import CovingtonConfig
from crossarc.parsers.covington.features import LinkFeatureSet, parse_features
from crossarc.parsers.spanning_tree.parser import allowed_labels, check_required_arcs
from crossarc.parsers.training import DevScores
from crossarc.trees import best_tree, is_tree
from crossarc.trees.shape import degree

__all__ = ["SYSTEM", "ConfidentTree", "CovingtonParser", "Linear"]

SYSTEM = "covington"

_BATCH = 64  # sentences


class Linear(NamedTuple):
    """The weights of the linear classifier: of links, and of labels."""

    links: NDArray[np.float32]
    labels: NDArray[np.float32]


class ConfidentTree(NamedTuple):
    """A parsed sentence, and for each word the probability of its arc and of its arc with its label; [0] is unused."""

    sentence: Sentence
    arcs: NDArray[np.float64]
    labelled: NDArray[np.float64]


class Parsed(NamedTuple):
    """What the kernels say of several sentences; nodes one after the other."""

    heads: NDArray[np.int64]
    labels: NDArray[np.int64]
    links: NDArray[np.int64]  # how often the classifier was asked, for each sentence
    evidence: NDArray[np.float32]  # of each node, or empty
    bounds: NDArray[np.int64]  # where sentences end but for the last

    def trees(self) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]:
        """Heads and labels of each sentence."""
        return np.split(self.heads, self.bounds), np.split(self.labels, self.bounds)


@dataclass(frozen=True)
class CovingtonParser:
    """A trained parser.

    ``Constraints.max_degree`` limits the degree of non-projectivity of a tree (Nivre 2007, Definition 3), and with it
    the number of links that are looked at. A parser that was trained for projective trees makes no others.
    """

    config: CovingtonConfig
    labels: tuple[str, ...]
    features: LinkFeatureSet
    classifier: Linear | Svm
    dev: DevScores | None = None  # scores on the dev set in training
    treebank: str = ""  # a checksum of what it was trained on
    temperature: Temperature = UNFITTED  # of its confidence

    def parse(self, sentences: Iterable[Sentence], *, max_degree: int | None = None) -> Iterator[Sentence]:
        """The sentences with heads and labels, a batch at a time."""
        for batch, parsed in self._parse_batches(sentences, max_degree):
            yield from map(self._with_tree, batch, *parsed.trees())

    def parse_with_confidence(
        self, sentences: Iterable[Sentence], *, max_degree: int | None = None
    ) -> Iterator[ConfidentTree]:
        """The same, with how sure the parser was of each arc when it made it, and of the arc with its label."""
        for batch, parsed in self._parse_batches(sentences, max_degree, with_evidence=True):
            arcs, labelled = probabilities(parsed.evidence, parsed.labels, self.temperature)
            heads, labels = parsed.trees()
            for sentence, tree, relations, *sure in zip(
                batch, heads, labels, np.split(arcs, parsed.bounds), np.split(labelled, parsed.bounds), strict=True
            ):
                yield ConfidentTree(self._with_tree(sentence, tree, relations), *sure)

    def parse_sentence(self, sentence: Sentence, constraints: Constraints | None = None) -> Sentence:
        """The sentence with its tree.

        Required arcs are there from the start. Where greedy decisions end in a tree that the constraints forbid, the
        allowed tree with most of its arcs is taken instead.

        Raises
        ------
        NoTreeError : the constraints allow no tree, or none was found within the largest degree
        UnsupportedConstraint : for limits on children
        """
        constraints = constraints or Constraints()
        options = self._options(constraints)
        arrays = self._constraint_arrays(len(sentence) + 1, constraints)
        parsed = self._parse_batch([sentence], arrays, options)
        if len(arrays.allowed_arcs) and not _is_allowed(parsed.heads, arrays, options):
            required = _nearest_allowed(parsed.heads, arrays, options)
            parsed = self._parse_batch([sentence], arrays._replace(required_heads=required), options)
        return self._with_tree(sentence, parsed.heads, parsed.labels)

    def count_links(self, sentences: Sequence[Sentence], *, max_degree: int | None = None) -> NDArray[np.int64]:
        """How often the classifier is asked for each sentence: what a small degree saves."""
        parsed = [parsed.links for _, parsed in self._parse_batches(sentences, max_degree)]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parsed])

    def with_temperature(self, dev: Sequence[Sentence]) -> CovingtonParser:
        """The parser with its confidence fitted to trees that it has not been trained on."""
        batches = list(self._parse_batches(dev, None, with_evidence=True))
        evidence = np.concatenate([parsed.evidence for _, parsed in batches])
        heads = np.concatenate([parsed.heads for _, parsed in batches])
        labels = np.concatenate([parsed.labels for _, parsed in batches])
        right_heads = heads == np.concatenate([sentence.heads for sentence in dev])
        right_labels = np.array([*self.labels, ""])[labels] == [label for s in dev for label in ("", *s.deprel)]
        words = heads >= 0
        return replace(
            self, temperature=fit_temperature(evidence[words], labels[words], right_heads[words], right_labels[words])
        )

    def save(self, path: str | Path) -> None:
        """Write the model to one file."""
        header = {
            "system": SYSTEM,
            "config": asdict(self.config),
            "labels": self.labels,
            "features": self.features.text,
            "dev": self.dev._asdict() if self.dev else None,
            "treebank": self.treebank,
            "temperature": self.temperature,
        }
        save_model(path, header, self.classifier._asdict())

    @classmethod
    def load(cls, path: str | Path) -> CovingtonParser:
        """Read a model from its file."""
        header, tensors = load_model(path)
        config = CovingtonConfig(**header["config"])
        return cls(
            config,
            tuple(header["labels"]),
            parse_features(header["features"], str(path)),
            Svm(**tensors) if config.classifier == "svm" else Linear(**tensors),
            DevScores(**header["dev"]) if header["dev"] else None,
            header["treebank"],
            Temperature(*header["temperature"]),
        )

    @cached_property
    def model(self) -> LinkModel:
        """The classifier as the kernels want it."""
        if isinstance(self.classifier, Linear):
            return _linear_model(self.features, self.classifier, len(self.labels))
        nothing = np.zeros(0, dtype=np.float32)
        return LinkModel(self.features.compiled, nothing, np.uint64(0), nothing, np.uint64(0), self.classifier)

    def without_constraints(self, max_degree: int | None = None) -> tuple[LinkConstraints, LinkOptions]:
        """What the kernels are given to parse any sentence."""
        return self._constraint_arrays(0, Constraints()), self._options(Constraints(max_degree=max_degree))

    def _parse_batches(
        self, sentences: Iterable[Sentence], max_degree: int | None, *, with_evidence: bool = False
    ) -> Iterator[tuple[list[Sentence], Parsed]]:
        anything, options = self.without_constraints(max_degree)
        remaining = iter(sentences)
        while batch := list(islice(remaining, _BATCH)):
            yield batch, self._parse_batch(batch, anything, options, with_evidence=with_evidence)

    def _parse_batch(
        self,
        sentences: Sequence[Sentence],
        arrays: LinkConstraints,
        options: LinkOptions,
        *,
        with_evidence: bool = False,
    ) -> Parsed:
        batch = attributes_of(sentences)
        size = len(batch.counts)
        parsed = Parsed(
            np.full(size, -1),
            np.full(size, -1),
            np.zeros(len(sentences), dtype=np.int64),
            np.zeros((size if with_evidence else 0, LABELS + len(self.labels)), dtype=np.float32),
            batch.starts[1:-1],
        )
        parse_batch(batch, self.model, arrays, options, parsed.heads, parsed.labels, parsed.links, parsed.evidence)
        return parsed

    def _options(self, constraints: Constraints) -> LinkOptions:
        if constraints.max_children:
            raise UnsupportedConstraint("this parser cannot limit the number of children")
        limit = NO_LIMIT if constraints.max_degree is None else constraints.max_degree
        if limit < 0:
            raise ValueError(f"the degree {limit} is negative")
        if self.config.projective and 0 < limit < NO_LIMIT:
            raise CrossarcError("this model knows only projective links: it cannot parse with a degree above 0")
        if self.config.projective or constraints.projective:
            limit = 0
        return LinkOptions(limit, bool(self.config.single_root) or constraints.single_root)

    def _constraint_arrays(self, size: int, constraints: Constraints) -> LinkConstraints:
        return LinkConstraints(*_arcs_of(size, constraints), allowed_labels(size, len(self.labels), constraints))

    def _with_tree(self, sentence: Sentence, heads: NDArray[np.int64], labels: NDArray[np.int64]) -> Sentence:
        return sentence.with_tree(heads, ["_", *map(self.labels.__getitem__, labels[1:].tolist())])


def _linear_model(features: LinkFeatureSet, weights: Linear, n_labels: int) -> LinkModel:
    """The linear classifier as the kernels want it."""
    link_bits = len(weights.links).bit_length() - 3  # four weights at each place
    label_bits = (len(weights.labels) - n_labels).bit_length() - 1
    shifts = np.uint64(64 - link_bits), np.uint64(64 - label_bits)
    return LinkModel(features.compiled, weights.links, shifts[0], weights.labels, shifts[1], no_svm(1 + 2 * n_labels))


def _arcs_of(size: int, constraints: Constraints) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Required heads and allowed arcs; nothing at all if there are no such constraints."""
    if not (constraints.required_arcs or constraints.forbidden_arcs or constraints.single_root):
        return np.full(0, -1), np.ones((0, 0), dtype=np.bool_)
    required = np.full(size, -1)
    allowed = np.ones((size, size), dtype=np.bool_)
    check_required_arcs(size, constraints)
    for head, modifier in constraints.required_arcs:
        allowed[:head, modifier] = allowed[head + 1 :, modifier] = False
        required[modifier] = head
    for head, modifier in constraints.forbidden_arcs:
        allowed[head, modifier] = False
    given = np.flatnonzero(required >= 0)
    if not allowed[required[given], given].all() or not is_tree(np.where(np.arange(size) > 0, required.clip(0), -1)):
        raise NoTreeError("the constraints allow no tree")
    return required, allowed


def _is_allowed(heads: NDArray[np.int64], arrays: LinkConstraints, options: LinkOptions) -> bool:
    arcs_are = bool(arrays.allowed_arcs[heads[1:], np.arange(1, len(heads))].all())
    roots_are = not options.single_root or int((heads == 0).sum()) == 1
    return arcs_are and roots_are and degree(heads) <= options.max_degree


def _nearest_allowed(heads: NDArray[np.int64], arrays: LinkConstraints, options: LinkOptions) -> NDArray[np.int64]:
    """Of the trees that are allowed, one with most arcs of this one; if there is a limit to its degree, of the
    projective ones."""
    scores = np.where(arrays.allowed_arcs, 0.0, -np.inf)
    scores[heads[1:], np.arange(1, len(heads))] += 1.0
    return best_tree(scores, single_root=options.single_root, projective=options.max_degree < NO_LIMIT).heads
