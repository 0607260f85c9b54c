"""Parsers: features, scores, decoder and learner, put together; model files."""

from __future__ import annotations

from pathlib import Path

from crossarc.parsers.config import PRESETS, SpanningTreeConfig
from crossarc.parsers.model_file import ModelError, read_header
from crossarc.parsers.spanning_tree import SYSTEM, Attachment, ScoredTree, SpanningTreeParser
from crossarc.parsers.training import EpochReport, Watcher, train_spanning_tree

__all__ = [
    "PRESETS",
    "Attachment",
    "EpochReport",
    "ModelError",
    "ScoredTree",
    "SpanningTreeConfig",
    "SpanningTreeParser",
    "Watcher",
    "load",
    "parser_class",
    "read_header",
    "train",
    "train_spanning_tree",
]

train = train_spanning_tree


def load(path: str | Path) -> SpanningTreeParser:
    """The parser in a model file. Raises ``ModelError`` that says what is wrong with the file."""
    return parser_class(path).load(path)


def parser_class(path: str | Path) -> type[SpanningTreeParser]:
    """The class of the parser in a model file."""
    system = read_header(path)["system"]
    if system == "training":
        raise ModelError(f"{path}: the state of an interrupted training; crossarc train --resume goes on with it")
    if system != SYSTEM:
        raise ModelError(f"{path}: a model of a system that this version of Crossarc does not know: {system}")
    return SpanningTreeParser
