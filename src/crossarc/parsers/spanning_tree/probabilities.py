"""How sure the parser is: probabilities of arcs, labels and trees, and decoding by them (MS07 §4.2).

The scores of arcs, divided by a temperature, make a log-linear model of trees; the scores of the labels of an arc, by
another one, a model of its label. A log-linear parser (``--learner crf``) is such a model by itself. For other learners
scores are no probabilities until temperatures have been fitted to held-out trees; for higher orders the model is one of
the trees near the best one (see ``SpanningTreeParser.potentials``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from operator import eq
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, CrossarcError, Sentence
from crossarc.evaluation.calibration import Bin, reliability
from crossarc.features.attributes import Batch, attributes_of
from crossarc.parsers.spanning_tree.parser import SpanningTreeParser, Temperatures
from crossarc.scorers.shape import TreeShape
from crossarc.trees import best_trees, k_best_trees, log_partitions_and_marginals

__all__ = [
    "Analysis",
    "Decode",
    "analyse",
    "fitted_temperatures",
    "label_probabilities",
    "reliability_of",
    "with_confidence",
    "with_probabilities",
]

Decode = Literal["best", "min-risk", "marginal-threshold"]

_BATCH = 64  # sentences
_RANGE = (np.log(0.01), np.log(100.0))  # of temperatures


class Analysis(NamedTuple):
    """A tree, and how sure the parser is of it. Arrays have an entry for each node; that of the root means nothing.

    Trees are heads here: what is said of a whole tree, and of its arcs, is summed over all labels.
    """

    sentence: Sentence
    arcs: NDArray[np.float64]  # the probability of each word's arc
    labels: NDArray[np.float64]  # and of its arc with its label
    log_probability: float  # of the tree
    entropy: float  # of all trees, in nats
    marginals: NDArray[np.float64]  # marginals[h, m]: the probability of every arc
    potentials: NDArray[np.float64]  # potentials[h, m]: log p of a tree is the sum of these less a constant
    shape: TreeShape

    @property
    def margin(self) -> float:
        """log p of the best tree minus that of the second best; inf if there is no other."""
        trees = k_best_trees(self.potentials, 2, single_root=self.shape.single_root, projective=self.shape.projective)
        return trees[0].score - trees[1].score if len(trees) == 2 else np.inf


def analyse(
    parser: SpanningTreeParser,
    sentences: Iterable[Sentence],
    *,
    decode: Decode = "best",
    threshold: float = 0.5,
    constraints: Constraints | None = None,
) -> Iterator[Analysis]:
    """Trees with their probabilities, given the constraints.

    ``decode`` is the best tree; or the one with the most arcs that are expected to be right (min-risk); or of the
    latter only arcs with at least the probability ``threshold``, other words being left without a head.
    """
    if parser.temperatures is None:
        raise CrossarcError(
            "this model knows no probabilities: it was trained without --dev; "
            "crossarc calibrate DEV -m MODEL --fit makes up for that"
        )
    remaining = iter(sentences)
    size = 1 if constraints else _BATCH
    while batch := list(islice(remaining, size)):
        yield from _analyse(parser, batch, decode, threshold, constraints or Constraints(), parser.temperatures)


def _analyse(
    parser: SpanningTreeParser,
    sentences: Sequence[Sentence],
    decode: Decode,
    threshold: float,
    constraints: Constraints,
    temperatures: Temperatures,
) -> Iterator[Analysis]:
    batch, shape = attributes_of(sentences), parser.search_for(constraints).shape
    flags: dict[str, Any] = {"single_root": shape.single_root, "projective": shape.projective}
    heads, labels = parser.best_trees(batch, constraints)
    potentials = [scores / temperatures.arcs for scores in parser.potentials(batch, heads, constraints)]
    log_z, marginals = log_partitions_and_marginals(potentials, **flags)
    if decode != "best":
        safest = best_trees([np.where(arcs > 0.0, arcs, -np.inf) for arcs in marginals], **flags)
        heads = np.concatenate([tree.heads for tree in safest])
    shares = label_probabilities(parser, batch, heads)
    if decode != "best":
        labels = np.where(heads < 0, -1, shares.argmax(axis=1))
    arcs = np.concatenate([_chosen(matrix, heads, batch, b) for b, matrix in enumerate(marginals)])
    of_labels = arcs * shares[np.arange(len(labels)), labels]
    sure = arcs >= threshold if decode == "marginal-threshold" else np.ones(len(arcs), dtype=bool)
    trees = parser.with_trees(sentences, batch, np.where(sure, heads, -1), np.where(sure, labels, -1))
    for b, tree in enumerate(trees):
        nodes = slice(batch.starts[b], batch.starts[b + 1])
        log_probability = float(_chosen(potentials[b], heads, batch, b)[1:].sum() - log_z[b])
        entropy = _entropy(float(log_z[b]), marginals[b], potentials[b])
        yield Analysis(
            tree, arcs[nodes], of_labels[nodes], log_probability, entropy, marginals[b], potentials[b], shape
        )


def label_probabilities(parser: SpanningTreeParser, batch: Batch, heads: NDArray[np.int64]) -> NDArray[np.float64]:
    """``[i, l]``: the probability of each label of the arc into each node of a batch, given that arc."""
    assert parser.temperatures is not None
    return _softmax(parser.label_scores(batch, heads) / parser.temperatures.labels)


def _chosen(matrix: NDArray[np.float64], heads: NDArray[np.int64], batch: Batch, b: int) -> NDArray[np.float64]:
    """matrix[h, m] of each arc into sentence b's nodes; what stands at the root means nothing."""
    own = heads[batch.starts[b] : batch.starts[b + 1]]
    return matrix[own, np.arange(len(own))]


