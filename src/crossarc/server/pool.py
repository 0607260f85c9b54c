"""Worker processes: each does one job at a time; one that takes too long, or dies, is replaced.

Processes rather than threads, because only a process can be stopped in the middle of its work, and because what
kills one leaves the service alone.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler

from crossarc.core import CrossarcError
from crossarc.server.jobs import Answer, Description, Job, Limits, RequestError
from crossarc.server.worker import work

__all__ = ["Pool"]

_START = 600.0  # seconds: the first start compiles kernels
_PATIENCE = 1.0  # seconds that work goes on after its client has left: to start a process anew takes longer
_AT_ONCE = 1 << 14  # bytes that a pipe takes even if nobody reads them

Descriptions = Mapping[str, Description]
Work = Callable[[Connection, Mapping[str, str], Limits], None]  # what a process does


class Pool:
    """Workers and the requests that wait for them."""

    def __init__(self, paths: Mapping[str, str], limits: Limits, workers: int, work: Work = work) -> None:
        self._limits = limits
        self._workers = [Worker(work, paths, limits) for _ in range(workers)]
        self._threads = ThreadPoolExecutor(workers, "worker")
        self._idle: asyncio.Queue[Worker] = asyncio.Queue()
        self._waiting = 0
        self._running: set[asyncio.Task[Answer]] = set()
        self._done = 0

    def start(self) -> Descriptions:
        """Start the workers: the first one compiles what the others then find in the cache."""
        first, *others = self._workers
        descriptions = first.start()
        for worker in others:
            worker.launch()
        for worker in self._workers:
            self._idle.put_nowait(worker)
        return descriptions

    async def do(self, job: Job) -> Answer:
        """Do a job as soon as a worker is free. Raises ``RequestError``."""
        if self._waiting >= self._limits.waiting:
            raise RequestError(503, "too many requests are waiting; try again later")
        self._waiting += 1
        try:
            worker = await asyncio.wait_for(self._idle.get(), 2 * self._limits.seconds)
        except TimeoutError:
            raise RequestError(503, "all workers are busy; try again later") from None
        finally:
            self._waiting -= 1
        # Whoever asked may leave; the worker is free again only when it is done.
        task = asyncio.ensure_future(self._do(worker, job))
        self._running.add(task)
        task.add_done_callback(self._finished)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            asyncio.get_running_loop().call_later(_PATIENCE, worker.give_up, job)
            raise

    def _finished(self, task: asyncio.Task[Answer]) -> None:
        self._running.discard(task)
        self._done += 1
        if not task.cancelled():
            task.exception()  # whoever asked may have left: then nobody else looks at it

    async def _do(self, worker: Worker, job: Job) -> Answer:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, worker.do, job)
        finally:
            self._idle.put_nowait(worker)

    def state(self) -> dict[str, int]:
        """Numbers for those who watch over the service."""
        alive = sum(worker.process is not None and worker.process.is_alive() for worker in self._workers)
        replaced = sum(worker.replaced for worker in self._workers)
        return {
            "workers": alive,
            "workers_busy": len(self._running),
            "requests_waiting": self._waiting,
            "jobs_done_total": self._done,
            "workers_replaced_total": replaced,
        }

    def process_ids(self) -> list[int]:
        """Of the workers, as they are now."""
        return [worker.process.pid for worker in self._workers if worker.process and worker.process.pid]

    def stop(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.close()
        self._threads.shutdown(cancel_futures=True)


class Worker:
    """One process and our end of the pipe to it. Its methods block."""

    def __init__(self, work: Work, paths: Mapping[str, str], limits: Limits) -> None:
        self._work = work
        self._paths = dict(paths)
        self._limits = limits
        self._ready = self._closed = False
        self._job: Job | None = None  # what it works on
        self._given_up = False
        self._pipe: Connection | None = None
        self.replaced = 0
        self.process: multiprocessing.process.BaseProcess | None = None

    def launch(self) -> None:
        """Start the process without waiting for it."""
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self.process = context.Process(target=self._work, args=(other, self._paths, self._limits), daemon=True)
        self.process.start()
        other.close()
        self._ready = False

    def start(self) -> Descriptions:
        """Start the process and wait until it can work."""
        self.launch()
        return self._wait_until_ready()

    def do(self, job: Job) -> Answer:
        """What the process answers to a job; after a failure there is a new process."""
        try:
            if not self._ready:
                self._wait_until_ready()
            self._job, self._given_up = job, False
            answer = self._ask(job)
        except (EOFError, OSError, CrossarcError) as error:
            given_up = self._given_up
            if not given_up:
                logging.getLogger(__name__).error("a worker died: %s", error or "it ended")
            self._replace()
            if not given_up:
                raise RequestError(500, "the worker that had this request died; another one takes its place") from None
            answer = None
        finally:
            self._job = None
        if answer is None:
            raise RequestError(504, f"this takes longer than {self._limits.seconds:g} seconds: ask for less at a time")
        if isinstance(answer, RequestError):
            raise answer
        return answer

    def _ask(self, job: Job) -> Answer | RequestError | None:
        """None if there is no answer in time."""
        assert self._pipe is not None
        deadline = time.monotonic() + self._limits.seconds
        self._send(job)
        if not self._pipe.poll(max(deadline - time.monotonic(), 0)):
            self._replace()
            return None
        answer: Answer | RequestError = self._pipe.recv()
        return answer

    def _send(self, job: Job) -> None:
        """Send a job; a process that does not read it in time is ended."""
        assert self._pipe is not None
        data = ForkingPickler.dumps(job)
        if len(data) <= _AT_ONCE:
            self._pipe.send_bytes(data)
            return
        timer = threading.Timer(self._limits.seconds, self.give_up, [job])
        timer.start()
        try:
            self._pipe.send_bytes(data)
        finally:
            timer.cancel()

    def give_up(self, job: Job) -> None:
        """End the process if it still works on this job."""
        if self._job is job and self.process is not None:
            self._given_up = True
            self.process.kill()

    def _wait_until_ready(self) -> Descriptions:
        assert self._pipe is not None
        if not self._pipe.poll(_START):
            raise CrossarcError(f"no model is loaded after {_START:g} seconds")
        found: Descriptions | RequestError = self._pipe.recv()
        if isinstance(found, RequestError):
            raise CrossarcError(found.message)
        self._ready = True
        return found

    def _replace(self) -> None:
        self.replaced += 1
        self._kill()
        if not self._closed:
            self.launch()

    def _kill(self) -> None:
        if self.process is not None and self._pipe is not None:
            self._pipe.close()
            self.process.kill()
            self.process.join()

    def close(self) -> None:
        """End the process for good."""
        self._closed = True
        self._kill()
