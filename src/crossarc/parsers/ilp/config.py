"""How the integer-program parser is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from crossarc.core import CrossarcError
from crossarc.parsers import config
from crossarc.parsers.config import Config, setting
from crossarc.parsers.linear.config import LinearConfig, linear_config
from crossarc.scorers.linear.scorer import ScorerOptions

__all__ = ["PARTS", "TEMPLATES", "IlpConfig"]

PARTS = ("arc", "sibling", "grandparent", "next-sibling", "first-child", "valency", "nonprojective")

# the sections of a feature set that score each kind of part
TEMPLATES = {
    "arc": {"arc", "between"},
    "sibling": {"any-sibling"},
    "grandparent": {"grandparent"},
    "next-sibling": {"sibling"},
    "first-child": {"sibling"},
    "valency": {"valency"},
    "nonprojective": {"arc", "between"},
}


@dataclass(frozen=True)
class IlpConfig(Config):
    """How to train with integer programs. The defaults are the full model of Martins, Smith and Xing (2009).

    >>> sorted(IlpConfig(parts="arc,sibling").kinds)
    ['arc', 'sibling']
    """

    parts: str = setting(",".join(PARTS), "Parts of trees that are scored, with commas between them.")
    solver: Literal["ad3", "highs"] = setting(
        "ad3",
        "What solves relaxed programs: dual decomposition, or the linear program as it is, which takes several times "
        "as long.",
    )
    single_root: bool | None = config.single_root()
    epochs: int = config.epochs()
    seed: int = config.seed()
    features: str = config.features()
    hash_bits: int | None = config.hash_bits()
    max_candidates: int = config.max_candidates("", low=1)
    pruning_margin: float = config.pruning_margin(2.5)
    aggressiveness: float = setting(1.0, 'The largest step of passive-aggressive learning ("C").', low=0)

    def check(self) -> None:
        unknown = self.kinds - set(PARTS)
        if unknown:
            raise CrossarcError(f"no such parts: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
        if "arc" not in self.kinds:
            raise CrossarcError("parts without arc: every tree is made of arcs")

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(self.parts.split(","))

    @property
    def linear(self) -> LinearConfig:
        """Of the scorer: pruner, parts and labels."""
        return linear_config(self, projective=False)

    @property
    def scorer(self) -> ScorerOptions:
        """What the scorer looks at: the templates of the kinds of parts that there are."""
        return self.linear.scorer._replace(parts=frozenset({"label"}.union(*(TEMPLATES[kind] for kind in self.kinds))))
