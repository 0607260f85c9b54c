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

PARTS = ("arc", "sibling", "grandparent", "next-sibling", "first-child", "valency", "nonprojective", "crossing")

_PAPER = PARTS[:-1]  # the full model of the paper, which only mentions arcs that cross others
_OF_CROSSING_ARCS = {"nonprojective", "crossing"}

# the sections of a feature set that score each kind of part
TEMPLATES = {
    "arc": {"arc", "between"},
    "sibling": {"any-sibling"},
    "grandparent": {"grandparent"},
    "next-sibling": {"sibling"},
    "first-child": {"sibling"},
    "valency": {"valency"},
    "nonprojective": {"arc", "between"},
    "crossing": {"arc", "between"},
}


@dataclass(frozen=True)
class IlpConfig(Config):
    """How to train with integer programs. The defaults are the full model of Martins, Smith and Xing (2009).

    >>> sorted(IlpConfig(parts="arc,sibling").kinds)
    ['arc', 'sibling']
    >>> "nonprojective" in IlpConfig().kinds, "nonprojective" in IlpConfig(projective=True).kinds
    (True, False)
    """

    parts: str | None = setting(
        None,
        f"Parts of trees that are scored, separated by commas: {', '.join(PARTS)}.",
        default_text="all but crossing; with --projective, all but the last two",
    )
    solver: Literal["ad3", "highs"] = setting(
        "ad3",
        "What solves relaxed programs: dual decomposition (AD³), or HiGHS, which takes several times as long.",
    )
    projective: bool = setting(
        False,
        "Whether arcs must not cross, in training, too, which leaves sentences with other trees out.",
        flags="--projective/--nonprojective",
    )
    single_root: bool | None = config.single_root()
    labels: Literal["two-stage", "joint", "none"] = config.labels()
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
        if self.projective and self.kinds & _OF_CROSSING_ARCS:
            raise CrossarcError(f"no projective tree has parts of these kinds: {', '.join(sorted(_OF_CROSSING_ARCS))}")

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of parts that are scored."""
        if self.parts is None:
            return frozenset(_PAPER) - (_OF_CROSSING_ARCS if self.projective else frozenset())
        return frozenset(self.parts.split(","))

    @property
    def linear(self) -> LinearConfig:
        """Of the scorer: pruner, parts and labels."""
        return linear_config(self)

    @property
    def scorer(self) -> ScorerOptions:
        """What the scorer looks at: the templates of the kinds of parts that there are."""
        return self.linear.scorer._replace(parts=frozenset({"label"}.union(*(TEMPLATES[kind] for kind in self.kinds))))
