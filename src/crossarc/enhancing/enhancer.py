"""The enhancer: enhanced dependencies (DEPS) from a tree, learnt from a treebank that has them.

For each word, the nodes that may be its heads are those at the ends of paths through the tree that the treebank has
arcs for (``paths``). A classifier says of each which label its arc has, or that there is none; where the treebank has
only one answer to a path, that is it. Labels have names of sources in the place of words (``lexical``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from crossarc.core import Sentence
from crossarc.enhancing.features import SCHEMA, CandidateView, compiled, items_of
from crossarc.enhancing.graph import connected, to_deps
from crossarc.enhancing.lexical import lexicalized
from crossarc.enhancing.paths import LONGEST, STEP, Candidate, PathIndex
from crossarc.enhancing.training import (
    NO_ARC,
    NumberedChoices,
    PathLabels,
    label_classes,
    learn_labels,
    learn_paths,
    numbered,
)
from crossarc.enhancing.tree_view import TreeView
from crossarc.features.language import FeatureSet, load_set, parse_set
from crossarc.learning.listener import TrainingListener
from crossarc.models import ModelError, Tensors
from crossarc.models.schema import FEATURE_SET, Kind, ListOf, Row, Text, Whole
from crossarc.models.tensors import HashedWeights, TensorKind
from crossarc.text.classifier import Classifier
from crossarc.text.packing import PACKED, pack, unpack

__all__ = ["Enhancer"]

_MOST_LABELS = 1 << 16
_PATHS = ListOf(Row([ListOf(Text(pattern=STEP), least=1, most=LONGEST), ListOf(Whole(high=_MOST_LABELS), least=1)]))


@dataclass(frozen=True, repr=False)
class Enhancer:
    """A trained enhancer.

    >>> from crossarc.core import Sentence
    >>> tree = Sentence.of(["go", "with", "us"]).with_tree([-1, 0, 3, 1], ["_", "root", "case", "obl"])
    >>> treebank = [tree.with_columns(deps=["0:root", "3:case", "1:obl:with"])]
    >>> other = Sentence.of(["come", "to", "me"]).with_tree([-1, 0, 3, 1], ["_", "root", "case", "obl"])
    >>> Enhancer.train(treebank).apply([other])[0].deps
    ('0:root', '3:case', '1:obl:to')
    """

    name: ClassVar[str] = "enhancer"

    header_kinds: ClassVar[Mapping[str, Kind]] = {
        "features": FEATURE_SET,
        "labels": ListOf(Text(), least=1, most=_MOST_LABELS),
    }
    optional_fields: ClassVar[Collection[str]] = ()

    labels: tuple[str, ...]  # with names of sources in them; one is that there is no arc
    paths: PathLabels  # the numbers of the labels that each path can have, the most frequent first
    classifier: Classifier
    features: FeatureSet

    @classmethod
    def train(
        cls, sentences: Sequence[Sentence], *, seed: int = 1, listener: TrainingListener | None = None
    ) -> Enhancer:
        """Learn from the trees and the DEPS of a treebank. Sentences without DEPS are left out."""
        features = load_set(SCHEMA, "default")
        labels, paths = learn_paths(sentences)
        classifier = learn_labels(sentences, labels, paths, compiled(features), np.random.default_rng(seed))
        return cls(labels, paths, classifier, features)

    def __repr__(self) -> str:
        return f"<Enhancer: {len(self.paths)} paths, {len(self.labels)} labels>"

    def apply(self, sentences: Iterable[Sentence]) -> list[Sentence]:
        """The sentences with enhanced dependencies in DEPS, made of their trees. Empty nodes stay as they are.

        Each word has a head, and each can be reached from the root, where this is so in the tree.
        """
        given = list(sentences)
        views = [CandidateView(TreeView(sentence)) for sentence in given]
        candidates = [list(self._candidates(view)) for view in views]
        labels = iter(self._labels(views, candidates))
        return [
            sentence.with_columns(deps=self._deps(view, own, [next(labels) for _ in own]))
            for sentence, view, own in zip(given, views, candidates, strict=True)
        ]

    def _candidates(self, view: CandidateView) -> Iterable[Candidate]:
        words = range(1, len(view.tree) + 1)
        return chain.from_iterable(self._index.candidates(view.tree, word) for word in words)

    def _labels(self, views: Sequence[CandidateView], candidates: Sequence[Sequence[Candidate]]) -> list[str]:
        """The label of each candidate of all sentences, one after the other."""
        flat = [(view, own) for view, some in zip(views, candidates, strict=True) for own in some]
        chosen = [self.paths[own.path][0] for _, own in flat]
        open_ones = [i for i, (_, own) in enumerate(flat) if len(self.paths[own.path]) > 1]
        if open_ones:
            items = items_of([view.attributes(own) for view, own in (flat[i] for i in open_ones)])
            found = self.classifier.choose(items, self._choices.of(flat[i][1].path for i in open_ones))
            for i, label in zip(open_ones, found.tolist(), strict=True):
                chosen[i] = label
        return [self.labels[label] for label in chosen]

    def _deps(self, view: CandidateView, candidates: Sequence[Candidate], labels: Sequence[str]) -> list[str]:
        """The column DEPS of a sentence."""
        arcs = {
            (own.head, own.modifier, lexicalized(label, view.sources(own)))
            for own, templates in zip(candidates, labels, strict=True)
            if templates != NO_ARC
            for label in templates.split("|")
        }
        return to_deps(connected(arcs, view.tree), len(view.tree))

    @cached_property
    def _index(self) -> PathIndex:
        return PathIndex(self.paths)

    @cached_property
    def _choices(self) -> NumberedChoices:
        return numbered(self.paths)

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        """The header and the tensors of a model file."""
        paths = [[list(path), list(labels)] for path, labels in self.paths.items()]
        header = {"features": self.features.text, "labels": list(self.labels)}
        return header, {"weights": self.classifier.weights, "paths": pack(paths)}

    @classmethod
    def tensor_kinds(cls, header: dict[str, Any]) -> Mapping[str, TensorKind]:
        """The tensors of a model file."""
        return {"weights": HashedWeights(row=len(header["labels"])), "paths": PACKED}

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> Enhancer:
        """What ``to_model`` made."""
        features = parse_set(SCHEMA, header["features"])
        labels = tuple(header["labels"])
        paths = {tuple(path): tuple(own) for path, own in unpack(tensors["paths"], _PATHS)}
        if max(chain.from_iterable(paths.values()), default=0) >= len(labels):
            raise ModelError(f"a path has a label that is none of its {len(labels)}")
        return cls(labels, paths, Classifier(compiled(features), tensors["weights"], label_classes(labels)), features)
