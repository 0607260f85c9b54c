"""Training of a linear scorer: pruner, labels, heads, one stage after the other."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.features.attributes import attributes_of
from crossarc.features.templates import load_templates
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
from crossarc.models.file import ModelError, Tensors, load_model, save_model
from crossarc.parsers.linear._crf import add_gradients
from crossarc.parsers.linear._learn import learn
from crossarc.parsers.linear.config import LinearConfig
from crossarc.parsers.linear.parser import LinearParser
from crossarc.parsers.training import (
    DevScores,
    EpochReport,
    TrainingListener,
    Treebank,
    best_so_far,
    dev_scores,
    possible_trees,
    with_treebank_defaults,
)
from crossarc.scorers.linear._labels import learn_labels
from crossarc.scorers.linear._pruner import count_candidates, learn_ranking
from crossarc.scorers.linear.model import LinearModel, view
from crossarc.scorers.linear.scorer import LinearScorer, ScorerOptions, ScoringModels, new_scorer
from crossarc.search.methods import Exact

__all__ = ["LinearTraining", "State", "train_linear", "workers"]

Starter = Callable[[Callable[[], NDArray[np.float32]]], Future[NDArray[np.float32]]]

_PRUNER_EPOCHS = 3
_PRUNER_BITS = 20
_LABEL_BITS = 20
_RATE = 0.1  # of the steps along gradients, chosen on dev
_LABEL_STEP = 0.02  # the largest step of passive-aggressive learning, chosen on dev


def train_linear(
    treebank: Sequence[Sentence],
    config: LinearConfig | None = None,
    *,
    dev: Sequence[Sentence] = (),
    jobs: int = 1,
    checkpoint: Path | None = None,
    resume: bool = False,
    listener: TrainingListener | None = None,
) -> LinearParser:
    """Train on trees; with ``dev``, the weights after the epoch that is best there are kept.

    An interrupt after the first epoch ends training and keeps the best so far. With ``checkpoint``, the state after
    each epoch is kept in that file until training ends; ``resume`` goes on from there. With two ``jobs`` or more,
    labels are learnt beside the heads; the result is the same.
    """
    config, listener = with_treebank_defaults(treebank, config or LinearConfig()), listener or TrainingListener()
    if config.learner == "crf":
        flags = {"projective": bool(config.projective), "single_root": bool(config.single_root)}
        treebank = possible_trees(treebank, listener, **flags)
    training = LinearTraining(Treebank(treebank), dev, config, listener, checkpoint)
    with workers(jobs) as run:
        return training.run(run, resume)


@dataclass
class State:
    """Where the training of the heads stands."""

    epoch: int
    best_epoch: int  # the first with the best score
    learner: Learner | AdaptiveLearner
    rng: np.random.Generator
    best: LinearScorer | None = None
    dev: DevScores | None = None  # of the best


class LinearTraining:
    """The stages of training, and the state that a checkpoint keeps."""

    def __init__(
        self,
        treebank: Treebank,
        dev: Sequence[Sentence],
        config: LinearConfig,
        listener: TrainingListener,
        checkpoint: Path | None,
        options: ScorerOptions | None = None,
    ) -> None:
        self.treebank, self.dev, self.config = treebank, dev, config
        self.listener, self.checkpoint = listener, checkpoint
        self.options = options or config.scorer
        self.templates = load_templates(config.features)

    def run(self, start: Starter, resume: bool) -> LinearParser:
        if resume:
            scorer, state = self._read_checkpoint()
        else:
            # Each stage has random numbers of its own: they may run side by side
            for_pruner, for_labels, for_heads = np.random.default_rng(self.config.seed).spawn(3)
            labels = start(lambda: self._train_labels(for_labels)) if not self.options.joint else None
            pruner = self._train_pruner(for_pruner) if self.options.max_candidates else None
            learner = self._new_learner()
            state = State(0, 0, learner, for_heads)
            scorer = self._scorer(learner.weights, pruner)
            if labels is not None:
                scorer = scorer.with_labels(labels.result())
        try:
            if self.config.learner == "crf" and self.config.optimizer == "lbfgs":
                self._climb(scorer, state)
            else:
                self._train_heads(scorer, state)
        except KeyboardInterrupt:
            if state.best is None:
                raise
        else:
            if self.checkpoint is not None:
                self.checkpoint.unlink(missing_ok=True)
        assert state.best is not None
        return self._parser(state.best, state.dev)

    def _parser(self, scorer: LinearScorer, dev: DevScores | None = None) -> LinearParser:
        return LinearParser(self.config, scorer, dev, self.treebank.checksum)

    def _learning(self, models: ScoringModels, state: State) -> Callable[[NDArray[np.int64]], float]:
        """How heads are learnt from chosen sentences."""
        rule, search = update_rule(self.config), self.config.search

        def learn_from(chosen: NDArray[np.int64]) -> float:
            seed = np.uint64(0 if isinstance(search, Exact) else state.rng.integers(2**63))
            treebank = self.treebank
            loss: float = learn(treebank.batch, chosen, models, state.learner, treebank.gold, search, rule, seed)
            return loss

        return learn_from

    def _parsed(self, scorer: LinearScorer) -> Iterator[Sentence]:
        """The dev set."""
        return self._parser(scorer).parse(self.dev)

    def _options(self) -> dict[str, Any]:
        """What must be the same when training is resumed."""
        return asdict(self.config)

    def _train_heads(self, scorer: LinearScorer, state: State) -> None:
        learner = state.learner
        models = self._with_weights(scorer, learner.weights).models
        learn = self._learning(models, state)
        for epoch in range(state.epoch + 1, self.config.epochs + 1):
            loss, speed = self.treebank.epoch("heads", epoch, learn, state.rng, self.listener)
            if isinstance(learner, AdaptiveLearner):
                shrink(learner, self.config.l2)
            if self._end_epoch(state, epoch, self._with_weights(scorer, averaged(learner)), loss, speed):
                return

    def _climb(self, scorer: LinearScorer, state: State) -> None:
        """Maximise the log-likelihood of the whole treebank at once, less the penalty, by L-BFGS."""
        learner, l2 = state.learner, self.config.l2
        assert isinstance(learner, AdaptiveLearner)
        models = self._with_weights(scorer, learner.weights).models
        clock = time.perf_counter()

        def objective(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            learner.weights[:] = weights
            learner.slopes["gradient"] = 0.0
            log_p = add_gradients(self.treebank.batch, models, self.treebank.gold, self.config.search, learner.slopes)
            return log_p - l2 / 2 * float(weights @ weights), learner.slopes["gradient"] - l2 * weights

        def watch(epoch: int, weights: NDArray[np.float64], value: float) -> bool:
            nonlocal clock
            loss, speed = -value / self.treebank.words, self.treebank.words / (time.perf_counter() - clock)
            enough = self._end_epoch(state, epoch, self._with_weights(scorer, weights.astype(np.float32)), loss, speed)
            clock = time.perf_counter()
            return enough

        maximise(objective, np.zeros(len(learner.weights)), self.config.epochs, watch)

    def _end_epoch(self, state: State, epoch: int, current: LinearScorer, loss: float, speed: float) -> bool:
        """Whether training has gone on for long enough."""
        dev = dev_scores(self.dev, self._parsed(current)) if self.dev else None
        state.epoch = epoch
        if state.dev is None or dev is None or dev.las > state.dev.las:
            state.best_epoch = epoch
        if best_so_far(state.dev, dev):
            state.best, state.dev = current, dev
        self._write_checkpoint(state)
        self.listener.report(EpochReport("heads", epoch, loss, speed, dev))
        return 0 < self.config.patience <= epoch - state.best_epoch

    def _train_pruner(self, rng: np.random.Generator) -> LinearModel:
        templates = load_templates("pruner").compiled
        learner = new_learner(table_size(_PRUNER_BITS), 1.0)
        model = view(templates, learner.weights)

        def learn(chosen: NDArray[np.int64]) -> int:
            missed: int = learn_ranking(self.treebank.batch, chosen, model, learner, self.treebank.gold.heads)
            return missed

        for epoch in range(1, _PRUNER_EPOCHS + 1):
            loss, speed = self.treebank.epoch("pruner", epoch, learn, rng, self.listener)
            self.listener.report(EpochReport("pruner", epoch, loss, speed, None))
        pruner = view(templates, averaged(learner))
        if self.dev:
            gold = np.concatenate([sentence.heads for sentence in self.dev])
            everything, right = count_candidates(attributes_of(self.dev), pruner, gold, *self.options[1:3])
            words = sum(map(len, self.dev))
            self.listener.pruned(everything / words, right / words)
        return pruner

    def _train_labels(self, rng: np.random.Generator) -> NDArray[np.float32]:
        row = len(self.treebank.labels)
        learner = new_learner(table_size(_LABEL_BITS, row=row), _LABEL_STEP)
        model = view(self.templates.compiled, learner.weights, row=row)

        def learn(chosen: NDArray[np.int64]) -> int:
            wrong: int = learn_labels(self.treebank.batch, chosen, model, learner, self.treebank.gold)
            return wrong

        for epoch in range(1, self.config.epochs + 1):
            loss, speed = self.treebank.epoch("labels", epoch, learn, rng, self.listener)
            self.listener.report(EpochReport("labels", epoch, loss, speed, None))
        return averaged(learner)

    def _new_learner(self) -> Learner | AdaptiveLearner:
        size = table_size(self.config.hash_bits) + self._label_weights()
        if self.config.learner == "crf":
            return new_adaptive_learner(size, _RATE)
        return new_learner(size, self.config.aggressiveness)

    def _label_weights(self) -> int:
        """Joint labels have their weights behind those of the arcs, in the same table."""
        return table_size(_LABEL_BITS, row=len(self.treebank.labels)) if self.options.joint else 0

    def _scorer(self, weights: NDArray[np.float32], pruner: LinearModel | None) -> LinearScorer:
        """A scorer with these weights, whose labels are still to be learnt unless they are joint."""
        own = self.treebank.labels, self.templates, self.options
        scorer = new_scorer(*own, weights[: table_size(self.config.hash_bits)], pruner)
        return self._with_weights(scorer, weights)

    def _with_weights(self, scorer: LinearScorer, weights: NDArray[np.float32]) -> LinearScorer:
        arcs = table_size(self.config.hash_bits)
        scorer = scorer.with_heads(weights[:arcs])
        return scorer.with_labels(weights[arcs:]) if self.options.joint else scorer

    def _write_checkpoint(self, state: State) -> None:
        if self.checkpoint is None or self.config.optimizer == "lbfgs":  # which has a memory of its own
            return
        assert state.best is not None
        best, learner = state.best, state.learner
        tensors: Tensors = {
            **state_of(learner),
            "best.heads": best.heads_model.weights,
            "best.labels": best.labels_model.weights,
        }
        if best.pruner is not None:
            tensors["pruner"] = best.pruner.weights
        header = {
            "system": "training",
            "config": self._options(),
            "treebank": self.treebank.checksum,
            "epoch": state.epoch,
            "best_epoch": state.best_epoch,
            "random": json.dumps(state.rng.bit_generator.state),
            "dev": state.dev,
        }
        save_model(self.checkpoint, header, tensors)

    def _read_checkpoint(self) -> tuple[LinearScorer, State]:
        if self.checkpoint is None or not self.checkpoint.exists():
            raise ModelError(f"{self.checkpoint}: nothing to resume: no training was interrupted here")
        header, tensors = load_model(self.checkpoint)
        if header["system"] != "training":
            raise ModelError(f"{self.checkpoint}: not the state of an interrupted training")
        if header["treebank"] != self.treebank.checksum:
            raise ModelError(f"{self.checkpoint}: was training on another treebank")
        config = {**self._options(), "epochs": header["config"].get("epochs")}
        if header["config"] != config:
            different = ", ".join(name for name in config if config[name] != header["config"].get(name))
            raise ModelError(f"{self.checkpoint}: was training with other options: {different}")
        learner = self._new_learner()
        for name, array in state_of(learner).items():
            array[:] = tensors[name]
        rng = np.random.default_rng()
        rng.bit_generator.state = json.loads(header["random"])
        pruner = view(load_templates("pruner").compiled, tensors["pruner"]) if "pruner" in tensors else None
        scorer = self._scorer(learner.weights, pruner).with_labels(tensors["best.labels"])
        dev = DevScores(*header["dev"]) if header["dev"] else None
        best = scorer.with_heads(tensors["best.heads"])
        return scorer, State(header["epoch"], header["best_epoch"], learner, rng, best, dev)


def update_rule(config: LinearConfig) -> UpdateRule:
    """How weights are updated."""
    if config.learner == "crf":
        return Crf()
    if config.learner == "kbest-mira":
        return KBestMira(config.loss_augmented, config.k)
    kinds: dict[str, type[UpdateRule]] = {"mira": Mira, "factored-mira": FactoredMira, "perceptron": Perceptron}
    return kinds[config.learner](config.loss_augmented)


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
