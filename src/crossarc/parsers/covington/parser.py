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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, CrossarcError, Sentence, UnsupportedConstraint
from crossarc.evaluation.calibration import Temperatures
from crossarc.features.attributes import attributes_of
from crossarc.features.weights import bits_of_table, dequantized
from crossarc.learning.listener import DevScores
from crossarc.learning.svm import Svm, no_svm
from crossarc.models import Tensors
from crossarc.models.schema import FEATURE_SET, Kind
from crossarc.models.tensors import HashedWeights, TensorKind
from crossarc.parsers.base import Capability, Confidence, Parsed, ParseOptions, Parser
from crossarc.parsers.covington._graph import NO_LIMIT
from crossarc.parsers.covington._parse import LABELS, LinkConstraints, LinkModel, LinkOptions, parse_batch
from crossarc.parsers.covington.confidence import UNFITTED, fit_temperatures, probabilities
from crossarc.parsers.covington.config import CovingtonConfig
from crossarc.parsers.covington.features import LinkFeatureSet, parse_features
from crossarc.parsers.covington.machines import check_machines, tensors_of_machines
from crossarc.parsers.covington.repair import nearest_tree
from crossarc.parsers.header import TEMPERATURES, fields_of_parser
from crossarc.trees._input import allowed_arcs, allowed_labels
from crossarc.trees.shape import degree

if TYPE_CHECKING:
    from crossarc.features.explain import Reason

__all__ = ["CovingtonParser", "Linear"]


class Linear(NamedTuple):
    """The weights of the linear classifier: of links, and of labels."""

    links: NDArray[np.float32]
    labels: NDArray[np.float32]


class Kernelized(NamedTuple):
    """Support vector machines, and the morphological features that they know."""

    svm: Svm
    feats: NDArray[np.uint64]  # sorted
    categories: NDArray[np.int64]  # the number of the category of each, such as case or number


class Links(NamedTuple):
    """What the kernels say of several sentences; nodes one after the other."""

    heads: NDArray[np.int64]
    labels: NDArray[np.int64]
    counts: NDArray[np.int64]  # how often the classifier was asked, for each sentence
    evidence: NDArray[np.float32]  # of each node, or empty
    bounds: NDArray[np.int64]  # where sentences end but for the last


