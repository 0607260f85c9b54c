"""Workers that hold shards of a treebank while a parser is trained: what all engines have in common.

Shard i belongs to worker i modulo their number. Each is asked about all of its shards at once, and answers in their
order: answers can be taken in the order of all shards while the workers go on. Workers have no state between two
questions: one that dies is replaced, and asked again.
"""

from __future__ import annotations

import logging
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from crossarc.core import CrossarcError

__all__ = ["Failure", "Holder", "WorkerDied", "answer_for", "ask_all"]

_DEATHS = 3  # of the worker of one shard, before there is an answer
_log = logging.getLogger("crossarc")


class WorkerDied(Exception):
    """A worker is gone; why."""


class Failure(NamedTuple):
    """What a worker answers if there is an error."""

    error: Exception


def answer_for(function: Callable[[Any], Any], shard: Any) -> Any:
    """What the function gives for a shard, or a ``Failure``."""
    try:
        return function(shard)
    except (CrossarcError, OSError) as error:
        return Failure(error)
    except Exception as error:
        return Failure(CrossarcError(f"a worker failed: {type(error).__name__}: {error}"))


class Holder(ABC):
    """A worker that holds some of the shards, as the driver sees it."""

    def __init__(self) -> None:
        self._question: Any = None
        self._answers = 0  # to the question

    def ask(self, question: Any) -> None:
        """Put a question about all of its shards."""
        self._question, self._answers = question, 0
        self.send(question, 0)

    def answer(self) -> Any:
        """Its next answer; the worker may die over it, but not for ever."""
        deaths = 0
        while True:
            try:
                answer = self.receive()
            except WorkerDied as death:
                deaths += 1
                if deaths == _DEATHS:
                    raise CrossarcError(f"training lost {deaths} workers on one shard, the last: {death}") from None
                _log.warning("a worker died (%s): another one does its work again", death)
                self.replace()
                self.send(self._question, self._answers)
            else:
                self._answers += 1
                if isinstance(answer, Failure):
                    raise answer.error
                return answer

    @abstractmethod
    def send(self, question: Any, first: int) -> None:
        """Put a question about its shards, from one of them on. If it is dead, ``receive`` will tell."""

    @abstractmethod
    def receive(self) -> Any:
        """Wait for an answer; ``WorkerDied`` if there will be none."""

    @abstractmethod
    def replace(self) -> None:
        """Let another worker take the place of one that has died."""


def ask_all(
    holders: Sequence[Holder], shards: int, share: Callable[[bytes], Any], function: Callable[[Any], Any]
) -> Iterator[Any]:
    """What a function gives for each of so many shards, in their order; ``share`` makes a question of its pickle."""
    question = share(pickle.dumps(function, protocol=pickle.HIGHEST_PROTOCOL))
    for holder in holders:
        holder.ask(question)
    for number in range(shards):
        yield holders[number % len(holders)].answer()
