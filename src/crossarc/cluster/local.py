"""The engine of one machine: processes, each with a model of its own. Needs nothing else."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait

from crossarc.cluster.queue import Outcome, Queue, Stop, attempt
from crossarc.cluster.shards import Shard
from crossarc.cluster.worker import Work
from crossarc.core import CrossarcError
from crossarc.pipeline.processes import end_with_parent

__all__ = ["ONE_THREAD", "begin_worker", "level_of_messages", "one_thread", "run_local"]

# Workers share the cores among themselves already.
ONE_THREAD = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"], "1")
_STARTS = 3  # that may fail in a row


def run_local(queue: Queue, work: Work, jobs: int) -> None:
    """Do all that is in the queue in so many processes; one that dies is replaced."""
    with one_thread():
        workers = [_Worker(work, speaks=i == 0) for i in range(min(jobs, len(queue)))]
        failures = 0
        try:
            while queue or any(worker.shard for worker in workers):
                for worker in workers:
                    worker.feed(queue)
                busy = {worker.pipe: worker for worker in workers if worker.shard or not worker.ready}
                for pipe in wait(list(busy)):
                    failures = 0 if busy[pipe].listen(queue) else failures + 1  # type: ignore[index]
                    if failures == _STARTS:
                        raise CrossarcError("workers die while they start, perhaps for want of memory: use fewer")
        finally:
            for worker in workers:
                worker.end()


@contextmanager
def one_thread() -> Iterator[None]:
    """An environment in which processes that start compute on one thread."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class _Worker:
    """A process, as the driver sees it."""

    def __init__(self, work: Work, speaks: bool) -> None:
        self._work, self._speaks = work, speaks
        self.shard: Shard | None = None
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        level = level_of_messages() if self._speaks else None
        self.process = context.Process(target=_serve, args=(theirs, self._work, level))
        self.process.start()
        theirs.close()
        self.ready = False

    def feed(self, queue: Queue) -> None:
        """Give it a shard if it has none."""
        if self.ready and self.shard is None and queue:
            self.shard = queue.take()
            with suppress(OSError):  # it may be dead: ``listen`` will see
                self.pipe.send(self.shard)

    def listen(self, queue: Queue) -> bool:
        """Hear what it has to say. Its death is news too; False if it died before it could work."""
        was_ready = self.ready
        try:
            outcome: Outcome | None = self.pipe.recv()
        except (EOFError, OSError):
            self._replace(queue)
            return was_ready
        self.ready = True
        if isinstance(outcome, Stop):
            raise outcome.error
        if self.shard is not None and outcome is not None:
            shard, self.shard = self.shard, None
            queue.ended(shard, outcome)
        return True

    def _replace(self, queue: Queue) -> None:
        self.end()
        if self.shard is not None:
            shard, self.shard = self.shard, None
            queue.died(shard, f"the worker ended with exit code {self.process.exitcode}")
        self._start()

    def end(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


def _serve(pipe: Connection, work: Work, level: int | None) -> None:
    """What the process does: load the model, then one shard after the other, as long as there is a driver."""
    begin_worker(level)
    try:
        do = work()
    except (CrossarcError, OSError) as error:
        pipe.send(Stop(error))
        return
    pipe.send(None)
    while True:
        try:
            shard = pipe.recv()
        except EOFError:
            return
        pipe.send(attempt(do, shard))


def level_of_messages() -> int:
    """What the driver tells people, so that a worker tells as much."""
    return logging.getLogger("crossarc").getEffectiveLevel()


def begin_worker(level: int | None) -> None:
    """What a worker process does first. One of them has a ``level``: it speaks for all of them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver
    end_with_parent()  # it would finish its work for nobody
    if level is not None:  # it says that kernels are being compiled
        logging.basicConfig(format="crossarc: %(message)s")
        logging.getLogger("crossarc").setLevel(level)
