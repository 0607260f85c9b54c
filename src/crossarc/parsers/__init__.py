"""Parsers: one folder for each system, one contract for all of them (``base``), found by name (``registry``)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crossarc.models import ModelError
from crossarc.parsers.base import Capability, Confidence, Parsed, ParseOptions, Parser, UnsupportedOption
from crossarc.parsers.registry import SYSTEMS, load, train
from crossarc.parsers.training import DevScores, EpochReport, TrainingListener

if TYPE_CHECKING:
    from crossarc.parsers.combined.config import CombinedConfig
    from crossarc.parsers.covington.config import CovingtonConfig
    from crossarc.parsers.generative.config import GenerativeConfig
    from crossarc.parsers.graph.config import GraphConfig
    from crossarc.parsers.ilp.config import IlpConfig
    from crossarc.parsers.neural.config import NeuralConfig
    from crossarc.parsers.spanning_tree.config import PRESETS, SpanningTreeConfig

__all__ = [
    "PRESETS",
    "SYSTEMS",
    "Capability",
    "CombinedConfig",
    "Confidence",
    "CovingtonConfig",
    "DevScores",
    "EpochReport",
    "GenerativeConfig",
    "GraphConfig",
    "IlpConfig",
    "ModelError",
    "NeuralConfig",
    "ParseOptions",
    "Parsed",
    "Parser",
    "SpanningTreeConfig",
    "TrainingListener",
    "UnsupportedOption",
    "load",
    "train",
]


def __getattr__(name: str) -> Any:
    """The configurations: a system is imported when it is first named."""
    for system in SYSTEMS.values():
        if name in (f"{system.class_prefix}Config", f"{system.class_prefix}Parser"):
            module = "config" if name.endswith("Config") else "parser"
            return getattr(import_module(f"{system.package}.{module}"), name)
    if name == "PRESETS":
        return SYSTEMS["spanning-tree"].presets
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
