"""Training of a linear scorer: pruner, labels, heads, one stage after the other."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crossarc.core import CrossarcError, Sentence
from crossarc.features.attributes import attributes_of
from crossarc.features.templates import load_templates
from crossarc.features.weights import dequantized
from crossarc.learning._adagrad import shrink
from crossarc.learning.lbfgs import maximise
from crossarc.learning.online import (
    AdaptiveLearner,
    Learner,
    averaged,
    new_adaptive_learner,
    new_learner,
    state_of,
    table_size,
)
from crossarc.learning.rules import Crf, FactoredMira, KBestMira, Mira, Perceptron, UpdateRule
from crossarc.models import Contents
from crossarc.parsers.base import batches
from crossarc.parsers.linear.config import PARTS_BEYOND_ARCS, LinearConfig
from crossarc.parsers.linear.parser import LinearParser
from crossarc.parsers.linear.stages import (
    HeadStage,
    LabelStage,
    LikelihoodOfShard,
    PrunerStage,
    Shard,
    Stage,
    learn_by_mixing,
)
from crossarc.parsers.training import (
    Checkpoint,
    DevScores,
    EpochLoop,
    EpochReport,
    Epochs,
    TrainingSetup,
    Treebank,
    dev_scores,
    possible_trees,
    with_treebank_defaults,
)
from crossarc.scorers.linear._pruner import count_candidates
from crossarc.scorers.linear.model import LinearModel, view
from crossarc.scorers.linear.scorer import LinearScorer, ScorerOptions

__all__ = ["LinearTraining", "train_linear", "with_wanted_labels"]

Starter = Callable[[Callable[[], NDArray[np.float32]]], Future[NDArray[np.float32]]]

_BATCH = 64  # sentences
_PRUNER_EPOCHS = 3
_PRUNER_BITS = 20
_LABEL_BITS = 20
_FEWEST_BITS = 16
_MOST_BITS = 24
_MOST_BITS_UNPRUNED = 25  # 0.5 GB in training, with gradients 0.7 GB
_MOST_BITS_LBFGS = 20
# How many weights there are for each word and template. Training gives a weight other than 0 to about 0.8 features for
# each (Hungarian, default), to more in the wrong trees that it meets if all heads are candidates.
_WEIGHTS = 1.5
_WEIGHTS_UNPRUNED = 3.0
# A shard of a sum: large enough that sending its gradient takes far less time than finding it; so many at most, for one
# process adds them up
_WORDS_OF_SHARD = 10_000
_MOST_SHARDS = 64
_RATE = 0.1  # of the steps along gradients, chosen on dev
_LABEL_STEP = 0.02  # the largest step of passive-aggressive learning, chosen on dev


def train_linear(
    treebank: Sequence[Sentence], config: LinearConfig, setup: TrainingSetup, checkpoint: Checkpoint | None = None
) -> LinearParser:
    """Train a linear scorer and its search on trees; the state of training is kept in the checkpoint.

    Log-linear models learn from sentences whose heads are known in part (-1: unknown), too.
    """
    _check_templates(config)
    config = with_treebank_defaults(treebank, config)
    if config.learner == "crf":
        flags = {"projective": bool(config.projective), "single_root": bool(config.single_root)}
        treebank = possible_trees(treebank, setup.listener, **flags)
    treebank, setup = with_wanted_labels(treebank, config.labels, setup)
    return LinearTraining(Treebank(treebank), config, setup).train(checkpoint)


def _check_templates(config: LinearConfig) -> None:
    """Refuse an order that the feature set has no templates for: it would be as order 1, but for a worse search."""
    templates, wanted = load_templates(config.features).features.templates, PARTS_BEYOND_ARCS[config.order]
    if wanted and not any(templates[part] for part in wanted):
        raise CrossarcError(
            f"--features {config.features} has no templates for {', '.join(wanted)}: they make no parser of order "
            f"{config.order}, only of order 1"
        )


def with_wanted_labels(
    treebank: Sequence[Sentence], labels: str, setup: TrainingSetup
) -> tuple[Sequence[Sentence], TrainingSetup]:
    """The treebank and the setup; without labels if there are to be none."""
    if labels != "none":
        return treebank, setup
    return without_labels(treebank), setup._replace(dev=without_labels(setup.dev))


def without_labels(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences with ``_`` for every label."""
    return [sentence.with_columns(deprel=["_"] * len(sentence)) for sentence in sentences]


