"""Training of a linear scorer: pruner, labels, heads, one stage after the other."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
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
from crossarc.parsers.linear._crf import add_gradients
from crossarc.parsers.linear._learn import learn
from crossarc.parsers.linear.config import PARTS_BEYOND_ARCS, LinearConfig
from crossarc.parsers.linear.parser import LinearParser
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
from crossarc.scorers.linear._labels import learn_labels
from crossarc.scorers.linear._pruner import count_candidates, learn_ranking
from crossarc.scorers.linear.model import LinearModel, view
from crossarc.scorers.linear.scorer import LinearScorer, ScorerOptions, ScoringModels, new_scorer
from crossarc.search.methods import Exact

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
        self.treebank, self.jobs = treebank, setup.jobs
        self.options = options or config.scorer
        self.templates = load_templates(config.features)
        self.bits = config.hash_bits or self._bits(config)
        self.config = replace(config, hash_bits=self.bits)
        self.learner = self._new_learner()

    def train(self, checkpoint: Checkpoint | None) -> LinearParser:
        # Each stage has random numbers of its own: they may run side by side
        for_pruner, for_labels, self.rng = np.random.default_rng(self.config.seed).spawn(3)
        if checkpoint is not None and checkpoint.saved is not None:
            before = self.restored(checkpoint.saved.best).scorer
            self.scorer = self._scorer(self.learner.weights, before.pruner)
            if not self.options.joint:
                self.scorer = self.scorer.with_labels(dequantized(before.labels_model.weights))
        else:
            with workers(self.jobs) as start:
                labels = start(lambda: self._train_labels(for_labels)) if not self.options.joint else None
                pruner = self._train_pruner(for_pruner) if self.options.max_candidates else None
                self.scorer = self._scorer(self.learner.weights, pruner)
                if labels is not None:
                    self.scorer = self.scorer.with_labels(labels.result())
        if self.config.learner == "crf" and self.config.optimizer == "lbfgs":
            loop = EpochLoop(self, None, self.config.patience)  # L-BFGS has a memory of its own
            return loop.finish(lambda: self._maximise(loop))
        loop = EpochLoop(self, checkpoint, self.config.patience)
        self.learn = self._learning(self._with_weights(self.learner.weights).models)
        return loop.finish(lambda: loop.run(self.config.epochs))

    def run(self, epoch: int) -> tuple[float, float]:
        found = self.treebank.epoch(self.stage, epoch, self.learn, self.rng, self.listener)
        if isinstance(self.learner, AdaptiveLearner):
            shrink(self.learner, self.config.l2)
        return found

    def result(self) -> LinearParser:
        return self._scored(self._parser(self._with_weights(averaged(self.learner))))

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

    def _learning(self, models: ScoringModels) -> Callable[[NDArray[np.int64]], float]:
        """How heads are learnt from chosen sentences."""
        rule, search = update_rule(self.config), self.config.search

        def learn_from(chosen: NDArray[np.int64]) -> float:
            seed = np.uint64(0 if isinstance(search, Exact) else self.rng.integers(2**63))
            treebank = self.treebank
            loss: float = learn(treebank.batch, chosen, models, self.learner, treebank.gold, search, rule, seed)
            return loss

        return learn_from

    def _maximise(self, loop: EpochLoop[LinearParser]) -> None:
        """Maximise the log-likelihood of the whole treebank at once, less the penalty, by L-BFGS."""
        learner, l2, augmented = self.learner, self.config.l2, self.config.adds_losses
        assert isinstance(learner, AdaptiveLearner)
        models = self._with_weights(learner.weights).models
        clock = time.perf_counter()

        def objective(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            learner.weights[:] = weights
            learner.slopes["gradient"] = 0.0
            batch, gold = self.treebank.batch, self.treebank.gold
            log_p = add_gradients(batch, models, gold, self.config.search, augmented, learner.slopes)
            return log_p - l2 / 2 * float(weights @ weights), learner.slopes["gradient"] - l2 * weights

        def watch(epoch: int, weights: NDArray[np.float64], value: float) -> bool:
            nonlocal clock
            loss, speed = -value / self.treebank.words, self.treebank.words / (time.perf_counter() - clock)
            learner.weights[:] = weights
            enough = loop.end_epoch(loss, speed)
            clock = time.perf_counter()
            return enough

        maximise(objective, np.zeros(len(learner.weights)), self.config.epochs, watch)

    def _train_pruner(self, rng: np.random.Generator) -> LinearModel:
        templates = load_templates("pruner").compiled
        learner = new_learner(table_size(_PRUNER_BITS), 1.0)
        model = view(templates, learner.weights)

        def learn(chosen: NDArray[np.int64]) -> int:
            missed: int = learn_ranking(self.treebank.batch, chosen, model, learner, self.treebank.gold.heads)
            return missed

        for epoch in range(1, _PRUNER_EPOCHS + 1):
            loss, speed = self.treebank.epoch("pruner", epoch, learn, rng, self.listener)
            self.listener.end_epoch(EpochReport("pruner", epoch, loss, speed, None))
        pruner = view(templates, averaged(learner))
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
        model = view(self.templates.compiled, learner.weights, row=row)

        def learn(chosen: NDArray[np.int64]) -> int:
            wrong: int = learn_labels(self.treebank.batch, chosen, model, learner, self.treebank.gold)
            return wrong

        for epoch in range(1, self.config.epochs + 1):
            loss, speed = self.treebank.epoch("labels", epoch, learn, rng, self.listener)
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

    def _scorer(self, weights: NDArray[np.float32], pruner: LinearModel | None) -> LinearScorer:
        """A scorer with these weights, whose labels are still to be learnt unless they are joint."""
        own = self.treebank.labels, self.templates, self.options
        return new_scorer(*own, weights[: table_size(self.bits)], pruner)

    def _with_weights(self, weights: NDArray[np.float32]) -> LinearScorer:
        arcs = table_size(self.bits)
        scorer = self.scorer.with_heads(weights[:arcs])
        return scorer.with_labels(weights[arcs:]) if self.options.joint else scorer


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
def workers(jobs: int) -> Iterator[Starter]:
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
