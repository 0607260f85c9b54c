"""How sure the parser is: probabilities of arcs, labels and trees, and decoding by them (MS07 §4.2).

The scores of arcs, divided by a temperature, make a log-linear model of trees; the scores of the labels of an arc, by
another one, a model of its label. A log-linear parser (``--learner crf``) is such a model by itself. For other learners
scores are no probabilities until temperatures have been fitted to held-out trees; for higher orders the model is one of
the trees near the best one (see ``LinearParser.potentials``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, Sentence
from crossarc.evaluation.calibration import Temperatures, fit_temperature, softmax
from crossarc.features.attributes import Batch, attributes_of
from crossarc.parsers.base import Confidence
from crossarc.parsers.linear.parser import LinearParser
from crossarc.trees import best_trees, log_partitions_and_marginals
from crossarc.trees.sums import entropy_of

__all__ = ["Probabilities", "fitted_temperatures"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Probabilities:
    """The distributions over the trees of a batch of sentences; sums over all trees are found once for all of them."""

    def __init__(
        self,
        parser: LinearParser,
        temperatures: Temperatures,
        batch: Batch,
        potentials: Sequence[Floats],
        single_root: bool,
        projective: bool,
    ) -> None:
        self.parser, self.batch, self.temperatures = parser, batch, temperatures
        self.shape: dict[str, Any] = {"single_root": single_root, "projective": projective}
        self.potentials = [scores / temperatures.arcs for scores in potentials]
        self.log_z, self.marginals = log_partitions_and_marginals(self.potentials, **self.shape)

    def min_risk(self) -> tuple[Ints, Ints]:
        """Heads and labels of the trees with the most arcs that are expected to be right."""
        safest = best_trees([np.where(arcs > 0.0, arcs, -np.inf) for arcs in self.marginals], **self.shape)
        heads = np.concatenate([tree.heads for tree in safest])
        shares = self.label_shares(self.batch, heads)
        return heads, np.where(heads < 0, -1, shares.argmax(axis=1))

    def confidence(self, b: int, heads: Ints, labels: Ints, shares: Floats) -> Confidence:
        """How sure the parser is of a tree of sentence b, given the shares of its labels."""
        words = np.arange(len(heads))
        arcs = self.marginals[b][heads, words]
        total = float(self.potentials[b][heads[1:], words[1:]].sum())
        return Confidence(
            arcs,
            arcs * shares[words, labels],
            total - float(self.log_z[b]),
            entropy_of(self.potentials[b], float(self.log_z[b]), self.marginals[b]),
            self.marginals[b],
            shares,
            self.potentials[b],
            **self.shape,
        )

    def label_shares(self, batch: Batch, heads: Ints) -> Floats:
        """``[i, l]``: the probability of each label of the arc into each node, given that arc."""
        return softmax(self.parser.label_scores(batch, heads) / self.temperatures.labels)


def fitted_temperatures(parser: LinearParser, gold: Sequence[Sentence]) -> Temperatures:
    """The temperatures under which the probabilities of the parser's own arcs and labels fit best to gold trees."""
    sentences = [sentence for sentence in gold if len(sentence)]
    batch, shape = attributes_of(sentences), parser.search_for(Constraints()).shape
    heads, labels = parser.best_trees(batch, Constraints())
    words = np.flatnonzero(heads >= 0)
    right = heads[words] == np.concatenate([sentence.heads for sentence in sentences])[words]
    potentials = parser.potentials(batch, heads, Constraints())
    flags: dict[str, Any] = {"single_root": shape.single_root, "projective": shape.projective}

    def of_arcs(temperature: float) -> Floats:
        _, marginals = log_partitions_and_marginals([scores / temperature for scores in potentials], **flags)
        bounds = batch.starts.tolist()
        chosen = [
            matrix[heads[i:j], np.arange(j - i)] for matrix, i, j in zip(marginals, bounds, bounds[1:], strict=False)
        ]
        return np.concatenate(chosen)[words]

    number = {label: i for i, label in enumerate(parser.labels)}
    gold_labels = np.array([number.get(label, -1) for sentence in sentences for label in ("", *sentence.deprel)])
    with_head = words[right]
    scores = parser.label_scores(batch, heads)[with_head]
    return Temperatures(
        fit_temperature(of_arcs, right),
        fit_temperature(lambda t: softmax(scores / t).max(axis=1), labels[with_head] == gold_labels[with_head]),
    )
