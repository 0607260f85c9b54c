"""How the graph parser is trained."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from crossarc.core import CrossarcError
from crossarc.parsers import config
from crossarc.parsers.config import Config, setting
from crossarc.parsers.linear.config import LinearConfig, linear_config

__all__ = ["PRESETS", "GraphConfig"]


@dataclass(frozen=True)
class GraphConfig(Config):
    """How to train for words with several heads (McDonald & Pereira 2006, §3). The defaults are right for most people.

    >>> GraphConfig(basic_tree=False).epochs
    10
    """

    basic_tree: bool = setting(
        True,
        "Whether extra heads are chosen by their place in the tree, too, which they are not in the paper.",
        flags="--basic-tree/--no-basic-tree",
    )
    shared_weights: bool = setting(
        False,
        "Whether extra arcs have the weights of the arcs of the tree, and may join any two words, as in the paper; "
        "otherwise only words whose tags are joined by one in the treebank.",
        flags="--shared-weights/--own-weights",
    )
    cycles: Literal["arc", "sentence"] = setting(
        "arc", "What is left out of training where an arc of DEPS closes a cycle: that arc, or the whole sentence."
    )
    projective: bool | None = config.projective("Whether arcs of the tree must not cross.")
    single_root: bool | None = config.single_root()
    epochs: int = config.epochs("Passes over the treebank, for the trees and again for the graphs.")
    seed: int = config.seed()
    features: str = config.features()
    hash_bits: int | None = config.hash_bits()
    max_candidates: int = config.max_candidates("; 0: no pruner", low=0)
    pruning_margin: float = config.pruning_margin(2.0)
    start: Literal["projective", "nonprojective"] = config.start()
    max_changes: int | None = config.max_changes()
    loss_augmented: bool = setting(
        True,
        "Whether trees and graphs have their loss added to their score in training.",
        flags="--loss-augmented/--no-loss-augmented",
    )
    aggressiveness: float = setting(1.0, 'The largest step of MIRA ("C").', low=0)

    def check(self) -> None:
        if self.basic_tree and self.shared_weights:
            raise CrossarcError("shared weights are those of arcs: they go with --no-basic-tree")

    def without_effect(self) -> dict[str, str]:
        found = super().without_effect()
        if self.projective:  # the best tree is found as it is
            found["start"] = config.CLIMBING
        return found if self.max_candidates else found | {"pruning_margin": config.PRUNER}

    @property
    def adds_losses(self) -> bool:
        """Whether trees and graphs have their loss added to their score in training."""
        return self.loss_augmented

    @property
    def linear(self) -> LinearConfig:
        """Of the trees."""
        return linear_config(self, order="2")


PRESETS = {
    # McDonald and Pereira (2006), §3: what is an arc of the tree and what is not makes no difference
    "mp2006": GraphConfig(
        basic_tree=False,
        shared_weights=True,
        cycles="sentence",
        projective=False,
        single_root=False,
        features="mp2006",
        max_candidates=0,
        loss_augmented=False,
        aggressiveness=math.inf,
    )
}
