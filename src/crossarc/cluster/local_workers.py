"""Training with processes of this machine."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from crossarc.cluster.holders import Holder, WorkerDied, answer_for, ask_all
from crossarc.cluster.local import begin_worker, level_of_messages, one_thread
from crossarc.learning.shards import MapShards

__all__ = ["LocalWorkers"]


@dataclass(frozen=True)
class LocalWorkers:
    """So many processes at most; see ``crossarc.parsers.train``.

    In a script, training with them must be below ``if __name__ == "__main__":``, for processes start anew.
    """

    jobs: int

    @contextmanager
    def hold(self, shards: Sequence[Any]) -> Iterator[MapShards]:
        """Give each shard to a process; they end with the context."""
        jobs = min(self.jobs, len(shards))
        holders: list[_Process] = []
        try:
            holders.extend(_Process(shards[number::jobs], speaks=number == 0) for number in range(jobs))
            for holder in holders:
                holder.give_shards()
            yield partial(ask_all, holders, len(shards), bytes)
        finally:
            for holder in holders:
                holder.end()


class _Process(Holder):
    """A process that holds shards."""

    def __init__(self, shards: Sequence[Any], *, speaks: bool) -> None:
        super().__init__()
        self._shards, self._level = shards, level_of_messages() if speaks else None
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._level))
        with one_thread():
            self._process.start()
        theirs.close()

    def give_shards(self) -> None:
        with suppress(OSError):  # it may be dead: ``receive`` will tell
            self._pipe.send(self._shards)

    def send(self, question: bytes, first: int) -> None:
        with suppress(OSError):
            self._pipe.send(first)
            self._pipe.send_bytes(question)

    def receive(self) -> Any:
        try:
            return self._pipe.recv()
        except (EOFError, OSError):
            self.end()
            raise WorkerDied(f"exit code {self._process.exitcode}") from None

    def replace(self) -> None:
        self._start()
        self.give_shards()

    def end(self) -> None:
        self._pipe.close()
        self._process.kill()
        self._process.join()


def _serve(pipe: Connection, level: int | None) -> None:
    """What the process does: answer one question after the other, as long as there is a driver."""
    begin_worker(level)
    with suppress(EOFError):
        shards = pipe.recv()
        while True:
            first = pipe.recv()
            function = pickle.loads(pipe.recv_bytes())
            for shard in shards[first:]:
                pipe.send(answer_for(function, shard))
