"""How parsers with a linear scorer are trained."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from typing import Any, Literal

from crossarc.core import CrossarcError
from crossarc.parsers import config
from crossarc.parsers.config import Config, setting
from crossarc.scorers.linear.scorer import ScorerOptions
from crossarc.scorers.shape import tree_shape
from crossarc.search.methods import Exact, HillClimbing, SearchMethod, SecondOrder

__all__ = ["PARTS_BEYOND_ARCS", "LinearConfig", "linear_config"]

_AGREEING = 3  # starts of hill climbing that lead to the same best tree; chosen on dev, as the noise of starts
_NOISE = 0.5
_EXACT_ONLY = ("kbest-mira", "factored-mira", "crf")

# The sections of a feature set that parsers of each order have beside those of arcs and labels
PARTS_BEYOND_ARCS = {"1": (), "2": ("sibling",), "high": ("sibling", "grandparent", "any-sibling", "valency")}


@dataclass(frozen=True)
class LinearConfig(Config):
    """How to train a linear scorer of parts of trees, and the search for trees that goes with it.

    >>> LinearConfig(order="1", learner="crf").learner
    'crf'
    >>> LinearConfig(order="high", learner="crf")
    Traceback (most recent call last):
    crossarc.core.errors.CrossarcError: learner crf needs order 1: for higher orders there is no exact search
    """

    order: Literal["1", "2", "high"] = setting(
        "high",
        "1: arcs only, exact search over the heads that the pruner leaves (over all, with --max-candidates 0). 2: arcs "
        "and adjacent siblings, from the best projective tree by the best changes of one head. high: all siblings, "
        "grandparents and valencies, too, by hill climbing with restarts.",
    )
    projective: bool | None = config.projective()
    single_root: bool | None = config.single_root()
    learner: Literal["mira", "kbest-mira", "factored-mira", "perceptron", "crf"] = setting(
        "mira",
        "How weights are learnt; kbest-mira, factored-mira and crf need order 1. crf: a log-linear model, whose "
        "probabilities can be trusted, and which can also learn from words without a head; sets --preset ms2007.",
    )
    k: int = setting(5, "How many trees kbest-mira looks at.", low=1, flags="-k", only={"learner": ("kbest-mira",)})
    loss_augmented: bool | None = setting(
        None,
        "Whether trees have their loss added to their score in training; with crf, that is the softmax margin.",
        flags="--loss-augmented/--no-loss-augmented",
        default_text="loss-augmented, but not with crf",
    )
    labels: Literal["two-stage", "joint", "none"] = config.labels()
    epochs: int = config.epochs()
    seed: int = config.seed("of the random order of sentences, and of restarts")
    features: str = config.features()
    hash_bits: int | None = config.hash_bits()
    max_candidates: int = config.max_candidates("; 0: no pruner", low=0)
    pruning_margin: float = config.pruning_margin(2.0)
    start: Literal["projective", "nonprojective"] = config.start(only={"order": ("2",)})
    max_changes: int | None = config.max_changes(only={"order": ("2",)})
    restarts: int = setting(
        20,
        "The most restarts of the search; there are fewer where the first ones agree.",
        low=0,
        high=1000,
        only={"order": ("high",)},
    )
    aggressiveness: float = setting(
        1.0, 'The largest step of MIRA ("C").', low=0, only={"learner": ("mira", "kbest-mira", "factored-mira")}
    )
    patience: int = setting(0, "Stop after this many epochs without a better one on dev; 0: never.", low=0)
    optimizer: Literal["adagrad", "lbfgs"] = setting(
        "adagrad",
        "adagrad: a step for each sentence. lbfgs: one for all of them (--epochs is the number of its iterations; it "
        "takes 200 bytes for each weight, of which there are at most 2^20 unless --hash-bits says otherwise).",
        only={"learner": ("crf",)},
    )
    l2: float = setting(
        1.0, "How strongly weights are drawn towards 0 (L2 regularisation).", low=0, only={"learner": ("crf",)}
    )
    shards: int = setting(
        1,
        "Parts of the treebank that are learnt from apart in each epoch; the mean of their weights begins the next "
        "(McDonald, Hall & Mann 2010). Workers share them (--jobs, --ray).",
        low=1,
        only={"learner": ("mira", "kbest-mira", "factored-mira", "perceptron")},
    )

    def check(self) -> None:
        if self.shards > 1 and self.learner == "crf":
            raise CrossarcError("shards: weights are mixed by MIRA and the perceptron only, not by learner crf")
        if self.order != "1" and self.learner in _EXACT_ONLY:
            raise CrossarcError(f"learner {self.learner} needs order 1: for higher orders there is no exact search")

    def without_effect(self) -> dict[str, str]:
        found = super().without_effect()
        if self.order == "2" and self.projective:  # the best tree is found as it is
            found |= {"start": config.CLIMBING, "max_changes": config.CLIMBING}
        if self.learner == "factored-mira" and self.labels != "joint":  # compares arcs, each with its own loss
            found["loss_augmented"] = "--labels joint or another --learner"
        return found if self.max_candidates else found | {"pruning_margin": config.PRUNER}

    @property
    def scorer(self) -> ScorerOptions:
        """What the scorer looks at."""
        return ScorerOptions(
            frozenset(("arc", "between", "label", *PARTS_BEYOND_ARCS[self.order])),
            self.max_candidates,
            self.pruning_margin,
            self.labels == "joint",
            self.learner == "crf",
        )

    @property
    def partial_trees(self) -> bool:
        return self.learner == "crf"

    @property
    def sharded(self) -> bool:
        return self.shards > 1 or (self.learner == "crf" and self.optimizer == "lbfgs")

    @property
    def adds_losses(self) -> bool:
        """Whether trees have their loss added to their score in training."""
        return self.learner != "crf" if self.loss_augmented is None else self.loss_augmented

    @property
    def search(self) -> SearchMethod:
        """How trees are searched for."""
        shape = tree_shape(single_root=bool(self.single_root), projective=bool(self.projective))
        if self.order == "1":
            return Exact(shape)
        if self.order == "2":
            most = sys.maxsize if self.max_changes is None else self.max_changes
            return SecondOrder(shape, self.restarts, self.start == "projective", most)
        return HillClimbing(shape, self.restarts, _AGREEING, _NOISE)


def linear_config(config: Config, **others: Any) -> LinearConfig:
    """The linear scorer with these settings, and with those of another system that have the same names."""
    names = {field.name for field in fields(LinearConfig)} & {field.name for field in fields(config)}
    return LinearConfig(**{name: getattr(config, name) for name in names}, **others)
