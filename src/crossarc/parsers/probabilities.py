"""How sure a parser is: probabilities of arcs, labels and trees, decoding by them, k best trees (MS07 §4.2).

The scores of arcs, divided by a temperature, make a log-linear model of trees; the scores of the labels of an arc, by
another one, a model of its label. A log-linear parser (``--learner crf``) is such a model by itself. For other learners
scores are no probabilities until they have been calibrated on held-out trees. Any scorer will do that can say what
a ``ScoredBatch`` has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import CrossarcError, Sentence
from crossarc.evaluation.calibration import Calibration, Temperatures, fit_curve, fit_temperature, softmax
from crossarc.parsers.base import Confidence, Judged, Parsed, ParseOptions, labelled
from crossarc.trees import best_trees, k_best_trees, log_partitions_and_marginals
from crossarc.trees.sums import entropy_of

__all__ = ["Probabilities", "ScoredBatch", "analysed", "fitted_calibration", "judged", "label_numbers"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.floating[Any]]
Doubles = NDArray[np.float64]

_LEFT_OUT = 0.01  # how often pruning leaves out the right head, about: what makes an arc that was pruned so unlikely
_RESCORED = 4  # trees that are scored anew for each of the k best, if arcs are not all that is scored


class ScoredBatch(ABC):
    """What a scorer and its search know of a batch of sentences. Arrays of nodes have all sentences in a row.

    Attributes
    ----------
    starts : array of shape (sentences + 1,)
        Where the nodes of each sentence begin; the last is the number of all nodes.
    heads, labels : arrays of shape (nodes,)
        The trees that the search finds best; -1 at the root.
    potentials : sequence of arrays of shape (n+1, n+1)
        ``[h, m]``: what the arc from h to m counts in a tree of the sentence; -inf where there may be none.
    single_root, projective : bool
        Which trees there are.
    arc_factored : bool
        Whether a tree's score is the sum of its potentials; if not, these speak of the trees near the best one only.
    """

    starts: Ints
    heads: Ints
    labels: Ints
    potentials: Sequence[Doubles]
    single_root: bool
    projective: bool
    arc_factored: bool = True

    @abstractmethod
    def label_scores(self, heads: Ints) -> Floats:
        """``[i, l]``: the score of each label of the arc into each node, in trees with these heads; -inf forbids it."""

    @abstractmethod
    def label_scores_of_tree(self, b: int, heads: Ints) -> Floats:
        """``[m, l]``: the same for a tree of sentence b alone."""

    @abstractmethod
    def label_scores_of_arcs(self, b: int) -> Floats:
        """``[h, m, l]``: the same for each arc of sentence b with a potential, in the best tree but for that arc."""

    def tree_scores(self, b: int, trees: Ints) -> tuple[Ints, Doubles]:
        """``[k, m]`` and ``[k]``: the best labels and the scores of some trees of sentence b."""
        words = np.arange(1, trees.shape[1])
        labels = np.full_like(trees, -1)
        for tree, own in zip(trees, labels, strict=True):
            own[1:] = self.label_scores_of_tree(b, tree)[1:].argmax(axis=1)
        scores: Doubles = self.potentials[b][trees[:, 1:], words].sum(axis=1)
        return labels, scores

    def possible_arcs(self, b: int) -> Bools:
        """``[h, m]``: the arcs that constraints leave sentence b, whether they have a potential or were pruned."""
        return real_arcs(len(self.potentials[b])) & np.isfinite(self.potentials[b])

    def potentials_with(self, heads: Ints) -> Sequence[Doubles]:
        """The potentials, in which the arcs of these heads have one too, even if they were pruned."""
        return self.potentials

    @property
    def scores(self) -> list[float]:
        """Of the best trees, by their potentials."""
        return [
            float(own[self.heads[nodes][1:], np.arange(1, len(own))].sum())
            for own, nodes in zip(self.potentials, self.slices, strict=True)
        ]

    @property
    def shape(self) -> dict[str, Any]:
        """Which trees there are, as the functions of ``crossarc.trees`` want it."""
        return {"single_root": self.single_root, "projective": self.projective}

    @property
    def slices(self) -> list[slice]:
        """The nodes of each sentence."""
        return [slice(i, j) for i, j in zip(self.starts.tolist(), self.starts[1:].tolist(), strict=False)]


def real_arcs(size: int) -> Bools:
    """``[h, m]``: all but those into the root, and from a word to itself."""
    real = ~np.eye(size, dtype=np.bool_)
    real[:, 0] = False
    return real


class Probabilities:
    """The distributions over the trees of a batch of sentences; sums over all trees are found once for all of them."""

    def __init__(
        self, scored: ScoredBatch, calibration: Calibration, potentials: Sequence[Doubles] | None = None
    ) -> None:
        self.scored, self.calibration, self.shape = scored, calibration, scored.shape
        self.temperatures = calibration.temperatures
        given = scored.potentials if potentials is None else potentials
        self.potentials: list[Doubles] = [scores / self.temperatures.arcs for scores in given]
        self.log_z, self.tree_marginals = log_partitions_and_marginals(self.potentials, **self.shape)
        self.marginals = [
            self._calibrated(b, marginals, scored.heads[nodes])
            for b, (marginals, nodes) in enumerate(zip(self.tree_marginals, scored.slices, strict=True))
        ]

    def _calibrated(self, b: int, marginals: Doubles, heads: Ints) -> Doubles:
        """The marginals of arcs with those of the parser's own on the curve."""
        found, possible = np.zeros_like(marginals), self.scored.possible_arcs(b)
        found[:, 1:] = self.calibration.arcs.applied(marginals.T[1:], heads[1:], possible.T[1:]).T
        return found

    def label_shares(self, scores: Floats) -> Doubles:
        """``[i, l]``: the probability of each label of an arc, given that arc, by the scores of its labels."""
        shares = softmax(scores / self.temperatures.labels)
        return self.calibration.labels.applied(shares, shares.argmax(axis=1), np.isfinite(scores))

    def labelled_shares(self, b: int) -> Doubles:
        """``[h, m, l]``: the probability of each label of each arc of sentence b, given that arc."""
        scores = self.scored.label_scores_of_arcs(b)
        return self.label_shares(scores.reshape(-1, scores.shape[2])).reshape(scores.shape)

    def labelled_marginals(self, b: int) -> Doubles:
        """``[h, m, l]``: the probability of each labelled arc of sentence b."""
        found: Doubles = self.marginals[b][:, :, None] * self.labelled_shares(b)
        return found

    def min_risk(self, *, by_labels: bool) -> tuple[Ints, Ints]:
        """Heads and labels of the trees with the most (labelled) arcs that are expected to be right."""
        gains = self.marginals
        if by_labels:
            gains = [arcs * self.labelled_shares(b).max(axis=2) for b, arcs in enumerate(gains)]
        safest = best_trees([np.where(arcs > 0.0, arcs, -np.inf) for arcs in gains], **self.shape)
        heads = np.concatenate([tree.heads for tree in safest])
        scores = self.scored.label_scores(heads)
        return heads, np.where(heads < 0, -1, scores.argmax(axis=1))

    def log_probabilities(self, b: int, trees: Ints, scores: Doubles) -> Doubles:
        """log p of some trees of sentence b, the best one among them, with these scores.

        If arcs are not all that is scored, the potentials are right for trees that differ from the best one in a single
        arc. Here the given trees count with their scores, all others with their potentials.
        """
        totals = self.potentials[b][trees[:, 1:], np.arange(1, trees.shape[1])].sum(axis=1)
        log_p: Doubles = totals - float(self.log_z[b])
        if self.scored.arc_factored:
            return log_p
        best = int(np.flatnonzero((trees == self.scored.heads[self.scored.slices[b]]).all(axis=1))[0])
        by_score = log_p[best] + (scores - scores[best]) / self.temperatures.arcs
        others = max(0.0, 1.0 - float(np.exp(log_p).sum()))
        found: Doubles = by_score - np.logaddexp.reduce([*by_score, np.log(others) if others else -np.inf])
        return found

    def confidence(self, b: int, heads: Ints, labels: Ints, shares: Doubles, *, with_labels: bool) -> Confidence:
        """How sure the parser is of a tree of sentence b, given the shares of its labels."""
        words = np.arange(len(heads))
        arcs = self.marginals[b][heads, words]
        log_p = float(self.potentials[b][heads[1:], words[1:]].sum()) - float(self.log_z[b])
        return Confidence(
            arcs,
            arcs * shares[words, labels],
            log_p,
            entropy_of(self.potentials[b], float(self.log_z[b]), self.tree_marginals[b]),
            self.marginals[b],
            shares,
            self.potentials[b],
            **self.shape,
            labelled_log_probability=log_p + log_p_of_labels(shares, labels),
            labelled_marginals=self.labelled_marginals(b) if with_labels else None,
        )


