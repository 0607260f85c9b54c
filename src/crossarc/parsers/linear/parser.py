"""A linear scorer and a search for trees, put together: what the systems with a linear scorer share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, NoTreeError, Sentence, UnsupportedConstraint
from crossarc.features.attributes import Batch, attributes_of
from crossarc.learning.listener import DevScores
from crossarc.models import Tensors
from crossarc.parsers.base import labelled
from crossarc.parsers.linear._parse import parse_batch, potentials_of, scores_of_arcs, scores_of_labels
from crossarc.parsers.linear.config import LinearConfig
from crossarc.scorers.linear.scorer import LinearScorer
from crossarc.scorers.shape import tree_shape
from crossarc.search.constraints import Allowed, allowed_by
from crossarc.search.methods import SearchMethod

__all__ = ["LinearParser"]


@dataclass(frozen=True, repr=False)
class LinearParser:
    """A trained linear scorer, and the search that it was trained with.

    Attributes
    ----------
    config : LinearConfig
        How it was trained.
    scorer : LinearScorer
    dev : DevScores or None
        Scores on the dev set in training.
    treebank : str
        A checksum of what it was trained on.
    """

    config: LinearConfig
    scorer: LinearScorer
    dev: DevScores | None = None
    treebank: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of labels."""
        return self.scorer.labels

    def best(self, sentences: Sequence[Sentence], constraints: Constraints | None = None) -> list[Sentence]:
        """The sentences with the best trees that the search finds. Constraints come with one sentence only.

        Raises
        ------
        NoTreeError : the constraints allow no tree
        UnsupportedConstraint : for limits on children or degree
        """
        batch = attributes_of(sentences)
        return self.with_trees(sentences, batch, *self.best_trees(batch, constraints or Constraints()))

    def best_trees(self, batch: Batch, constraints: Constraints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Heads and labels of all nodes of a batch."""
        allowed, search = self.allowed(int(batch.starts[1]), constraints), self.search_for(constraints)
        heads, labels = np.full(len(batch.counts), -1), np.full(len(batch.counts), -1)
        scores = np.zeros(len(batch.starts) - 1)
        parse_batch(batch, self.scorer.models, allowed, search, heads, labels, scores)
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
        allowed, shape = self.allowed(int(sizes[0]), constraints), self.search_for(constraints).shape
        potentials_of(batch, self.scorer.models, allowed, shape, heads.copy(), first[:-1], flat)
        return [flat[i:j].reshape(size, size) for i, j, size in zip(first, first[1:], sizes.tolist(), strict=False)]

    def label_scores(self, batch: Batch, heads: NDArray[np.int64]) -> NDArray[np.float32]:
        """``scores[i, l]`` of each label of the arc into each node of a batch."""
        scores = np.zeros((len(heads), len(self.labels)), dtype=np.float32)
        scores_of_labels(batch, self.scorer.labels_model, heads, scores)
        return scores

    def scores(self, sentence: Sentence) -> NDArray[np.float64]:
        """``scores[h, m]`` of every arc by its own features, for ``crossarc.trees``."""
        every = self.allowed(len(sentence) + 1, Constraints())
        scores: NDArray[np.float64] = scores_of_arcs(attributes_of([sentence]), self.scorer.heads_model, every)
        return scores

    def with_trees(
        self, sentences: Sequence[Sentence], batch: Batch, heads: NDArray[np.int64], labels: NDArray[np.int64]
    ) -> list[Sentence]:
        """The sentences of a batch with these heads and labels."""
        starts = batch.starts.tolist()
        return [
            self.with_tree(sentence, heads[first:last], labels[first:last])
            for sentence, first, last in zip(sentences, starts, starts[1:], strict=False)
        ]

    def with_tree(self, sentence: Sentence, heads: NDArray[np.int64], labels: NDArray[np.int64]) -> Sentence:
        """The sentence with these heads and labels."""
        return labelled(sentence, heads, labels, self.labels)

    def search_for(self, constraints: Constraints) -> SearchMethod:
        """The search for trees that keep these constraints."""
        if constraints.max_children or constraints.max_degree is not None:
            raise UnsupportedConstraint("this parser cannot limit the number of children or the degree")
        search = self.config.search
        single_root = search.shape.single_root or constraints.single_root
        projective = search.shape.projective or constraints.projective
        return search._replace(shape=tree_shape(single_root=single_root, projective=projective))

    def allowed(self, size: int, constraints: Constraints) -> Allowed:
        """What trees of that many nodes may have under these constraints."""
        return allowed_by(constraints, size, len(self.labels))

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        """What a model file has of it: a header and tensors."""
        header, tensors = self.scorer.to_model()
        dev = self.dev and self.dev._asdict()
        return {"config": asdict(self.config), **header, "dev": dev, "treebank": self.treebank}, tensors

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: Tensors, config: LinearConfig | None = None) -> Self:
        """The parser of a model file; its header may have the configuration of another system."""
        config = config or LinearConfig(**header["config"])
        dev = header["dev"] and DevScores(**header["dev"])
        return cls(config, LinearScorer.from_model(header, tensors, config.scorer), dev, header["treebank"])
