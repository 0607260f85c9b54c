"""What every training has in common: the treebank as arrays, and one loop over epochs.

The loop keeps the parser of the epoch that is best on the dev set, ends early when nothing gets better or on an
interrupt, and writes a checkpoint after each epoch, from which it can go on.
"""

from __future__ import annotations

import hashlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import asdict, replace
from operator import eq
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, CrossarcError, NoTreeError, Sentence
from crossarc.features.attributes import attributes_of
from crossarc.learning.listener import DevScores, EpochReport, TrainingListener
from crossarc.learning.shards import InProcess, Workers
from crossarc.models import Contents, ModelError, Tensors, read_model, write_model
from crossarc.parsers.config import Config
from crossarc.trees import best_tree, is_projective

__all__ = [
    "Checkpoint",
    "DevScores",
    "EpochLoop",
    "EpochReport",
    "Epochs",
    "Gold",
    "Saved",
    "TrainingListener",
    "TrainingSetup",
    "Treebank",
    "checksum",
    "dev_scores",
    "has_possible_tree",
    "possible_trees",
    "run_epochs",
    "with_treebank_defaults",
]

AnyConfig = TypeVar("AnyConfig", bound=Config)

_AT_ONCE = 50  # sentences in one call of a kernel


class Gold(NamedTuple):
    """The trees of all sentences, one after the other."""

    heads: NDArray[np.int64]
    labels: NDArray[np.int64]
    n_labels: int


