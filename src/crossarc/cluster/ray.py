"""The engine of a cluster: tasks of Ray Core, in processes that keep the model."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from crossarc.cluster.journal import Record
from crossarc.cluster.local import ONE_THREAD
from crossarc.cluster.queue import Outcome, Queue, Stop, attempt
from crossarc.cluster.shards import Shard
from crossarc.cluster.worker import Work
from crossarc.core import CrossarcError, MissingLibrary

__all__ = ["cores", "ray_cluster", "reason_of", "run_ray"]

_PATIENCE = 10.0  # seconds after which new machines are looked for


def run_ray(queue: Queue, work: Work, address: str, jobs: int | None = None) -> None:
    """Do all that is in the queue on a Ray cluster: ``jobs`` shards at a time, by default one for each of its cores.

    Ray places tasks wherever cores are free, on machines that join later too. Whether a shard is tried again is for the
    queue to say, not for Ray.
    """
    with ray_cluster(address) as ray:
        task = ray.remote(num_cpus=1, max_retries=0)(_attempt)
        running: dict[Any, Shard] = {}
        shared = ray.put(work)
        while queue or running:
            while queue and len(running) < (jobs or cores(ray)):
                shard = queue.take()
                running[task.remote(shared.hex(), shared, shard)] = shard
            for done in ray.wait(list(running), timeout=_PATIENCE)[0]:
                _hear(ray, done, running.pop(done), queue)


@contextmanager
def ray_cluster(address: str) -> Iterator[Any]:
    """Ray, connected to a cluster whose workers compute on one thread each."""
    ray = _library()
    try:
        ray.init(address, runtime_env={"env_vars": ONE_THREAD}, logging_level=logging.ERROR, log_to_driver=False)
    except Exception as error:  # Ray raises just that when a node does not start in time
        raise CrossarcError(f"Ray, {address}: {error}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def cores(ray: Any) -> int:
    """How many there are at this moment, busy ones too."""
    return max(int(ray.cluster_resources().get("CPU", 0)), 1)


def reason_of(error: Exception) -> str:
    """What Ray says of a worker that is gone, in one line."""
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"


def _hear(ray: Any, done: Any, shard: Shard, queue: Queue) -> None:
    try:
        outcome: Outcome = ray.get(done)
    except ray.exceptions.RayError as error:
        queue.died(shard, reason_of(error))
    else:
        queue.ended(shard, outcome)


_workers: dict[str, Callable[[Shard], Record]] = {}  # of this process: the one of the run


def _attempt(run: str, work: Work, shard: Shard) -> Outcome:
    if run not in _workers:
        _workers.clear()
        try:
            _workers[run] = work()
        except (CrossarcError, OSError) as error:
            return Stop(error)
    return attempt(_workers[run], shard)


def _library() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingLibrary("this needs Ray", "cluster") from None
    return ray
