"""Training of the neural parser."""

from __future__ import annotations

from collections.abc import Sequence

from crossarc.core import CrossarcError, MissingLibrary, Sentence
from crossarc.parsers.neural.config import NeuralConfig
from crossarc.parsers.neural.parser import NeuralParser
from crossarc.parsers.training import TrainingSetup, with_treebank_defaults

__all__ = ["train"]


def train(treebank: Sequence[Sentence], config: NeuralConfig, setup: TrainingSetup) -> NeuralParser:
    """Train the neural parser: see ``crossarc.parsers.train``. With ``dev``, probabilities are fitted to it."""
    if not any(map(len, treebank)):
        raise CrossarcError("cannot train on an empty treebank")
    if config.encoder and config.vectors:
        raise CrossarcError("an encoder has vectors of its own: --encoder or --vectors, not both")
    try:
        from crossarc.parsers.neural.learning import learn  # brings torch with it
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingLibrary("training a neural parser needs torch", "neural") from None
    return learn(treebank, with_treebank_defaults(treebank, config.beside(())), setup)
