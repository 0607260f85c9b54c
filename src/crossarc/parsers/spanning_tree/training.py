"""Training of the spanning-tree parser: its linear scorer, then the temperatures that make scores probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from crossarc.core import Sentence
from crossarc.parsers.linear.training import train_linear
from crossarc.parsers.spanning_tree.config import SpanningTreeConfig
from crossarc.parsers.spanning_tree.parser import SpanningTreeParser, Temperatures
from crossarc.parsers.spanning_tree.probabilities import fitted_temperatures
from crossarc.parsers.training import TrainingListener

__all__ = ["train_spanning_tree"]


def train_spanning_tree(
    treebank: Sequence[Sentence],
    config: SpanningTreeConfig | None = None,
    *,
    dev: Sequence[Sentence] = (),
    jobs: int = 1,
    checkpoint: Path | None = None,
    resume: bool = False,
    listener: TrainingListener | None = None,
) -> SpanningTreeParser:
    """Train on trees; the parameters are those of ``train_linear``. With ``dev``, probabilities are fitted to it."""
    config = config or SpanningTreeConfig()
    trained = train_linear(
        treebank, config, dev=dev, jobs=jobs, checkpoint=checkpoint, resume=resume, listener=listener
    )
    parser = SpanningTreeParser(trained.config, trained.scorer, trained.dev, trained.treebank)
    if dev:
        return replace(parser, temperatures=fitted_temperatures(parser, dev))
    return replace(parser, temperatures=Temperatures(1.0, 1.0) if config.learner == "crf" else None)
