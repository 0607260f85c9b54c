"""Training of the spanning-tree parser: its linear scorer, then the temperatures that make scores probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from crossarc.core import Sentence
from crossarc.evaluation.calibration import Temperatures
from crossarc.parsers.linear.training import train_linear
from crossarc.parsers.spanning_tree.config import SpanningTreeConfig
from crossarc.parsers.spanning_tree.parser import SpanningTreeParser
from crossarc.parsers.training import TrainingSetup, checksum, with_treebank_defaults

__all__ = ["train"]


def train(treebank: Sequence[Sentence], config: SpanningTreeConfig, setup: TrainingSetup) -> SpanningTreeParser:
    """Train the spanning-tree parser: see ``crossarc.parsers.train``. With ``dev``, probabilities are fitted to it."""
    config = with_treebank_defaults(treebank, config)
    linear = train_linear(treebank, config, setup, setup.checkpoint_for(config, checksum(treebank)))
    parser = SpanningTreeParser(config, linear.scorer, linear.dev, linear.treebank)
    if setup.dev:
        return parser.calibrated(setup.dev)
    return replace(parser, temperatures=Temperatures(1.0, 1.0)) if config.learner == "crf" else parser