def log_p_of_labels(shares: Doubles, labels: Ints) -> float:
    """log p of the labels of a tree, given its heads, by the shares of its labels."""
    with np.errstate(divide="ignore"):
        return float(np.log(shares[np.arange(1, len(labels)), labels[1:]]).sum())


def analysed(
    sentences: Sequence[Sentence],
    scored: ScoredBatch,
    names: Sequence[str],
    calibration: Calibration | None,
    options: ParseOptions,
) -> list[Parsed]:
    """Trees with their probabilities, or several of them, as the options want it; ``names``: of the labels."""
    sums = None
    if calibration is not None or options.confidence or options.labelled or options.decode != "best":
        sums = Probabilities(scored, known(calibration))
    if options.k > 1 or (options.labelled and options.decode == "best"):
        return [_k_best(sentence, b, scored, names, sums, options) for b, sentence in enumerate(sentences)]
    assert sums is not None
    heads, labels = scored.heads, scored.labels
    if options.decode != "best":
        heads, labels = sums.min_risk(by_labels=options.labelled)
    shares = sums.label_shares(scored.label_scores(heads))
    found = []
    for b, (sentence, nodes) in enumerate(zip(sentences, scored.slices, strict=True)):
        own_heads, own_labels = heads[nodes], labels[nodes]
        sure = sums.confidence(b, own_heads, own_labels, shares[nodes], with_labels=options.labelled)
        if options.decode == "marginal-threshold":
            likely = (sure.labels if options.labelled else sure.arcs) >= options.threshold
            own_heads, own_labels = np.where(likely, own_heads, -1), np.where(likely, own_labels, -1)
        tree = labelled(sentence, own_heads, own_labels, names)
        log_p = sure.labelled_log_probability if options.labelled else sure.log_probability
        assert log_p is not None
        found.append(Parsed(tree, None, float(np.exp(log_p)), confidence=sure if options.confidence else None))
    return found


