"""How parsers are stacked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from crossarc.core import CrossarcError
from crossarc.parsers.config import Config, setting

__all__ = ["StackedConfig", "inner_config"]

_GUIDE = "guide"  # the feature set that looks at the guide


@dataclass(frozen=True)
class StackedConfig(Config):
    """Who the guide is; how the other parser is trained is in its own configuration."""

    guide: str = setting("covington", "The guide: a system or a preset, which is then trained, or a trained model.")


def inner_config(config: Config) -> Config:
    """The configuration of a parser whose features look at a guide, too."""
    own: Any = config
    if not hasattr(own, "features"):
        raise CrossarcError("a guide speaks through features: the parser must be of a system with feature sets")
    found: Config = replace(own, features=f"{own.features}+{_GUIDE}")
    return found
