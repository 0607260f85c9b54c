"""What every training needs: the treebank as arrays, epochs over it, scores on the dev set, somebody who watches."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import eq
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from crossarc.core import CrossarcError, Sentence
from crossarc.features.attributes import attributes_of
from crossarc.parsers.config import Config
from crossarc.trees.shape import is_projective

__all__ = [
    "DevScores",
    "EpochReport",
    "Gold",
    "TrainingListener",
    "Treebank",
    "best_so_far",
    "checksum",
    "dev_scores",
    "possible_trees",
    "with_treebank_defaults",
]

AnyConfig = TypeVar("AnyConfig", bound=Config)

_AT_ONCE = 50  # sentences in one call of a kernel


class DevScores(NamedTuple):
    """Shares of words with the right head, and with the right head and label."""

    uas: float
    las: float


class EpochReport(NamedTuple):
    """What a progress display may want to know after each epoch."""

    stage: str  # "tagger", "pruner", "labels", "heads", "links" or "graphs"
    epoch: int
    loss: float | None  # share of words that were wrong in training, if known; log-linear: - log p for each word
    words_per_second: float
    dev: DevScores | None
    dev_graph: float | None = None  # F of all labelled arcs of DEPS


class TrainingListener:
    """Is told how training goes on; does nothing with it."""

    def epoch(self, stage: str, epoch: int, words: int) -> None:
        """An epoch over this many words begins."""

    def learnt(self, stage: str, words: int) -> None:
        """This many more words have been learnt from."""

    def report(self, report: EpochReport) -> None:
        """An epoch has ended."""

    def left_out(self, sentences: int, reason: str) -> None:
        """So many sentences cannot be learnt from."""

    def unrepresented(self, arcs: int, how: str) -> None:
        """So many arcs cannot be learnt as they are in the treebank."""

    def pruned(self, candidates: float, recall: float) -> None:
        """The pruner leaves so many heads for each word of the dev set, the right one among them for this share."""

    def likelihood(self, start: int, iteration: int, log_likelihood: float, sentences_per_second: float) -> None:
        """EM knows how probable its sentences are; with a prior, how probable the model is too."""


class Gold(NamedTuple):
    """The trees of all sentences, one after the other."""

    heads: NDArray[np.int64]
    labels: NDArray[np.int64]
    n_labels: int


class Treebank:
    """Trees to learn from, as the kernels want them."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        if not sentences:
            raise CrossarcError("cannot train on an empty treebank")
        self.checksum = checksum(sentences)
        self.batch = attributes_of(sentences)
        self.labels = tuple(sorted({label for sentence in sentences for label in sentence.deprel}))
        number = {label: i for i, label in enumerate(self.labels)}
        gold_labels = np.array([number.get(label, -1) for s in sentences for label in ("", *s.deprel)])
        self.gold = Gold(np.concatenate([s.heads for s in sentences]), gold_labels, len(self.labels))
        self.words = sum(map(len, sentences))

    def epoch(
        self,
        stage: str,
        epoch: int,
        learn: Callable[[NDArray[np.int64]], float],
        rng: np.random.Generator,
        listener: TrainingListener,
    ) -> tuple[float, float]:
        """Learn from all sentences in random order: loss for each word, words per second."""
        listener.epoch(stage, epoch, self.words)
        start = time.perf_counter()
        loss = 0.0
        starts = self.batch.starts
        order = rng.permutation(len(starts) - 1)
        for chosen in np.array_split(order, len(order) // _AT_ONCE + 1):
            loss += learn(chosen)
            listener.learnt(stage, int((starts[chosen + 1] - starts[chosen] - 1).sum()))
        return loss / self.words, self.words / (time.perf_counter() - start)


def with_treebank_defaults(treebank: Sequence[Sentence], config: AnyConfig) -> AnyConfig:
    """The configuration with what it leaves to the treebank filled in."""
    found: dict[str, Any] = {}
    if getattr(config, "projective", True) is None:
        found["projective"] = all(is_projective(sentence.heads) for sentence in treebank)
    if getattr(config, "single_root", True) is None:
        found["single_root"] = all(sentence.head.count("0") == 1 for sentence in treebank)
    return replace(config, **found)


def possible_trees(
    treebank: Sequence[Sentence], listener: TrainingListener, *, projective: bool, single_root: bool
) -> list[Sentence]:
    """The sentences whose gold tree is one of those that the model sums over: no other has a probability."""
    possible = [
        sentence
        for sentence in treebank
        if not (projective and not is_projective(sentence.heads))
        and not (single_root and sentence.head.count("0") != 1)
    ]
    if len(possible) < len(treebank):
        listener.left_out(len(treebank) - len(possible), "the model gives their trees no probability")
    return possible


def dev_scores(gold: Sequence[Sentence], parsed: Iterator[Sentence]) -> DevScores:
    """UAS and LAS; the scorer of ``evaluation``, which gives the same, takes as long as parsing."""
    heads = labels = 0
    for sentence, found in zip(gold, parsed, strict=True):
        for right_head, right_label in zip(
            map(eq, sentence.head, found.head), map(eq, sentence.deprel, found.deprel), strict=True
        ):
            heads += right_head
            labels += right_head and right_label
    words = sum(map(len, gold))
    return DevScores(heads / words, labels / words)


def best_so_far(best: DevScores | None, current: DevScores | None) -> bool:
    """Whether an epoch is at least as good as the best before it; without dev data, the last is taken for the best."""
    return best is None or current is None or current.las >= best.las


def checksum(sentences: Sequence[Sentence]) -> str:
    """A short name of what a parser was trained on."""
    digest = hashlib.sha256()
    for sentence in sentences:
        digest.update(repr(sentence.columns[:7]).encode())
    return digest.hexdigest()[:16]
