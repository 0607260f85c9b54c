"""Parsers: features, scores, decoder and learner, put together; model files."""

from crossarc.parsers.model_file import ModelError, read_header
from crossarc.parsers.spanning_tree import (
    Attachment,
    EpochReport,
    SpanningTreeConfig,
    SpanningTreeParser,
    train_spanning_tree,
)

__all__ = [
    "Attachment",
    "EpochReport",
    "ModelError",
    "SpanningTreeConfig",
    "SpanningTreeParser",
    "read_header",
    "train_spanning_tree",
]
