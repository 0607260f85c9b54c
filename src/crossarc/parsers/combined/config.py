"""How parsers are combined."""

from __future__ import annotations

from dataclasses import dataclass

from crossarc.core import CrossarcError
from crossarc.parsers import config
from crossarc.parsers.config import Config, setting

__all__ = ["CombinedConfig"]


@dataclass(frozen=True)
class CombinedConfig(Config):
    """Which parsers are combined. The defaults are right for most people.

    >>> CombinedConfig(members="neural, my.crossarc").names
    ('neural', 'my.crossarc')
    """

    members: str = setting(
        "neural,spanning-tree",
        "The parsers, separated by commas: systems or presets, which are then trained, or files of trained models. All "
        "of them must score arcs: spanning-tree, neural.",
    )
    seed: int = config.seed("of those that are trained")

    def without_effect(self) -> dict[str, str]:
        from crossarc.parsers.registry import named_config  # which knows this module

        trained = any(named_config(name) for name in self.names)
        return super().without_effect() | ({} if trained else {"seed": "members that are trained"})

    @property
    def names(self) -> tuple[str, ...]:
        """The members one by one."""
        return tuple(name.strip() for name in self.members.split(",") if name.strip())

    def check(self) -> None:
        if len(self.names) < 2:
            raise CrossarcError(f"members is {self.members!r}: there must be at least two")
