"""Training of the spanning-tree parser: its linear scorer, then what makes probabilities of its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from crossarc.core import InputError, Sentence
from crossarc.evaluation.calibration import Calibration
from crossarc.io.problems import tree_problems
from crossarc.parsers.linear.training import train_linear, without_labels
from crossarc.parsers.spanning_tree.config import SpanningTreeConfig
from crossarc.parsers.spanning_tree.parser import SpanningTreeParser
from crossarc.parsers.training import TrainingSetup, checksum, with_treebank_defaults

__all__ = ["train"]


def train(treebank: Sequence[Sentence], config: SpanningTreeConfig, setup: TrainingSetup) -> SpanningTreeParser:
    """Train the spanning-tree parser: see ``crossarc.parsers.train``. With ``dev``, probabilities are fitted to it."""
    _check_heads(treebank, partial=config.learner == "crf")
    config = with_treebank_defaults(treebank, config)
    linear = train_linear(treebank, config, setup, setup.checkpoint_for(config, checksum(treebank)))
    config = replace(config, hash_bits=linear.config.hash_bits)
    parser = SpanningTreeParser(config, linear.scorer, linear.dev, linear.treebank)
    if setup.dev:
        return parser.calibrated(without_labels(setup.dev) if config.labels == "none" else setup.dev)
    return replace(parser, calibration=Calibration()) if config.learner == "crf" else parser


def _check_heads(treebank: Sequence[Sentence], *, partial: bool) -> None:
    """Raise ``InputError`` for heads that form a cycle, and for words without a head unless trees may be partial."""
    for sentence in treebank:
        for word, message in tree_problems(sentence):
            if not (partial and word is not None and sentence.head[word - 1] == "_"):
                raise InputError(message, sentence.place(word))
