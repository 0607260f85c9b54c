"""Learning from what a person has accepted: a parser is trained beside the service, and is then one of its models."""

from __future__ import annotations

import logging
import multiprocessing
import signal
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from crossarc.core import CrossarcError, Sentence
from crossarc.learning.listener import EpochReport, TrainingListener
from crossarc.parsers import PRESETS, train
from crossarc.parsers.training import with_treebank_defaults
from crossarc.pipeline import Pipeline
from crossarc.server.errors import JSON_ERRORS
from crossarc.server.formats import normal, read_conllu
from crossarc.server.handler import Handler
from crossarc.server.jobs import Description, Limits, RequestError
from crossarc.server.registry import Registry
from crossarc.server.strict import Strict
from crossarc.trees.shape import is_tree

__all__ = ["Learner", "router"]

_EPOCHS = 8
_LEAST = 2  # sentences
_PRESET = "ms2007"  # log-linear: it has probabilities without sentences to calibrate them on

router = APIRouter(prefix="/api", tags=["Crossarc"], responses=JSON_ERRORS)


class LearnRequest(Strict):
    text: str = Field(description="The sentences to learn from, in CoNLL-U, with trees.")


class Progress(BaseModel):
    """How learning goes on."""

    state: Literal["idle", "learning", "done", "failed"]
    share: float = Field(default=0.0, description="How much of it is done, from 0 to 1.")
    model: str | None = Field(default=None, description="The model that was learnt; it can be asked like all others.")
    error: str | None = None


@router.post("/learn", status_code=202)
async def learn(request: Request, wanted: LearnRequest) -> Progress:
    """Train a parser on these sentences, in the background. One training at a time."""
    limits: Limits = request.app.state.limits
    learner: Learner = request.app.state.learner
    learner.start(_treebank(wanted.text, limits))
    return learner.progress()


@router.get("/learn")
async def progress(request: Request) -> Progress:
    """How far it is; when it is done, which model it is."""
    learner: Learner = request.app.state.learner
    return learner.progress()


@router.delete("/learn")
async def cancel(request: Request) -> Progress:
    """Stop learning."""
    learner: Learner = request.app.state.learner
    learner.cancel()
    return learner.progress()


def _treebank(text: str, limits: Limits) -> list[Sentence]:
    try:
        sentences = read_conllu(normal(text), limits.length)
    except CrossarcError as error:
        if isinstance(error, RequestError):
            raise
        raise RequestError(400, str(error)) from None
    trees = [sentence for sentence in sentences if is_tree(sentence.heads)]
    if len(trees) < _LEAST:
        raise RequestError(400, f"{len(trees)} trees: accept at least {_LEAST} sentences to learn from")
    return trees


@dataclass
class _Running:
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    name: str
    path: Path


class Learner:
    """Trains one parser at a time in a process of its own; what it has learnt joins the registry."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._folder: TemporaryDirectory[str] | None = None  # of models, once there is one
        self._running: _Running | None = None
        self._last = Progress(state="idle")
        self._learnt = 0

    def start(self, treebank: list[Sentence]) -> None:
        """Raises ``RequestError`` if a training is under way."""
        if self.progress().state == "learning":
            raise RequestError(409, "a training is under way: wait for it, or stop it")
        self._learnt += 1
        name = f"learnt-{self._learnt}"
        self._folder = self._folder or TemporaryDirectory(prefix="crossarc-")
        path = Path(self._folder.name) / f"{name}.crossarc"
        context = multiprocessing.get_context("spawn")
        pipe, other = context.Pipe()
        process = context.Process(target=_train, args=(other, treebank, path), daemon=True)
        process.start()
        other.close()
        self._running = _Running(process, pipe, name, path)
        self._last = Progress(state="learning")

    def progress(self) -> Progress:
        """What the process has said so far."""
        running = self._running
        while running is not None:
            try:
                if not running.pipe.poll():
                    break
                self._hear(running, running.pipe.recv())
            except (EOFError, OSError):
                self._end(Progress(state="failed", error="the training process ended"))
            running = self._running
        return self._last

    def _hear(self, running: _Running, said: float | Description | CrossarcError) -> None:
        if isinstance(said, float):
            self._last = Progress(state="learning", share=said)
        elif isinstance(said, Description):
            self._registry.add(running.name, said, str(running.path))
            self._end(Progress(state="done", share=1.0, model=running.name))
        else:
            self._end(Progress(state="failed", error=str(said)))

    def cancel(self) -> None:
        """Stop what is under way, if anything is."""
        if self.progress().state == "learning":
            self._end(Progress(state="idle"))

    def _end(self, last: Progress) -> None:
        if self._running is not None:
            self._running.process.kill()
            self._running.process.join()
            self._running.pipe.close()
        self._running, self._last = None, last

    def close(self) -> None:
        """End for good."""
        self.cancel()
        if self._folder is not None:
            self._folder.cleanup()


class _Shares(TrainingListener):
    """Tells through a pipe how much is done; an upper bound of what is to do is known before."""

    def __init__(self, pipe: Connection, words: int) -> None:
        self._pipe, self._all, self._done = pipe, words * _EPOCHS, 0

    def progress(self, stage: str, words: int) -> None:
        self._done += words
        self._pipe.send(min(0.95, self._done / max(1, self._all)))

    def end_epoch(self, report: EpochReport) -> None:
        logging.getLogger(__name__).info("%s, epoch %d", report.stage, report.epoch)


def _train(pipe: Connection, treebank: list[Sentence], path: Path) -> None:
    """What runs in the process: train, save, and say what the model can do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the service, which ends this process
    try:
        config = replace(with_treebank_defaults(treebank, PRESETS[_PRESET]), epochs=_EPOCHS, patience=0)
        parser = train(treebank, config, listener=_Shares(pipe, sum(map(len, treebank))))
        Pipeline(parser).save(path)
        pipe.send(Handler(str(path), max_length=1000).description)
    except CrossarcError as error:
        pipe.send(CrossarcError(str(error)))