@dataclass(frozen=True, repr=False)
class CovingtonParser(Parser):
    """An incremental parser: the arcs of a sentence of n words in at most O(n²) decisions of a classifier.

    ``Constraints.max_degree`` limits the degree of non-projectivity of a tree (Nivre 2007, Definition 3), and with it
    the number of links that are looked at. A parser that was trained for projective trees makes no others.

    >>> from crossarc.parsers import CovingtonConfig, train
    >>> from crossarc.testing import random_treebank
    >>> treebank = list(random_treebank(30, seed=1))
    >>> parser = train(treebank, CovingtonConfig(epochs=1, hash_bits=16))
    >>> next(parser.trees(treebank)).form == treebank[0].form
    True
    """

    config: CovingtonConfig
    labels: tuple[str, ...]
    features: LinkFeatureSet
    classifier: Linear | Kernelized
    dev: DevScores | None = None
    treebank: str = ""  # a checksum of what it was trained on
    temperatures: Temperatures = UNFITTED  # of its confidence

    system: ClassVar[str] = "covington"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {Capability.PROBABILITIES, Capability.MAX_DEGREE, Capability.EXPLANATIONS, Capability.EPOCHS}
    )

    header_kinds: ClassVar[Mapping[str, Kind]] = {
        **fields_of_parser(CovingtonConfig),
        "features": FEATURE_SET,
        "temperatures": TEMPERATURES,
    }

    def decode(self, sentences: Sequence[Sentence], constraints: Constraints, options: ParseOptions) -> list[Parsed]:
        """Required arcs are there from the start.

        Where greedy decisions end in a tree that the constraints forbid, an allowed tree near to it is taken instead.
        """
        link_options = self._link_options(constraints)
        arrays = self._constraint_arrays(len(sentences[0]) + 1, constraints)
        links = self._link(sentences, arrays, link_options, with_evidence=options.confidence)
        if len(arrays.allowed_arcs) and not _is_allowed(links.heads, arrays, link_options):
            nearest = nearest_tree(
                links.heads,
                arrays.allowed_arcs,
                single_root=link_options.single_root,
                max_degree=link_options.max_degree,
            )
            arrays = arrays._replace(required_heads=nearest)
            links = self._link(sentences, arrays, link_options, with_evidence=options.confidence)
        trees = map(
            self.with_labels, sentences, np.split(links.heads, links.bounds), np.split(links.labels, links.bounds)
        )
        if not options.confidence:
            return list(map(Parsed, trees))
        arcs, labelled = probabilities(links.evidence, links.labels, self.temperatures)
        sure = map(Confidence, np.split(arcs, links.bounds), np.split(labelled, links.bounds))
        return [Parsed(tree, confidence=how) for tree, how in zip(trees, sure, strict=True)]

    def explain(self, sentence: Sentence, head: int, modifier: int) -> list[Reason]:
        from crossarc.parsers.covington.explain import explain

        return explain(self, sentence, head, modifier)

    def without_constraints(self, max_degree: int | None = None) -> tuple[LinkConstraints, LinkOptions]:
        """What the kernels are given to parse any sentence."""
        constraints = Constraints(max_degree=max_degree)
        return self._constraint_arrays(0, constraints), self._link_options(constraints)

    def count_links(self, sentences: Sequence[Sentence], *, max_degree: int | None = None) -> NDArray[np.int64]:
        """How often the classifier is asked for each sentence: what a small degree saves."""
        return self._link(sentences, *self.without_constraints(max_degree)).counts

    def calibrated(self, gold: Sequence[Sentence]) -> CovingtonParser:
        """The parser with its probabilities fitted to trees that it has not been trained on."""
        links = self._link(gold, *self.without_constraints(), with_evidence=True)
        right_heads = links.heads == np.concatenate([sentence.heads for sentence in gold])
        right_labels = np.array([*self.labels, ""])[links.labels] == [label for s in gold for label in ("", *s.deprel)]
        words = links.heads >= 0
        fitted = fit_temperatures(links.evidence[words], links.labels[words], right_heads[words], right_labels[words])
        return replace(self, temperatures=fitted)

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        own = {"features": self.features.text, "temperatures": self.temperatures._asdict()}
        tensors = self.classifier._asdict()
        if isinstance(self.classifier, Kernelized):
            tensors |= tensors.pop("svm")._asdict()
        return {**self.header(), **own}, tensors

    @classmethod
    def tensor_kinds(cls, header: dict[str, Any]) -> Mapping[str, TensorKind]:
        n_labels = len(header["labels"])
        if header["config"].get("classifier", "linear") == "linear":
            return {"links": HashedWeights(), "labels": HashedWeights(row=n_labels)}
        return tensors_of_machines(1 + 2 * n_labels)

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> CovingtonParser:
        config = CovingtonConfig(**header["config"])
        features = parse_features(header["features"], "the model's features")
        arrays: dict[str, Any] = {name: dequantized(tensor) for name, tensor in tensors.items()}
        if config.classifier == "svm":
            arrays["svm"] = Svm(**{name: arrays.pop(name) for name in Svm._fields})
            check_machines(features, arrays["svm"], arrays["categories"])
        return cls(
            config,
            tuple(header["labels"]),
            features,
            (Kernelized if config.classifier == "svm" else Linear)(**arrays),
            header["dev"] and DevScores(**header["dev"]),
            header["treebank"],
            Temperatures(**header["temperatures"]),
        )

    @cached_property
    def model(self) -> LinkModel:
        """The classifier as the kernels want it."""
        if isinstance(self.classifier, Linear):
            return _linear_model(self.features, self.classifier, len(self.labels))
        nothing = np.zeros(0, dtype=np.float32)
        return LinkModel(self.features.compiled, nothing, np.uint64(0), nothing, np.uint64(0), *self.classifier)

    def _link(
        self,
        sentences: Sequence[Sentence],
        arrays: LinkConstraints,
        link_options: LinkOptions,
        *,
        with_evidence: bool = False,
    ) -> Links:
        batch = attributes_of(sentences)
        size = len(batch.counts)
        links = Links(
            np.full(size, -1),
            np.full(size, -1),
            np.zeros(len(sentences), dtype=np.int64),
            np.zeros((size if with_evidence else 0, LABELS + len(self.labels)), dtype=np.float32),
            batch.starts[1:-1],
        )
        parse_batch(batch, self.model, arrays, link_options, links.heads, links.labels, links.counts, links.evidence)
        return links

    def _link_options(self, constraints: Constraints) -> LinkOptions:
        if constraints.max_children:
            raise UnsupportedConstraint("this parser cannot limit the number of children")
        trained_for, asked = self.config.degree, constraints.max_degree
        if asked is not None and asked < 0:
            raise ValueError(f"the degree {asked} is negative")
        if asked is not None and trained_for is not None and asked > trained_for:
            kind = f"links of degree {trained_for} at most" if trained_for else "projective links"
            raise CrossarcError(f"this model knows only {kind}: it cannot parse with a degree above {trained_for}")
        limits = [limit for limit in (trained_for, asked, 0 if constraints.projective else None) if limit is not None]
        return LinkOptions(
            min(limits, default=NO_LIMIT),
            bool(self.config.single_root) or constraints.single_root,
            self.config.unattached == "root",
        )

    def _constraint_arrays(self, size: int, constraints: Constraints) -> LinkConstraints:
        """Required heads, allowed arcs and allowed labels; nothing at all where there are no such constraints."""
        heads, arcs = np.full(0, -1), np.ones((0, 0), dtype=np.bool_)
        if constraints.required_arcs or constraints.forbidden_arcs or constraints.single_root:
            heads, arcs = np.full(size, -1), allowed_arcs(constraints, size)
            for head, modifier in constraints.required_arcs:
                heads[modifier] = head
        labels = np.ones((0, len(self.labels)), dtype=np.bool_)
        if constraints.required_labels or constraints.forbidden_labels:
            labels = allowed_labels(constraints, size, len(self.labels))
        return LinkConstraints(heads, arcs, labels)


def _linear_model(features: LinkFeatureSet, weights: Linear, n_labels: int) -> LinkModel:
    """The linear classifier as the kernels want it."""
    link_bits = bits_of_table(weights.links) - 2  # four weights at each place
    label_bits = bits_of_table(weights.labels, n_labels)
    shifts = np.uint64(64 - link_bits), np.uint64(64 - label_bits)
    svm = no_svm(1 + 2 * n_labels)
    no_feats, no_categories = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
    tables = weights.links, shifts[0], weights.labels, shifts[1]
    return LinkModel(features.compiled, *tables, svm, no_feats, no_categories)


def _is_allowed(heads: NDArray[np.int64], arrays: LinkConstraints, link_options: LinkOptions) -> bool:
    arcs_are = bool(arrays.allowed_arcs[heads[1:], np.arange(1, len(heads))].all())
    roots_are = not link_options.single_root or int((heads == 0).sum()) == 1
    return arcs_are and roots_are and degree(heads) <= link_options.max_degree
