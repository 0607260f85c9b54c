"""Parsers: features, scores, decoder and learner, put together; model files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crossarc.core import Sentence
from crossarc.models.file import ModelError, read_header
from crossarc.parsers.covington.config import CovingtonConfig
from crossarc.parsers.covington.parser import CovingtonParser
from crossarc.parsers.covington.training import train_covington
from crossarc.parsers.generative.config import GenerativeConfig
from crossarc.parsers.generative.parser import GenerativeParser
from crossarc.parsers.generative.training import train_generative
from crossarc.parsers.graph.config import GraphConfig
from crossarc.parsers.graph.parser import GraphParser
from crossarc.parsers.graph.training import train_graph
from crossarc.parsers.ilp.config import IlpConfig
from crossarc.parsers.ilp.parser import IlpParser
from crossarc.parsers.ilp.training import train_ilp
from crossarc.parsers.spanning_tree.config import PRESETS, SpanningTreeConfig
from crossarc.parsers.spanning_tree.parser import ScoredTree, SpanningTreeParser
from crossarc.parsers.spanning_tree.training import train_spanning_tree
from crossarc.parsers.training import DevScores, EpochReport, TrainingListener

__all__ = [
    "PRESETS",
    "CovingtonConfig",
    "CovingtonParser",
    "DevScores",
    "EpochReport",
    "GenerativeConfig",
    "GenerativeParser",
    "GraphConfig",
    "GraphParser",
    "IlpConfig",
    "IlpParser",
    "ModelError",
    "Parser",
    "ScoredTree",
    "SpanningTreeConfig",
    "SpanningTreeParser",
    "TrainingListener",
    "load",
    "parser_class",
    "read_header",
    "train",
    "train_covington",
    "train_generative",
    "train_graph",
    "train_ilp",
    "train_spanning_tree",
]

Parser = SpanningTreeParser | CovingtonParser | GenerativeParser | IlpParser | GraphParser

_SYSTEMS: dict[str, type[Parser]] = {
    "spanning-tree": SpanningTreeParser,
    "covington": CovingtonParser,
    "generative": GenerativeParser,
    "ilp": IlpParser,
    "graph": GraphParser,
}


def train(
    treebank: Sequence[Sentence],
    config: SpanningTreeConfig | CovingtonConfig | GenerativeConfig | IlpConfig | GraphConfig | None = None,
    *,
    dev: Sequence[Sentence] = (),
    listener: TrainingListener | None = None,
) -> Parser:
    """A parser of the kind that the configuration is for; by default the best we have.

    With ``dev``, the weights after the epoch that is best there are kept.
    """
    if isinstance(config, CovingtonConfig):
        return train_covington(treebank, config, dev=dev, listener=listener)
    if isinstance(config, GenerativeConfig):
        return train_generative(treebank, config, dev=dev, listener=listener)
    if isinstance(config, IlpConfig):
        return train_ilp(treebank, config, dev=dev, listener=listener)
    if isinstance(config, GraphConfig):
        return train_graph(treebank, config, dev=dev, listener=listener)
    return train_spanning_tree(treebank, config, dev=dev, listener=listener)


def load(path: str | Path) -> Parser:
    """The parser in a model file. Raises ``ModelError`` that says what is wrong with the file."""
    return parser_class(path).load(path)


def parser_class(path: str | Path) -> type[Parser]:
    """The class of the parser in a model file."""
    system = read_header(path)["system"]
    if system == "training":
        raise ModelError(f"{path}: the state of an interrupted training; crossarc train --resume goes on with it")
    if system not in _SYSTEMS:
        raise ModelError(f"{path}: a model of a system that this version of Crossarc does not know: {system}")
    return _SYSTEMS[system]