def known(calibration: Calibration | None) -> Calibration:
    """The calibration of a parser, if it has one."""
    if calibration is None:
        raise CrossarcError(
            "this model knows no probabilities: it was trained without --dev; "
            "crossarc calibrate DEV -m MODEL --fit makes up for that"
        )
    return calibration


class _Candidate(NamedTuple):
    """One of the trees that may be among the k best."""

    heads: Ints
    labels: Ints
    score: float
    log_p: float | None  # with its labels, if trees are labelled
    shares: Doubles | None  # of its labels


def _k_best(
    sentence: Sentence,
    b: int,
    scored: ScoredBatch,
    names: Sequence[str],
    sums: Probabilities | None,
    options: ParseOptions,
) -> Parsed:
    """The k best trees of sentence b, distinct, the most probable first; fewer if there are fewer.

    Exact if scores are those of arcs and labels. Else the candidates are the best trees by what each arc adds to the
    best tree; they are then put in the order of their full scores.
    """
    if not len(sentence):
        nothing = Parsed(sentence, 0.0, 1.0, confidence=_of_nothing(b, sums) if options.confidence else None)
        return replace(nothing, trees=(nothing,)) if options.k > 1 else nothing
    if sums is None:
        candidates = _candidates(b, scored, scored.potentials[b], options.k)
    elif options.labelled:
        candidates = _labelled_candidates(b, scored, sums, options.k)
    else:
        candidates = _with_probabilities(b, sums, _candidates(b, scored, sums.potentials[b], options.k))
    candidates.sort(key=lambda tree: -tree.score if tree.log_p is None else -tree.log_p)
    found = []
    for tree in candidates[: options.k]:
        parsed = Parsed(labelled(sentence, tree.heads, tree.labels, names), tree.score)
        if sums is not None:
            assert tree.log_p is not None
            parsed = replace(parsed, probability=float(np.exp(tree.log_p)))
        if sums is not None and options.confidence:
            assert tree.shares is not None
            sure = sums.confidence(b, tree.heads, tree.labels, tree.shares, with_labels=options.labelled)
            parsed = replace(parsed, confidence=_agreeing(sure, tree, with_labels=options.labelled))
        found.append(parsed)
    return replace(found[0], trees=tuple(found)) if options.k > 1 else found[0]


