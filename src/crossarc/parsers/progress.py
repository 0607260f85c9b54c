"""How training goes on, in lines of text."""

from __future__ import annotations

import sys

from crossarc.learning.listener import DevScores, EpochReport, TrainingListener
from crossarc.parsers.config import Config

__all__ = ["ProgressLines", "duration"]


class ProgressLines(TrainingListener):
    """A line on standard error for each epoch, and for what else there is to say."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def end_epoch(self, report: EpochReport) -> None:
        self.say(line_of(report, self.config))

    def interrupted(self, stage: str, epoch: int) -> None:
        self.say(f"interrupted: what is kept is as it was after epoch {epoch}")

    def sentences_left_out(self, sentences: int, reason: str) -> None:
        self.say(f"{sentences} sentences are not learnt from: {reason}")

    def arcs_left_out(self, arcs: int, how: str) -> None:
        self.say(f"{arcs} arcs {how}")

    def arcs_lifted(self, arcs: int, lifted: int, restored: int) -> None:
        share = 100 * lifted / max(arcs, 1)
        self.say(f"{lifted} of {arcs} arcs ({share:.2f} %) are lifted; their labels lead back to {restored} of them")

    def guide_trained(self, fold: int, folds: int, scores: DevScores) -> None:
        shown = f"UAS {100 * scores.uas:.2f} LAS {100 * scores.las:.2f}"
        self.say(f"guide {fold} of {folds}: {shown} on the part of the treebank that it has not seen")

    def pruned(self, candidates: float, recall: float) -> None:
        self.say(f"pruner: {candidates:.1f} heads a word on dev, the right one among them for {100 * recall:.2f} %")

    def say(self, text: str) -> None:
        """Where the lines go."""
        print(f"crossarc: {text}", file=sys.stderr, flush=True)


def line_of(report: EpochReport, config: Config) -> str:
    """One line about an epoch."""
    scores = f"  dev UAS {100 * report.dev.uas:.2f} LAS {100 * report.dev.las:.2f}" if report.dev else ""
    if report.dev_graph is not None:
        scores += f" graph F {100 * report.dev_graph:.2f}"
    if report.log_likelihood is not None:
        scores += f"  log-likelihood with prior {report.log_likelihood:.3f}"
    loss = "" if report.loss is None else f"loss {report.loss:.3f} ({_meaning_of_loss(report.stage, config)}), "
    left = "" if report.seconds_left is None else f"  about {duration(report.seconds_left)} left"
    return f"{report.stage} {report.epoch}: {loss}{report.words_per_second:,.0f} words/s{scores}{left}"


def _meaning_of_loss(stage: str, config: Config) -> str:
    """What is counted in training, for each word: before each update, and often with a search that looks for errors."""
    if stage == "network" or (stage == "heads" and getattr(config, "learner", None) == "crf"):
        return "-log p a word"
    what = {"labels": "wrong labels", "graphs": "wrong arcs"}.get(stage, "wrong heads")
    augmented = stage in ("heads", "graphs") and getattr(config, "adds_losses", True)
    return f"{what} a word in loss-augmented search" if augmented else f"{what} a word"


def duration(seconds: float) -> str:
    """Seconds, or minutes and hours where they are easier to read.

    >>> duration(83.2), duration(4000)
    ('1 min 23 s', '1 h 6 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
