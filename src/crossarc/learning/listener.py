"""Who is told how training goes on: a progress bar, a log, a test."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DevScores", "EpochReport", "TrainingListener"]


class DevScores(NamedTuple):
    """Scores on the dev set: shares of words with the right head, and with the right head and label."""

    uas: float
    las: float


class EpochReport(NamedTuple):
    """What there is to say after an epoch."""

    stage: str  # "tagger", "pruner", "labels", "heads", "links", "graphs" or "em"
    epoch: int
    loss: float | None  # share of words that were wrong in training, if known; log-linear: - log p for each word
    words_per_second: float
    dev: DevScores | None
    dev_graph: float | None = None  # F of all labelled arcs of DEPS
    log_likelihood: float | None = None  # of EM: of all sentences, times the prior of the model
    seconds_left: float | None = None  # until the last epoch, if all take as long as those before


class TrainingListener:
    """Is told how training goes on; does nothing with it."""

    def begin_epoch(self, stage: str, epoch: int, words: int) -> None:
        """An epoch over this many words begins."""

    def progress(self, stage: str, words: int) -> None:
        """This many more words have been learnt from."""

    def end_epoch(self, report: EpochReport) -> None:
        """An epoch has ended."""

    def interrupted(self, stage: str, epoch: int) -> None:
        """Training was interrupted; what is kept is as it was after this epoch."""

    def kept(self, stage: str, epoch: int, last_epoch: int) -> None:
        """Training has ended with ``last_epoch``; the result is as it was after ``epoch``."""

    def sentences_left_out(self, sentences: int, reason: str) -> None:
        """So many sentences cannot be learnt from."""

    def arcs_left_out(self, arcs: int, how: str) -> None:
        """So many arcs cannot be learnt as they are in the treebank."""

    def arcs_lifted(self, arcs: int, lifted: int, restored: int) -> None:
        """Of so many arcs, so many were lifted (pseudo-projective parsing); labels lead back to these for the last."""

    def guide_trained(self, fold: int, folds: int, scores: DevScores) -> None:
        """The guide of a stacked parser was trained without a part of the treebank, on which it has these scores."""

    def pruned(self, candidates: float, recall: float) -> None:
        """The pruner leaves so many heads for each word of the dev set, the right one among them for this share."""
