"""Training of the spanning-tree parser: its linear scorer, then the temperatures that make scores probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from crossarc.core import Sentence
from crossarc.evaluation.calibration import Temperatures
from crossarc.parsers.linear.training import train_linear
from crossarc.parsers.spanning_tree.config import SpanningTreeConfig
from crossarc.parsers.spanning_tree.parser import SpanningTreeParser
from crossarc.parsers.training import Checkpoint, TrainingListener, checksum, with_treebank_defaults

__all__ = ["train"]


def train(
    treebank: Sequence[Sentence],
    config: SpanningTreeConfig,
    *,
    dev: Sequence[Sentence] = (),
    listener: TrainingListener | None = None,
    checkpoint: Path | None = None,
    resume: bool = False,
    jobs: int = 1,
) -> SpanningTreeParser:
    """Train the spanning-tree parser: see ``crossarc.parsers.train``. With ``dev``, probabilities are fitted to it."""
    config = with_treebank_defaults(treebank, config)
    state = Checkpoint(checkpoint, config, checksum(treebank))
    saved = state.read() if resume else None
    linear = train_linear(treebank, config, dev=dev, listener=listener, checkpoint=state, saved=saved, jobs=jobs)
    parser = SpanningTreeParser(config, linear.scorer, linear.dev, linear.treebank)
    if dev:
        return parser.calibrated(dev)
    return replace(parser, temperatures=Temperatures(1.0, 1.0)) if config.learner == "crf" else parser
