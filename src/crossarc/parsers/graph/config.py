"""How the graph parser is trained."""

from __future__ import annotations

from dataclasses import dataclass

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
    projective: bool | None = setting(
        None,
        "Whether arcs of the tree must not cross.",
        flags="--projective/--nonprojective",
        default_text="as in the treebank",
    )
    single_root: bool | None = setting(
        None,
        "Whether trees have exactly one root.",
        flags="--single-root/--several-roots",
        default_text="as in the treebank",
    )
    epochs: int = setting(10, "Passes over the treebank, for the trees and again for the graphs.", low=1)
    seed: int = setting(1, "Of the random order of sentences.")
    features: str = setting("default", "A feature set of ours (default, mcd2005, mp2006), or a file of templates.")
    hash_bits: int = setting(23, "There are 2 to this power weights.", low=10, high=28)

    @property
    def linear(self) -> LinearConfig:
        """Of the trees."""
        return linear_config(self, order="2")