class Treebank:
    """Trees to learn from, as the kernels want them."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        if not sentences:
            raise CrossarcError("cannot train on an empty treebank")
        self.checksum = checksum(sentences)
        self.batch = attributes_of(sentences)
        labelled = (zip(sentence.head, sentence.deprel, strict=True) for sentence in sentences)
        self.labels = tuple(sorted({label for words in labelled for head, label in words if head != "_"}))
        number = {label: i for i, label in enumerate(self.labels)}
        gold_labels = np.array([number.get(label, -1) for s in sentences for label in ("", *s.deprel)])
        self.gold = Gold(np.concatenate([s.heads for s in sentences]), gold_labels, len(self.labels))
        self.words = sum(map(len, sentences))

    def shard(self, number: int, of: int) -> Treebank:
        """Every so many sentences one, from that number on; labels keep their numbers."""
        chosen = np.arange(number, len(self.batch.starts) - 1, of)
        nodes = self.batch.nodes_of(chosen)
        part = copy(self)
        part.batch = self.batch.of_sentences(chosen)
        part.gold = self.gold._replace(heads=self.gold.heads[nodes], labels=self.gold.labels[nodes])
        part.words = len(nodes) - len(chosen)
        return part

    def epoch(
        self,
        stage: str,
        epoch: int,
        learn: Callable[[NDArray[np.int64]], float],
        rng: np.random.Generator,
        listener: TrainingListener,
    ) -> tuple[float, float]:
        """Learn from all sentences in random order: loss for each word, words per second."""
        listener.begin_epoch(stage, epoch, self.words)
        start = time.perf_counter()
        loss = 0.0
        starts = self.batch.starts
        order = rng.permutation(len(starts) - 1)
        for chosen in np.array_split(order, len(order) // _AT_ONCE + 1):
            loss += learn(chosen)
            listener.progress(stage, int((starts[chosen + 1] - starts[chosen] - 1).sum()))
        return loss / self.words, self.words / (time.perf_counter() - start)


Result = TypeVar("Result", bound=Any)  # a parser, or another thing with ``dev`` and ``to_model``


class TrainingSetup(NamedTuple):
    """What training has beside a treebank and a configuration: see ``crossarc.parsers.train``."""

    dev: Sequence[Sentence] = ()
    listener: TrainingListener = TrainingListener()
    checkpoint: Path | None = None
    resume: bool = False
    jobs: int = 1
    workers: Workers = InProcess()

    def checkpoint_for(self, config: Config, treebank: str) -> Checkpoint:
        """The state of a training with this configuration on the treebank with this checksum."""
        return Checkpoint(self.checkpoint, config, treebank, resume=self.resume)

    def refuse_to_resume(self, why: str) -> None:
        """For what has no epochs."""
        if self.resume:
            raise CrossarcError(f"{why}: there is nothing to resume")


class Epochs(ABC, Generic[Result]):
    """What the training of a system tells the loop."""

    stage: str
    rng: np.random.Generator

    def __init__(self, setup: TrainingSetup) -> None:
        self.dev, self.listener = setup.dev, setup.listener

    @abstractmethod
    def run(self, epoch: int) -> tuple[float | None, float]:
        """Learn for an epoch: its loss if that is known, words per second."""

    @abstractmethod
    def result(self) -> Result:
        """The parser as learnt so far, with its scores on dev if there is one."""

    @abstractmethod
    def restored(self, contents: Contents) -> Result:
        """The best parser so far, from a checkpoint."""

    @abstractmethod
    def state(self) -> dict[str, NDArray[Any]]:
        """All arrays that must be kept to go on; what is written there changes the training."""

    def quality(self, result: Result) -> float | None:
        """What the best epoch is chosen by; None without a dev set: then it is the last."""
        return None if result.dev is None else result.dev.las

    def report(self, epoch: int, loss: float | None, speed: float, result: Result) -> EpochReport:
        """What listeners are told of an epoch."""
        return EpochReport(self.stage, epoch, loss, speed, result.dev)

    def has_converged(self) -> bool:
        """Whether another epoch would change nothing."""
        return False


class Saved(NamedTuple):
    """What a checkpoint holds."""

    stage: str
    epoch: int
    best_epoch: int
    random: dict[str, Any]
    state: Tensors
    best: Contents


class Checkpoint:
    """The file that keeps the state of training after each epoch; nothing is kept without a path."""

    def __init__(self, path: Path | None, config: Config, treebank: str, *, resume: bool = False) -> None:
        self.path = path
        self.config = asdict(config)
        self.treebank = treebank
        self.saved = self._read() if resume else None  # where to go on

    def write(self, training: Epochs[Any], epoch: int, best_epoch: int, best: Any) -> None:
        if self.path is None:
            return
        header = {
            "config": self.config,
            "treebank": self.treebank,
            "stage": training.stage,
            "epoch": epoch,
            "best_epoch": best_epoch,
            "random": json.dumps(training.rng.bit_generator.state),
        }
        write_model(self.path, {"training": Contents(header, training.state()), "best": best})

    def _read(self) -> Saved:
        """The state of an interrupted training with the same options on the same treebank."""
        if self.path is None or not self.path.exists():
            raise ModelError(f"{self.path}: nothing to resume: no training was interrupted here")
        components = read_model(self.path).components
        if "training" not in components:
            raise ModelError(f"{self.path}: not the state of an interrupted training")
        header, state = components["training"]
        if header["treebank"] != self.treebank:
            raise ModelError(f"{self.path}: was training on another treebank")
        config = {**self.config, "epochs": header["config"].get("epochs")}
        if header["config"] != config:
            names = config.keys() | header["config"].keys()
            different = ", ".join(sorted(n for n in names if config.get(n) != header["config"].get(n)))
            raise ModelError(f"{self.path}: was training with other options: {different}")
        random = json.loads(header["random"])
        return Saved(header["stage"], header["epoch"], header["best_epoch"], random, state, components["best"])


class _Plan(NamedTuple):
    """The epochs that are to come when training begins, or goes on."""

    done: int
    epochs: int
    start: float  # seconds, by the clock

    def seconds_left(self, epoch: int) -> float | None:
        """After an epoch: how long the others will take; None after the last."""
        each = (time.perf_counter() - self.start) / (epoch - self.done)
        return each * (self.epochs - epoch) if epoch < self.epochs else None


class EpochLoop(Generic[Result]):
    """Keeps the best result of all epochs, and knows when to end."""

    def __init__(self, training: Epochs[Result], checkpoint: Checkpoint | None, patience: int = 0) -> None:
        self.training, self.listener = training, training.listener
        self.checkpoint, self.patience = checkpoint, patience
        self.best: Result | None = None
        self.best_epoch = 0  # the first with the best score
        self.kept_epoch = 0  # the one that the best result is of: the last with the best score
        self.last_epoch = 0
        self._plan: _Plan | None = None  # of those that are still to come
        if checkpoint is not None and checkpoint.saved is not None:
            self._resume(checkpoint.saved)

    def _resume(self, saved: Saved) -> None:
        """Go on where a checkpoint was written."""
        self.training.rng.bit_generator.state = saved.random
        for name, array in self.training.state().items():
            array[...] = saved.state[name]
        self.best, self.best_epoch = self.training.restored(saved.best), saved.best_epoch
        self.last_epoch, self.kept_epoch = saved.epoch, saved.best_epoch

    def end_epoch(self, loss: float | None, speed: float) -> bool:
        """Note the result of another epoch; whether there have been enough."""
        training, epoch = self.training, self.last_epoch + 1
        current = training.result()
        quality = training.quality(current)
        highest = None if self.best is None else training.quality(self.best)
        if highest is None or quality is None or quality > highest:
            self.best_epoch = epoch
        if highest is None or quality is None or quality >= highest:
            self.best, self.kept_epoch = current, epoch
        self.last_epoch = epoch
        if self.checkpoint is not None:
            self.checkpoint.write(training, epoch, self.best_epoch, self.best)
        left = None if self._plan is None else self._plan.seconds_left(epoch)
        self.listener.end_epoch(training.report(epoch, loss, speed, current)._replace(seconds_left=left))
        return 0 < self.patience <= epoch - self.best_epoch or training.has_converged()

    def run(self, epochs: int) -> None:
        """Learn until there have been so many epochs, or enough."""
        self._plan = _Plan(self.last_epoch, epochs, time.perf_counter())
        while self.last_epoch < epochs:
            if self.end_epoch(*self.training.run(self.last_epoch + 1)):
                break

    def finish(self, learn: Callable[[], None]) -> Result:
        """The best result of all epochs that this function runs; an interrupt after the first ends it."""
        try:
            learn()
        except KeyboardInterrupt:
            if self.best is None:
                raise
            self.listener.interrupted(self.training.stage, self.kept_epoch)
        assert self.best is not None
        self.listener.kept(self.training.stage, self.kept_epoch, self.last_epoch)
        return self.best


def run_epochs(training: Epochs[Result], epochs: int, checkpoint: Checkpoint, patience: int = 0) -> Result:
    """Train for so many epochs, or until nothing gets better for ``patience`` of them; the best result."""
    loop = EpochLoop(training, checkpoint, patience)
    return loop.finish(lambda: loop.run(epochs))


def with_treebank_defaults(treebank: Iterable[Sentence], config: AnyConfig) -> AnyConfig:
    """The configuration with what it leaves to the treebank filled in."""
    found: dict[str, Any] = {}
    if getattr(config, "projective", True) is None:
        found["projective"] = all(has_possible_tree(sentence, projective=True) for sentence in treebank)
    if getattr(config, "single_root", True) is None:
        found["single_root"] = all(has_possible_tree(sentence, single_root=True) for sentence in treebank)
    return replace(config, **found)


def has_possible_tree(sentence: Sentence, *, projective: bool = False, single_root: bool = False) -> bool:
    """Whether the tree of a sentence has that shape, or whether one that has its known heads can have it."""
    if "_" not in sentence.head:
        right_root = not single_root or sentence.head.count("0") == 1
        return right_root and (not projective or is_projective(sentence.heads))
    known = frozenset((int(head), word) for word, head in enumerate(sentence.head, 1) if head != "_")
    constraints = Constraints(required_arcs=known, projective=projective, single_root=single_root)
    try:
        best_tree(np.zeros((len(sentence) + 1, len(sentence) + 1)), constraints=constraints)
    except NoTreeError:
        return False
    return True


def possible_trees(
    treebank: Sequence[Sentence], listener: TrainingListener, *, projective: bool, single_root: bool
) -> list[Sentence]:
    """The sentences whose gold tree is one of those that the model sums over: no other has a probability."""
    possible = [s for s in treebank if has_possible_tree(s, projective=projective, single_root=single_root)]
    if len(possible) < len(treebank):
        listener.sentences_left_out(len(treebank) - len(possible), "the model gives their trees no probability")
    return possible


def dev_scores(gold: Sequence[Sentence], parsed: Iterable[Sentence]) -> DevScores:
    """UAS and LAS; the scorer of ``evaluation``, which gives the same, takes as long as parsing."""
    heads = labels = 0
    for sentence, found in zip(gold, parsed, strict=True):
        for right_head, right_label in zip(
            map(eq, sentence.head, found.head), map(eq, sentence.deprel, found.deprel), strict=True
        ):
            heads += right_head
            labels += right_head and right_label
    words = sum(map(len, gold))
    return DevScores(heads / words, labels / words)


def checksum(sentences: Sequence[Sentence]) -> str:
    """A short name of what a parser was trained on."""
    digest = hashlib.sha256()
    for sentence in sentences:
        digest.update(repr(sentence.columns[:7]).encode())
    return digest.hexdigest()[:16]
