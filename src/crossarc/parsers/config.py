"""How parsers are trained, and the set-ups of the papers by name."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from crossarc.core import CrossarcError

__all__ = ["PRESETS", "CovingtonConfig", "GenerativeConfig", "GraphConfig", "IlpConfig", "SpanningTreeConfig"]

Order = Literal["1", "2", "high"]
LearnerName = Literal["mira", "kbest-mira", "factored-mira", "perceptron", "crf"]
Optimizer = Literal["adagrad", "lbfgs"]
Labels = Literal["two-stage", "joint"]
Condition = Literal["head", "direction", "distance"]
Start = Literal["harmonic", "uniform", "random"]
Classifier = Literal["linear", "svm"]


@dataclass(frozen=True)
class SpanningTreeConfig:
    """How to train. The defaults are right for most people."""

    order: Order = "high"
    projective: bool | None = None  # None: if all trees of the treebank are
    single_root: bool | None = None  # None: if all trees of the treebank have one
    learner: LearnerName = "mira"
    k: int = 5  # trees of kbest-mira
    loss_augmented: bool = True  # whether trees are searched for with their loss added to their score
    labels: Labels = "two-stage"
    epochs: int = 10
    seed: int = 1
    features: str = "default"
    hash_bits: int = 23
    candidates: int = 10  # heads of each word that the pruner leaves at most; 0: no pruner
    near: float = 2.0  # how much worse than the best of them they may be to the pruner
    restarts: int = 3  # further starts of the search (order high)
    aggressiveness: float = 1.0  # "C": the largest step of MIRA
    patience: int = 0  # training ends after so many epochs without a better one on dev; 0: it does not
    optimizer: Optimizer = "adagrad"  # of learner crf
    l2: float = 1.0  # of learner crf: l2 / 2 times the squares of the weights are taken from the log-likelihood

    def __post_init__(self) -> None:
        if self.order != "1" and self.learner in ("kbest-mira", "factored-mira", "crf"):
            raise CrossarcError(f"learner {self.learner} needs order 1: for higher orders there is no exact search")


# What the papers have in common: all heads are looked at, trees are found without their loss, steps are not limited,
# and the root may have several children. Labels are ours: the papers have none.
_PAPER = SpanningTreeConfig(single_root=False, loss_augmented=False, candidates=0, aggressiveness=math.inf)

PRESETS = {
    # McDonald, Crammer and Pereira (2005): projective, Eisner's algorithm, 5-best MIRA ("McD2005" in MST05)
    "mcd2005": replace(_PAPER, order="1", projective=True, learner="kbest-mira", k=5, features="mcd2005"),
    # McDonald, Pereira, Ribarov and Hajič (2005): non-projective, Chu-Liu-Edmonds, single-best MIRA (§3.1)
    "mst2005-single": replace(_PAPER, order="1", projective=False, learner="mira", features="mcd2005"),
    # the same with factored MIRA (§3.2)
    "mst2005-factored": replace(_PAPER, order="1", projective=False, learner="factored-mira", features="mcd2005"),
    # McDonald and Pereira (2006): second order, from the exact projective tree by best changes, single-best MIRA
    "mp2006": replace(_PAPER, order="2", projective=False, learner="mira", features="mp2006"),
    # McDonald and Satta (2007), §4.3: log-linear, over all labelled trees; as --learner crf
    "ms2007": SpanningTreeConfig(order="1", learner="crf", labels="joint", candidates=0, epochs=20, patience=3),
}


@dataclass(frozen=True)
class CovingtonConfig:
    """How to train. The defaults are right for most people."""

    projective: bool | None = None  # only projective links, in training and parsing; None: if all trees are projective
    single_root: bool | None = None  # None: if all trees of the treebank have one
    classifier: Classifier = "linear"  # svm: support vector machines
    features: str = "default"
    exploration: float = 1.0  # how often training follows the parser's own errors; 0: a static oracle
    epochs: int = 10
    seed: int = 1
    hash_bits: int = 22
    aggressiveness: float = 0.01  # "C": the largest step of passive-aggressive learning

    def __post_init__(self) -> None:
        if not 0 <= self.exploration <= 1:
            raise CrossarcError(f"exploration is {self.exploration}, which is not in 0..1")


_TAGS, _WORDS = ("upos", "xpos"), ("form", "lemma")


@dataclass(frozen=True)
class GenerativeConfig:
    """How to train. The defaults are right for most people."""

    symbols: str | None = None  # what words are to the model; None: "upos+form", or "upos" if unsupervised
    condition: Condition | None = None  # what a choice depends on; None: "distance", or "direction" if unsupervised
    stop: bool = True  # whether heads decide when they have enough modifiers
    projective: bool = True  # better, measured, even where arcs cross
    single_root: bool | None = None  # None: if all trees of the treebank have one; with stop or unsupervised: yes
    unsupervised: bool = False
    start: Start = "harmonic"  # of EM
    restarts: int = 0  # further, random starts of EM; the most probable model is kept
    epochs: int = 100  # iterations of EM at most
    prior: float = 10.0  # what EM adds to each expected count
    seed: int = 1

    def __post_init__(self) -> None:
        names = (self.symbols or "upos").split("+")
        if not (len(names) == 1 and names[0] in _TAGS + _WORDS) and not (
            len(names) == 2 and names[0] in _TAGS and names[1] in _WORDS
        ):
            raise CrossarcError(f"symbols are {self.symbols}, which is none of upos, xpos, form, lemma, upos+form ...")
        if self.prior <= 0:
            raise CrossarcError(f"prior is {self.prior}: it must be above 0, so that nothing is impossible")


ILP_PARTS = ("arc", "sibling", "grandparent", "next-sibling", "first-child", "valency", "nonprojective")


@dataclass(frozen=True)
class IlpConfig:
    """How to train. The defaults are the full model of Martins, Smith and Xing (2009)."""

    parts: str = ",".join(ILP_PARTS)
    single_root: bool | None = None  # None: if all trees of the treebank have one
    epochs: int = 10
    seed: int = 1
    features: str = "default"
    hash_bits: int = 23
    candidates: int = 10  # heads of each word that the pruner leaves at most
    near: float = 2.5  # how much worse than the best of them they may be to the pruner
    aggressiveness: float = 1.0  # "C": the largest step of passive-aggressive learning
    solver: Literal["ad3", "highs"] = "ad3"  # of relaxed programs, to learn and to parse

    def __post_init__(self) -> None:
        unknown = self.kinds - set(ILP_PARTS)
        if unknown:
            raise CrossarcError(f"no such parts: {', '.join(sorted(unknown))}; there are {', '.join(ILP_PARTS)}")
        if "arc" not in self.kinds:
            raise CrossarcError("parts without arc: every tree is made of arcs")

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(self.parts.split(","))

    @property
    def of_search(self) -> SpanningTreeConfig:
        """The spanning-tree parser with the same weights: pruner, scores and labels are its."""
        return _spanning_tree(self, projective=False)


@dataclass(frozen=True)
class GraphConfig:
    """How to train. The defaults are right for most people."""

    projective: bool | None = None  # of the tree; None: if all trees of the treebank are
    single_root: bool | None = None  # of the tree; None: if all trees of the treebank have one
    basic_tree: bool = True  # whether extra arcs are scored by where their words stand in the tree
    epochs: int = 10
    seed: int = 1
    features: str = "default"
    hash_bits: int = 23

    @property
    def of_search(self) -> SpanningTreeConfig:
        """The spanning-tree parser that finds the trees."""
        return _spanning_tree(self, order="2")


def _spanning_tree(config: IlpConfig | GraphConfig, **others: Any) -> SpanningTreeConfig:
    """The spanning-tree parser with these settings, and with those of another system that have the same names."""
    names = {field.name for field in fields(SpanningTreeConfig)} & {field.name for field in fields(config)}
    return SpanningTreeConfig(**{name: getattr(config, name) for name in names}, **others)
