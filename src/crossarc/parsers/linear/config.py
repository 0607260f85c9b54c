"""How parsers with a linear scorer are trained."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from crossarc.core import CrossarcError
from crossarc.features.templates import PARTS
from crossarc.parsers.config import Config, setting
from crossarc.scorers.linear.scorer import ScorerOptions
from crossarc.scorers.shape import tree_shape
from crossarc.search.methods import Exact, HillClimbing, SearchMethod, SecondOrder

__all__ = ["LinearConfig", "linear_config"]

_EXACT_ONLY = ("kbest-mira", "factored-mira", "crf")
_BEYOND_SECOND = {"grandparent", "any-sibling", "valency"}
_UNUSED_PARTS = {"1": {"sibling", *_BEYOND_SECOND}, "2": _BEYOND_SECOND, "high": set()}


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
        "1: arcs only, exact search. 2: arcs and adjacent siblings, from the exact projective tree by the best changes "
        "of one head. high: all siblings, grandparents and valencies too, by hill climbing with restarts.",
    )
    projective: bool | None = setting(
        None,
        "Whether arcs must not cross.",
        flags="--projective/--nonprojective",
        default_text="as in the treebank",
    )
    single_root: bool | None = setting(
        None,
        "Whether trees have exactly one root.",
        flags="--single-root/--several-roots",
        default_text="as in the treebank",
    )
    learner: Literal["mira", "kbest-mira", "factored-mira", "perceptron", "crf"] = setting(
        "mira",
        "How weights are learnt; kbest-mira, factored-mira and crf need order 1. crf: a log-linear model of all "
        "labelled trees, whose probabilities can be trusted; sets --preset ms2007.",
    )
    k: int = setting(5, "Trees of kbest-mira.", low=1, flags="-k", only={"learner": ("kbest-mira",)})
    loss_augmented: bool = setting(
        True,
        "Whether trees are searched for with their loss added to their score.",
        flags="--loss-augmented/--no-loss-augmented",
        only={"learner": ("mira", "kbest-mira", "factored-mira", "perceptron")},
    )
    labels: Literal["two-stage", "joint"] = setting(
        "two-stage", "Labels are chosen for a finished tree, or together with the arcs."
    )
    epochs: int = setting(10, "Passes over the treebank.", low=1)
    seed: int = setting(1, "Of the random order of sentences, and of restarts.")
    features: str = setting("default", "A feature set of ours (default, mcd2005, mp2006), or a file of templates.")
    hash_bits: int = setting(23, "There are 2 to this power weights.", low=10, high=28)
    max_candidates: int = setting(10, "Heads of each word that the pruner leaves at most; 0: no pruner.", low=0)
    pruning_margin: float = setting(
        2.0, "How much worse than the best head the others may be to the pruner, to be left.", low=0
    )
    restarts: int = setting(3, "Further starts of the search.", low=0, only={"order": ("high",)})
    aggressiveness: float = setting(
        1.0, 'The largest step of MIRA ("C").', low=0, only={"learner": ("mira", "kbest-mira", "factored-mira")}
    )
    patience: int = setting(0, "End after so many epochs without a better one on dev; 0 is never.", low=0)
    optimizer: Literal["adagrad", "lbfgs"] = setting(
        "adagrad",
        "Steps along the gradient of each sentence, or of all at once (L-BFGS; --epochs are its iterations, and it "
        "takes 200 bytes for each weight: use --hash-bits 20).",
        only={"learner": ("crf",)},
    )
    l2: float = setting(
        1.0, "How strongly weights are drawn to 0 (L2 regularisation).", low=0, only={"learner": ("crf",)}
    )

    def check(self) -> None:
        if self.order != "1" and self.learner in _EXACT_ONLY:
            raise CrossarcError(f"learner {self.learner} needs order 1: for higher orders there is no exact search")

    @property
    def scorer(self) -> ScorerOptions:
        """What the scorer looks at."""
        return ScorerOptions(
            frozenset(PARTS) - _UNUSED_PARTS[self.order],
            self.max_candidates,
            self.pruning_margin,
            self.labels == "joint",
            self.learner == "crf",
        )

    @property
    def search(self) -> SearchMethod:
        """How trees are searched for."""
        shape = tree_shape(single_root=bool(self.single_root), projective=bool(self.projective))
        if self.order == "1":
            return Exact(shape)
        return SecondOrder(shape, self.restarts) if self.order == "2" else HillClimbing(shape, self.restarts)


def linear_config(config: Config, **others: Any) -> LinearConfig:
    """The linear scorer with these settings, and with those of another system that have the same names."""
    names = {field.name for field in fields(LinearConfig)} & {field.name for field in fields(config)}
    return LinearConfig(**{name: getattr(config, name) for name in names}, **others)