def _of_nothing(b: int, sums: Probabilities | None) -> Confidence:
    """How sure a parser is of the only tree of an empty sentence."""
    assert sums is not None
    root = np.array([-1])
    shares = sums.label_shares(sums.scored.label_scores_of_tree(b, root))
    return sums.confidence(b, root, root, shares, with_labels=True)


def _agreeing(sure: Confidence, tree: _Candidate, *, with_labels: bool) -> Confidence:
    """What is known of one of the k best trees, with the probability that it has among them."""
    assert tree.log_p is not None
    assert tree.shares is not None
    of_labels = log_p_of_labels(tree.shares, tree.labels)
    of_heads = tree.log_p - of_labels if with_labels else tree.log_p
    return replace(sure, log_probability=of_heads, labelled_log_probability=of_heads + of_labels)


def _candidates(b: int, scored: ScoredBatch, potentials: Doubles, k: int) -> list[_Candidate]:
    """Trees with different heads, the k best among them."""
    wanted = k if scored.arc_factored else _RESCORED * k
    others = k_best_trees(potentials, wanted, **scored.shape)
    trees = np.unique(np.stack([scored.heads[scored.slices[b]], *(tree.heads for tree in others)]), axis=0)
    labels, scores = scored.tree_scores(b, trees)
    return [
        _Candidate(heads, own, float(score), None, None)
        for heads, own, score in zip(trees, labels, scores, strict=True)
    ]