class LinearTraining(Epochs[LinearParser]):
    """The stages of training: pruner and labels, then the heads in epochs with the best of them kept."""

    stage = "heads"

    def __init__(
        self, treebank: Treebank, config: LinearConfig, setup: TrainingSetup, options: ScorerOptions | None = None
    ) -> None:
        super().__init__(setup)
        self.treebank, self.jobs, self.workers = treebank, setup.jobs, setup.workers
        self.options = options or config.scorer
        self.templates = load_templates(config.features)
        self.bits = config.hash_bits or self._bits(config)
        self.config = replace(config, hash_bits=self.bits)
        self.learner = self._new_learner()

    def train(self, checkpoint: Checkpoint | None) -> LinearParser:
        with self.workers.hold(self._shards()) as self.map_shards:
            return self._train(checkpoint)

    def _shards(self) -> list[Shard]:
        """The treebank as workers hold it; how it is cut does not depend on how many there are."""
        count = self.config.shards
        if self._maximises:
            count = min(max(self.treebank.words // _WORDS_OF_SHARD, 1), _MOST_SHARDS)
        sentences = len(self.treebank.batch.starts) - 1
        if count > sentences:
            raise CrossarcError(f"shards is {count}: there are only {sentences} sentences")
        if count == 1:
            return [Shard(0, self.treebank)]
        return [Shard(number, self.treebank.shard(number, count)) for number in range(count)]

    @property
    def _maximises(self) -> bool:
        return self.config.learner == "crf" and self.config.optimizer == "lbfgs"

    def _train(self, checkpoint: Checkpoint | None) -> LinearParser:
        # Each stage has random numbers of its own: they may run side by side
        for_pruner, for_labels, self.rng = np.random.default_rng(self.config.seed).spawn(3)
        if checkpoint is not None and checkpoint.saved is not None:
            before = self.restored(checkpoint.saved.best).scorer
            self.heads = self._head_stage(before.pruner)
            self.label_weights = dequantized(before.labels_model.weights)
        else:
            with threads(self.jobs if self.config.shards == 1 else 1) as start:
                labels = start(lambda: self._train_labels(for_labels)) if not self.options.joint else None
                pruner = self._train_pruner(for_pruner) if self.options.max_candidates else None
                self.heads = self._head_stage(pruner)
                if labels is not None:
                    self.label_weights = labels.result()
        if self._maximises:
            loop = EpochLoop(self, None, self.config.patience)  # L-BFGS has a memory of its own
            return loop.finish(lambda: self._maximise(loop))
        loop = EpochLoop(self, checkpoint, self.config.patience)
        return loop.finish(lambda: loop.run(self.config.epochs))

    def _head_stage(self, pruner: LinearModel | None) -> HeadStage:
        rule, search = update_rule(self.config), self.config.search
        return HeadStage(self.treebank.labels, self.templates, self.options, self.bits, pruner, rule, search)

    def run(self, epoch: int) -> tuple[float, float]:
        found = self._epoch(self.stage, epoch, self.heads, self.learner, self.rng)
        if isinstance(self.learner, AdaptiveLearner):
            shrink(self.learner, self.config.l2)
        return found

    def _epoch(
        self, name: str, epoch: int, stage: Stage, learner: Learner | AdaptiveLearner, rng: np.random.Generator
    ) -> tuple[float, float]:
        """Learn from all sentences: loss for each word, words per second."""
        treebank, listener = self.treebank, self.listener
        if self.config.shards == 1:
            return treebank.epoch(name, epoch, stage.learning(treebank, learner, rng), rng, listener)
        assert isinstance(learner, Learner)
        listener.begin_epoch(name, epoch, treebank.words)
        start, seed = time.perf_counter(), int(rng.integers(2**63))
        loss = learn_by_mixing(stage, learner, self.map_shards, seed, partial(listener.progress, name))
        return loss / treebank.words, treebank.words / (time.perf_counter() - start)

    def result(self) -> LinearParser:
        return self._scored(self._parser(self._scorer(averaged(self.learner))))

    def restored(self, contents: Contents) -> LinearParser:
        header, tensors = contents
        return LinearParser(
            self.config,
            LinearScorer.from_model(header, tensors, self.options),
            header["dev"] and DevScores(**header["dev"]),
            header["treebank"],
        )

    def state(self) -> dict[str, NDArray[Any]]:
        return state_of(self.learner)

    def _parser(self, scorer: LinearScorer) -> LinearParser:
        return LinearParser(self.config, scorer, treebank=self.treebank.checksum)

    def _scored(self, parser: LinearParser) -> LinearParser:
        """The parser with its scores on the dev set."""
        return replace(parser, dev=dev_scores(self.dev, self._parse_dev(parser))) if self.dev else parser

    def _parse_dev(self, parser: LinearParser) -> Iterator[Sentence]:
        return (tree for batch in batches(self.dev, _BATCH) for tree in parser.best(batch))

    def _maximise(self, loop: EpochLoop[LinearParser]) -> None:
        """Maximise the log-likelihood of the whole treebank at once, less the penalty, by L-BFGS."""
        learner, l2, augmented = self.learner, self.config.l2, self.config.adds_losses
        clock = time.perf_counter()

        def objective(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            learner.weights[:] = weights
            value, gradient = -l2 / 2 * float(weights @ weights), -l2 * weights
            for of_shard in self.map_shards(LikelihoodOfShard(self.heads, learner.weights, augmented)):
                value += of_shard.log_p
                gradient += of_shard.gradient
            return value, gradient

        def watch(epoch: int, weights: NDArray[np.float64], value: float) -> bool:
            nonlocal clock
            loss, speed = -value / self.treebank.words, self.treebank.words / (time.perf_counter() - clock)
            learner.weights[:] = weights
            enough = loop.end_epoch(loss, speed)
            clock = time.perf_counter()
            return enough

        maximise(objective, np.zeros(len(learner.weights)), self.config.epochs, watch)

    def _train_pruner(self, rng: np.random.Generator) -> LinearModel:
        learner = new_learner(table_size(_PRUNER_BITS), 1.0)
        for epoch in range(1, _PRUNER_EPOCHS + 1):
            loss, speed = self._epoch("pruner", epoch, PrunerStage(), learner, rng)
            self.listener.end_epoch(EpochReport("pruner", epoch, loss, speed, None))
        pruner = view(load_templates("pruner").compiled, averaged(learner))
        if self.dev:
            gold = np.concatenate([sentence.heads for sentence in self.dev])
            everything, right = count_candidates(attributes_of(self.dev), pruner, gold, *self.options[1:3])
            words = sum(map(len, self.dev))
            self.listener.pruned(everything / words, right / words)
        return pruner

    def _train_labels(self, rng: np.random.Generator) -> NDArray[np.float32]:
        row = len(self.treebank.labels)
        if self.config.labels == "none":
            return np.zeros(table_size(_FEWEST_BITS, row=row), dtype=np.float32)
        learner = new_learner(table_size(_LABEL_BITS, row=row), _LABEL_STEP)
        for epoch in range(1, self.config.epochs + 1):
            loss, speed = self._epoch("labels", epoch, LabelStage(self.templates), learner, rng)
            self.listener.end_epoch(EpochReport("labels", epoch, loss, speed, None))
        return averaged(learner)

    def _new_learner(self) -> Learner | AdaptiveLearner:
        size = table_size(self.bits) + self._label_weights()
        if self.config.learner == "crf":
            return new_adaptive_learner(size, _RATE)
        return new_learner(size, self.config.aggressiveness)

    def _bits(self, config: LinearConfig) -> int:
        """Enough for the features that will be seen, so that few of them share a weight."""
        pruned = self.options.max_candidates > 0
        compiled = self.templates.of_parts(self.options.parts)
        parts = (compiled.arc, compiled.between, compiled.sibling, compiled.grandparent, compiled.any_sibling)
        templates = sum(len(part.seeds) + part.with_distance for part in parts)
        few = pruned and config.learner != "crf"  # gradients are not 0 for any candidate
        weights = (_WEIGHTS if few else _WEIGHTS_UNPRUNED) * self.treebank.words * templates
        most = _MOST_BITS if pruned else _MOST_BITS_UNPRUNED
        if config.learner == "crf" and config.optimizer == "lbfgs":
            most = _MOST_BITS_LBFGS
        return min(max(_FEWEST_BITS, math.ceil(math.log2(max(weights, 1)))), most)

    def _label_weights(self) -> int:
        """Joint labels have their weights behind those of the arcs, in the same table."""
        return table_size(_LABEL_BITS, row=len(self.treebank.labels)) if self.options.joint else 0

    def _scorer(self, weights: NDArray[np.float32]) -> LinearScorer:
        """The scorer with these weights of heads."""
        scorer = self.heads.scorer(weights)
        return scorer if self.options.joint else scorer.with_labels(self.label_weights)


def update_rule(config: LinearConfig) -> UpdateRule:
    """How weights are updated."""
    if config.learner == "kbest-mira":
        return KBestMira(config.adds_losses, config.k)
    kinds: dict[str, type[UpdateRule]] = {
        "mira": Mira,
        "factored-mira": FactoredMira,
        "perceptron": Perceptron,
        "crf": Crf,
    }
    return kinds[config.learner](config.adds_losses)


@contextmanager
def threads(jobs: int) -> Iterator[Starter]:
    """A way to start something: in another thread (kernels run outside the interpreter's lock), or at once."""
    if jobs > 1:
        with ThreadPoolExecutor(1) as pool:
            yield pool.submit
    else:

        def run(work: Callable[[], Any]) -> Future[Any]:
            done: Future[Any] = Future()
            done.set_result(work())
            return done

        yield run
