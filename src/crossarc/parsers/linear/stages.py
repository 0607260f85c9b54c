"""The stages of training a linear scorer: how each learns from sentences, whatever process these are in.

Stages are values that go from process to process; so are the functions of a shard that are made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from crossarc.features.templates import TemplateSet, load_templates
from crossarc.learning.listener import TrainingListener
from crossarc.learning.mixing import Change, change_of, mix, own_copy
from crossarc.learning.online import AdaptiveLearner, Learner, table_size
from crossarc.learning.rules import UpdateRule
from crossarc.learning.shards import MapShards
from crossarc.parsers.linear._crf import GRADIENT, add_gradients
from crossarc.parsers.linear._learn import learn
from crossarc.parsers.training import Treebank
from crossarc.scorers.linear._labels import learn_labels
from crossarc.scorers.linear._pruner import learn_ranking
from crossarc.scorers.linear.model import LinearModel, view
from crossarc.scorers.linear.scorer import LinearScorer, ScorerOptions, new_scorer
from crossarc.search.methods import Exact, SearchMethod

__all__ = ["HeadStage", "LabelStage", "LikelihoodOfShard", "PrunerStage", "Shard", "learn_by_mixing"]

AnyLearner = Learner | AdaptiveLearner
LearnFrom = Callable[[NDArray[np.int64]], float]  # chosen sentences: the sum of their losses


class Stage(Protocol):
    """What is learnt."""

    def learning(self, treebank: Treebank, learner: AnyLearner, rng: np.random.Generator) -> LearnFrom:
        """How the learner learns from sentences of the treebank."""


@dataclass(frozen=True)
class PrunerStage:
    """The pruner: the right head of each word is to be among the first."""

    def learning(self, treebank: Treebank, learner: AnyLearner, rng: np.random.Generator) -> LearnFrom:
        model = view(load_templates("pruner").compiled, learner.weights)
        return lambda chosen: learn_ranking(treebank.batch, chosen, model, learner, treebank.gold.heads)


@dataclass(frozen=True)
class LabelStage:
    """Labels of finished trees."""

    templates: TemplateSet

    def learning(self, treebank: Treebank, learner: AnyLearner, rng: np.random.Generator) -> LearnFrom:
        model = view(self.templates.compiled, learner.weights, row=len(treebank.labels))
        return lambda chosen: learn_labels(treebank.batch, chosen, model, learner, treebank.gold)


@dataclass(frozen=True)
class HeadStage:
    """Heads, with their labels if these are joint."""

    labels: tuple[str, ...]
    templates: TemplateSet
    options: ScorerOptions
    bits: int
    pruner: LinearModel | None
    rule: UpdateRule
    search: SearchMethod

    def scorer(self, weights: NDArray[np.float32]) -> LinearScorer:
        """The scorer with these weights. Joint labels have theirs behind those of the arcs; others are yet to come."""
        arcs = table_size(self.bits)
        scorer = new_scorer(self.labels, self.templates, self.options, weights[:arcs], self.pruner)
        return scorer.with_labels(weights[arcs:]) if self.options.joint else scorer

    def learning(self, treebank: Treebank, learner: AnyLearner, rng: np.random.Generator) -> LearnFrom:
        models = self.scorer(learner.weights).models

        def learn_from(chosen: NDArray[np.int64]) -> float:
            seed = np.uint64(0 if isinstance(self.search, Exact) else rng.integers(2**63))
            gold = treebank.gold
            loss: float = learn(treebank.batch, chosen, models, learner, gold, self.search, self.rule, seed)
            return loss

        return learn_from


class Shard(NamedTuple):
    """A part of the treebank."""

    number: int
    treebank: Treebank


# ---- iterative parameter mixing --------------------------------------------------------------------------------------


class _Learnt(NamedTuple):
    change: Change
    loss: float  # the sum of that of all sentences
    words: int


@dataclass(frozen=True)
class _EpochOfShard:
    """Learn from all sentences of a shard."""

    stage: Stage
    learner: Learner
    seed: int

    def __call__(self, shard: Shard) -> _Learnt:
        treebank, learner = shard.treebank, own_copy(self.learner)
        rng = np.random.default_rng([self.seed, shard.number])
        learn_from = self.stage.learning(treebank, learner, rng)
        loss, _ = treebank.epoch("", 0, learn_from, rng, TrainingListener())
        return _Learnt(change_of(self.learner, learner), loss * treebank.words, treebank.words)


def learn_by_mixing(
    stage: Stage, learner: Learner, map_shards: MapShards, seed: int, progress: Callable[[int], None]
) -> float:
    """An epoch on all shards; the sum of the losses of all sentences. ``progress`` hears of the words of each shard."""
    nothing = np.zeros(0, dtype=np.int32)  # the learner's own scratch need not travel
    epoch = _EpochOfShard(stage, learner._replace(scratch=nothing), seed)
    loss = 0.0

    def changes() -> Iterator[Change]:
        nonlocal loss
        for learnt in map_shards(epoch):
            loss += learnt.loss
            progress(learnt.words)
            yield learnt.change

    mix(learner, changes())
    return loss


# ---- L-BFGS ----------------------------------------------------------------------------------------------------------


class Likelihood(NamedTuple):
    """The log-likelihood of some sentences, and its gradient."""

    log_p: float
    gradient: NDArray[np.float64]


@dataclass(frozen=True)
class LikelihoodOfShard:
    """What the sentences of a shard say of weights."""

    stage: HeadStage
    weights: NDArray[np.float32]
    augmented: bool  # whether wrong arcs have their losses added to their scores

    def __call__(self, shard: Shard) -> Likelihood:
        treebank, models = shard.treebank, self.stage.scorer(self.weights).models
        slopes = np.zeros(len(self.weights), dtype=GRADIENT)
        log_p = add_gradients(treebank.batch, models, treebank.gold, self.stage.search, self.augmented, slopes)
        return Likelihood(log_p, slopes["gradient"])