def _with_probabilities(b: int, sums: Probabilities, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The candidates with the probabilities of their heads and the shares of their labels."""
    trees, scores = np.stack([tree.heads for tree in candidates]), np.array([tree.score for tree in candidates])
    return [
        tree._replace(log_p=float(log_p), shares=sums.label_shares(sums.scored.label_scores_of_tree(b, tree.heads)))
        for tree, log_p in zip(candidates, sums.log_probabilities(b, trees, scores), strict=True)
    ]


def _labelled_candidates(b: int, scored: ScoredBatch, sums: Probabilities, k: int) -> list[_Candidate]:
    """Trees with different heads or labels, the k most probable among them."""
    with np.errstate(divide="ignore"):
        potentials = sums.potentials[b][:, :, None] + np.log(sums.labelled_shares(b))
    trees = k_best_trees(potentials, k if scored.arc_factored else _RESCORED * k, **scored.shape)
    best = scored.heads[scored.slices[b]]
    by_heads: dict[tuple[int, ...], set[tuple[int, ...]]] = {tuple(best.tolist()): set()}
    for tree in trees:
        assert tree.labels is not None
        by_heads.setdefault(tuple(tree.heads.tolist()), set()).add(tuple(tree.labels.tolist()))
    different = np.array(list(by_heads))
    labels, scores = scored.tree_scores(b, different)
    of_heads = [
        _Candidate(heads, own, float(score), None, None)
        for heads, own, score in zip(different, labels, scores, strict=True)
    ]
    found = []
    for one, labellings in zip(_with_probabilities(b, sums, of_heads), by_heads.values(), strict=True):
        assert one.log_p is not None
        assert one.shares is not None
        for own_labels in {tuple(one.labels.tolist())} | {(-1, *labelling[1:]) for labelling in labellings}:
            array = np.array(own_labels)
            found.append(one._replace(labels=array, log_p=one.log_p + log_p_of_labels(one.shares, array)))
    return found


def judged(
    sentences: Sequence[Sentence], scored: ScoredBatch, names: Sequence[str], calibration: Calibration | None
) -> list[Judged]:
    """How probable the heads and labels that sentences have are.

    Heads that were pruned are let in again, so that it is known which of them are the least likely.
    """
    heads = np.concatenate([sentence.heads for sentence in sentences])
    sums = Probabilities(scored, known(calibration), scored.potentials_with(heads))
    labels = label_numbers(sentences, names)
    shares, own_shares = (sums.label_shares(scored.label_scores(trees)) for trees in (heads, scored.heads))
    found = []
    for b, (sentence, nodes) in enumerate(zip(sentences, scored.slices, strict=True)):
        words = np.arange(len(sentence) + 1)
        own_heads, own_labels = scored.heads[nodes], scored.labels[nodes]
        sure = sums.confidence(b, own_heads, own_labels, own_shares[nodes], with_labels=False)
        tree = labelled(sentence, own_heads, own_labels, names)
        arcs, pruned = sums.marginals[b][heads[nodes], words], np.isneginf(scored.potentials[b][heads[nodes], words])
        found.append(
            Judged(
                np.where(pruned, _LEFT_OUT * arcs, arcs),
                np.where(labels[nodes] < 0, 0.0, shares[nodes][words, labels[nodes]]),
                Parsed(tree, None, sure.probability, confidence=sure),
            )
        )
    return found


def fitted_calibration(scored: ScoredBatch, names: Sequence[str], gold: Sequence[Sentence]) -> Calibration:
    """The calibration under which the probabilities of the parser's own arcs and labels fit best to gold trees."""
    heads, labels = scored.heads, scored.labels
    words = np.flatnonzero(heads >= 0)
    right = heads[words] == np.concatenate([sentence.heads for sentence in gold])[words]

    def of_arcs(temperature: float) -> Doubles:
        potentials = [scores / temperature for scores in scored.potentials]
        _, marginals = log_partitions_and_marginals(potentials, **scored.shape)
        chosen = [
            matrix[heads[nodes], np.arange(len(matrix))] for matrix, nodes in zip(marginals, scored.slices, strict=True)
        ]
        return np.concatenate(chosen)[words]

    with_head = words[right]
    right_labels = labels[with_head] == label_numbers(gold, names)[with_head]
    label_scores = scored.label_scores(heads)[with_head]

    def of_labels(temperature: float) -> Doubles:
        shares: Doubles = softmax(label_scores / temperature).max(axis=1)
        return shares

    temperatures = Temperatures(fit_temperature(of_arcs, right), fit_temperature(of_labels, right_labels))
    return Calibration(
        temperatures,
        fit_curve(of_arcs(temperatures.arcs), right),
        fit_curve(of_labels(temperatures.labels), right_labels),
    )


def label_numbers(sentences: Sequence[Sentence], names: Sequence[str]) -> Ints:
    """The numbers of the labels of all nodes; -1: the root, or a label without a number."""
    number = {label: i for i, label in enumerate(names)}
    return np.array(
        [number.get(label, -1) for sentence in sentences for label in ("", *sentence.deprel)], dtype=np.int64
    )