def reliability_of(parser: SpanningTreeParser, gold: Sequence[Sentence]) -> dict[str, list[Bin]]:
    """How often arcs and labelled arcs of the parser's trees are right, by their probability."""
    arcs, labels, right_heads, right_labels = [], [], [], []
    for tree, analysis in zip(gold, analyse(parser, gold), strict=True):
        same_head = np.array(list(map(eq, tree.head, analysis.sentence.head)), dtype=bool)
        same_label = np.array(list(map(eq, tree.deprel, analysis.sentence.deprel)), dtype=bool)
        arcs.append(analysis.arcs[1:])
        labels.append(analysis.labels[1:])
        right_heads.append(same_head)
        right_labels.append(same_head & same_label)
    return {
        "arcs": reliability(np.concatenate(arcs), np.concatenate(right_heads)),
        "labelled arcs": reliability(np.concatenate(labels), np.concatenate(right_labels)),
    }


def with_confidence(analysis: Analysis) -> Sentence:
    """The tree with probabilities in MISC (``ArcProb=0.9712|RelProb=0.9503``) and comments."""
    sentence = with_probabilities(analysis.sentence, analysis.arcs, analysis.labels)
    comments = (
        f"# crossarc_logprob = {analysis.log_probability:.4f}",
        f"# crossarc_entropy = {analysis.entropy:.4f}",
        f"# crossarc_margin = {analysis.margin:.4f}",
    )
    names = tuple(comment.partition("=")[0] for comment in comments)
    kept = (comment for comment in sentence.comments if not comment.startswith(names))
    return replace(sentence, comments=(*kept, *comments))


def with_probabilities(sentence: Sentence, arcs: NDArray[np.float64], labels: NDArray[np.float64]) -> Sentence:
    """The sentence with the probabilities of arcs, and of arcs with their labels, in MISC."""
    misc = [
        _noted(old, f"ArcProb={arc:.4f}", f"RelProb={label:.4f}")
        for old, arc, label in zip(sentence.misc, arcs[1:], labels[1:], strict=True)
    ]
    return sentence.with_columns(misc=misc)


def _noted(misc: str, *notes: str) -> str:
    names = {note.partition("=")[0] for note in notes}
    kept = [item for item in misc.split("|") if item.partition("=")[0] not in names] if misc != "_" else []
    return "|".join([*kept, *notes])


def fitted_temperatures(parser: SpanningTreeParser, gold: Sequence[Sentence]) -> Temperatures:
    """The temperatures under which the probabilities of the parser's own arcs and labels fit best to gold trees."""
    sentences = [sentence for sentence in gold if len(sentence)]
    batch, shape = attributes_of(sentences), parser.search_for(Constraints()).shape
    heads, labels = parser.best_trees(batch, Constraints())
    words = np.flatnonzero(heads >= 0)
    right = heads[words] == np.concatenate([sentence.heads for sentence in sentences])[words]
    potentials = parser.potentials(batch, heads, Constraints())

    def loss_of_arcs(log_temperature: float) -> float:
        scaled = [scores / np.exp(log_temperature) for scores in potentials]
        _, marginals = log_partitions_and_marginals(scaled, single_root=shape.single_root, projective=shape.projective)
        chosen = np.concatenate([_chosen(matrix, heads, batch, b) for b, matrix in enumerate(marginals)])
        return _log_loss(chosen[words], right)

    number = {label: i for i, label in enumerate(parser.labels)}
    gold_labels = np.array([number.get(label, -1) for sentence in sentences for label in ("", *sentence.deprel)])
    words_with_head = words[right]
    right_labels = labels[words_with_head] == gold_labels[words_with_head]
    scores = parser.label_scores(batch, heads)[words_with_head]

    def loss_of_labels(log_temperature: float) -> float:
        return _log_loss(_softmax(scores / np.exp(log_temperature)).max(axis=1), right_labels)

    from scipy.optimize import minimize_scalar  # takes long to import, and parsing does without

    arcs = minimize_scalar(loss_of_arcs, bounds=_RANGE, method="bounded", options={"xatol": 0.02}).x
    of_labels = minimize_scalar(loss_of_labels, bounds=_RANGE, method="bounded", options={"xatol": 0.02}).x
    return Temperatures(float(np.exp(arcs)), float(np.exp(of_labels)))


def _log_loss(probabilities: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    safe = probabilities.clip(1e-9, 1 - 1e-9)
    return float(-np.where(right, np.log(safe), np.log1p(-safe)).mean())


def _softmax(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    exponentials = np.exp(scores.astype(np.float64) - scores.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = exponentials / exponentials.sum(axis=1, keepdims=True)
    return shares


def _entropy(log_z: float, marginals: NDArray[np.float64], scores: NDArray[np.float64]) -> float:
    possible = marginals > 0.0
    return max(0.0, log_z - float((marginals[possible] * scores[possible]).sum()))
