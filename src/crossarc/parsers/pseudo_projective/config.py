"""How crossing arcs are encoded, and what the projective parser must be like."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from crossarc.core import CrossarcError
from crossarc.parsers.config import Config, setting
from crossarc.parsers.pseudo_projective.encoding import Encoding

__all__ = ["PseudoProjectiveConfig", "inner_config"]


@dataclass(frozen=True)
class PseudoProjectiveConfig(Config):
    """Which encoding; how the projective parser is trained is in its own configuration."""

    encoding: Encoding = setting("head", "What labels say of lifted arcs.")


def inner_config(config: Config) -> Config:
    """The configuration of a projective parser that learns encoded labels; ``CrossarcError`` if there is none."""
    own: Any = config
    if not hasattr(own, "projective"):
        raise CrossarcError("pseudo-projective parsing needs a system that can be told to make projective trees")
    if getattr(own, "labels", None) == "none":
        raise CrossarcError("pseudo-projective parsing needs labels: they say which arcs are lifted")
    found: Config = replace(own, projective=True)
    return found
