"""Parsers that annotation tools have trained: one at a time, in a process of its own; files in one folder."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from crossarc.core import CrossarcError
from crossarc.parsers.registry import SYSTEMS, train
from crossarc.pipeline import Pipeline, train_components
from crossarc.server.formats import normal, read_conllu
from crossarc.server.handler import Handler
from crossarc.server.jobs import Answer, Job, Limits, RequestError
from crossarc.server.worker import answer

__all__ = ["Trainer", "Training"]

_SUFFIX = ".crossarc"
_LONGEST_NAME = 80
_REMEMBERED = 200  # trainings whose outcome can be asked for
_DEV = 10  # of so many sentences, one is held out for scores
_MOST_EPOCHS = 30

Training = Future[dict[str, Any]]  # scores of the new model


class Trainer:
    """Trains parsers, keeps them in a folder, and answers requests with them.

    A name comes from a request and is never a path: it is quoted.
    """

    def __init__(self, folder: Path, limits: Limits) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._limits = limits
        self._trains, self._answers = _process(), _process()
        self._current: Training | None = None
        self._trainings: dict[str, Training] = {}  # by number

    def start(self, name: str, texts: Sequence[str], epochs: int) -> str:
        """Begin to train a parser on CoNLL-U texts; the number of the training. Raises ``RequestError`` if one runs."""
        if self._current is not None and not self._current.done():
            raise RequestError(429, "a parser is being trained; try again later")
        path = self._path(name)
        training = self._submit("_trains", _train, list(texts), path, min(epochs, _MOST_EPOCHS), self._limits.length)
        number = uuid.uuid4().hex
        self._current = training
        self._trainings = dict([*self._trainings.items(), (number, training)][-_REMEMBERED:])
        return number

    def training(self, number: str) -> Training:
        """What became of a training. Raises ``RequestError`` 404."""
        if number not in self._trainings:
            raise RequestError(404, f"there is no training {number}")
        return self._trainings[number]

    def names(self) -> list[str]:
        """The parsers that are ready."""
        return sorted(unquote(path.name.removesuffix(_SUFFIX)) for path in self.folder.glob(f"*{_SUFFIX}"))

    def __contains__(self, name: str) -> bool:
        return self._path(name).exists()

    def scores(self, name: str) -> dict[str, Any]:
        """What was measured when the parser was trained."""
        scores: dict[str, Any] = json.loads(self._path(name).with_suffix(".json").read_text(encoding="utf-8"))
        return scores

    def delete(self, name: str) -> None:
        """Forget a parser."""
        self._path(name).unlink(missing_ok=True)
        self._path(name).with_suffix(".json").unlink(missing_ok=True)

    async def answer(self, name: str, job: Job) -> Answer:
        """What a parser of the folder answers. Raises ``RequestError``."""
        path = self._path(name)
        if not path.exists():
            raise RequestError(404, f"there is no model {name}")
        future = self._submit("_answers", _answer, path, path.stat().st_mtime_ns, self._limits.length, job)
        try:
            done = await asyncio.wait_for(asyncio.wrap_future(future), 2 * self._limits.seconds)
        except (TimeoutError, BrokenProcessPool):
            self._answers.shutdown(wait=False, cancel_futures=True)
            self._answers = _process()
            raise RequestError(504, "this took too long: ask for less at a time") from None
        if isinstance(done, RequestError):
            raise done
        assert isinstance(done, Answer)
        return done

    def stop(self) -> None:
        """End the processes."""
        for pool in (self._trains, self._answers):
            pool.shutdown(wait=False, cancel_futures=True)

    def _submit(self, pool: str, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have it done in a process; one that has died is replaced."""
        try:
            return getattr(self, pool).submit(work, *arguments)  # type: ignore[no-any-return]
        except BrokenProcessPool:
            setattr(self, pool, _process())
            return getattr(self, pool).submit(work, *arguments)  # type: ignore[no-any-return]

    def _path(self, name: str) -> Path:
        if not 0 < len(name) <= _LONGEST_NAME:
            raise RequestError(400, f"the name of a model has 1 to {_LONGEST_NAME} characters")
        return self.folder / f"{quote(name, safe='')}{_SUFFIX}"


def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))


def _train(texts: Sequence[str], path: Path, epochs: int, max_length: int) -> dict[str, Any]:
    """Train a log-linear parser, which learns from words without a head too and knows probabilities."""
    trees = [tree for text in texts for tree in read_conllu(normal(text), max_length) if set(tree.head) != {"_"}]
    dev = [tree for tree in trees[_DEV - 1 :: _DEV] if "_" not in tree.head]
    held_out = set(map(id, dev))
    rest = [tree for tree in trees if id(tree) not in held_out]
    if not rest:
        raise CrossarcError("there is no tree to learn from")
    names = ["tagger"] if all("_" not in tree.upos for tree in rest) else []
    names += ["lemmatizer"] if names and any(set(tree.lemma) != {"_"} for tree in rest) else []
    annotated = train_components(rest, names, dev=dev)
    config = replace(SYSTEMS["spanning-tree"].presets["ms2007"], epochs=epochs)  # type: ignore[call-arg]
    parser = train(annotated.treebank, config, dev=annotated.dev)
    scores = {"trained_on": len(rest), "tested_on": len(dev), "epochs": epochs, **_scores(parser.dev)}
    path.with_suffix(".json").write_text(json.dumps(scores), encoding="utf-8")
    Pipeline(parser, **annotated.components).save(path)
    return scores


def _scores(dev: Any) -> dict[str, float]:
    return {} if dev is None else {"uas": dev.uas, "las": dev.las}


@lru_cache(maxsize=2)
def _handler(path: Path, modified: int, max_length: int) -> Handler:
    return Handler(str(path), max_length)


def _answer(path: Path, modified: int, max_length: int, job: Job) -> Answer | RequestError:
    return answer(_handler(path, modified, max_length), job)
