"""How the graph parser is trained."""

from __future__ import annotations

from dataclasses import dataclass

from crossarc.parsers import config
from crossarc.parsers.config import Config, setting
from crossarc.parsers.linear.config import LinearConfig, linear_config

__all__ = ["GraphConfig"]


@dataclass(frozen=True)
class GraphConfig(Config):
    """How to train for words with several heads (McDonald & Pereira 2006, §3). The defaults are right for most people.

    >>> GraphConfig(basic_tree=False).epochs
    10
    """

    basic_tree: bool = setting(
        True,
        "Whether extra heads are chosen by where they stand in the tree too; not so in the paper.",
        flags="--basic-tree/--no-basic-tree",
    )
    projective: bool | None = config.projective("Whether arcs of the tree must not cross.")
    single_root: bool | None = config.single_root()
    epochs: int = config.epochs("Passes over the treebank, for the trees and again for the graphs.")
    seed: int = config.seed()
    features: str = config.features()
    hash_bits: int = config.hash_bits()

    @property
    def linear(self) -> LinearConfig:
        """Of the trees."""
        return linear_config(self, order="2")
