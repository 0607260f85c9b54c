"""Training on a Ray cluster: actors that hold the shards."""

from __future__ import annotations

import logging
import pickle
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from crossarc.cluster.holders import Failure, Holder, WorkerDied, answer_for, ask_all
from crossarc.cluster.ray import cores, ray_cluster, reason_of
from crossarc.core import CrossarcError
from crossarc.learning.shards import MapShards

__all__ = ["RayWorkers"]

# Seconds: a cluster may be starting machines; when it has one actor, the others are not waited for as long
_PATIENCE = 300.0
_PATIENCE_FOR_OTHERS = 60.0
_log = logging.getLogger("crossarc")


@dataclass(frozen=True)
class RayWorkers:
    """Actors with a core each on the Ray cluster at this address, by default as many as it has cores.

    See ``crossarc.parsers.train``. If an actor or its machine dies, another one takes its place; if there is no core
    for that, those that are left share its work.
    """

    address: str
    jobs: int | None = None

    @contextmanager
    def hold(self, shards: Sequence[Any]) -> Iterator[MapShards]:
        """Give each shard to an actor; they end with the context."""
        with ray_cluster(self.address) as ray:
            # Pickled, because arrays that Ray hands out itself cannot be written to: kernels would be compiled anew
            stored = [ray.put(_pickled(shard)) for shard in shards]
            actors = _Actors(ray, self.address)
            first = actors.start(min(self.jobs or cores(ray), len(shards)))
            holders = [_ActorHolder(actors, actor, stored[number :: len(first)]) for number, actor in enumerate(first)]
            yield partial(ask_all, holders, len(shards), ray.put)


def _pickled(thing: Any) -> bytes:
    return pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)


class _Actor:
    """A process on some machine: it keeps the shards that it was ever asked about."""

    def __init__(self) -> None:
        self._shards: dict[str, Any] = {}  # by Ray's name for them

    def ready(self) -> None:
        """Answer when the process is there."""

    def answer(self, question: bytes, stored: list[Any]) -> bytes:
        """What the question, a pickled function, gives for a shard; Ray does not send what is in a list unasked."""
        import ray

        name = stored[0].hex()
        if name not in self._shards:
            self._shards[name] = pickle.loads(ray.get(stored[0]))
        return _pickled(answer_for(pickle.loads(question), self._shards[name]))


class _Actors:
    """All actors of a training."""

    def __init__(self, ray: Any, address: str) -> None:
        self.ray, self._address = ray, address
        self._class = ray.remote(num_cpus=1, max_restarts=0)(_Actor)
        self._alive: deque[Any] = deque()

    def start(self, count: int) -> list[Any]:
        """As many actors as there are cores for; at least one."""
        started = [self._class.remote() for _ in range(count)]
        calls = {actor.ready.remote(): actor for actor in started}
        if not self._alive:
            self.ray.wait(list(calls), num_returns=1, timeout=_PATIENCE)
        ready, late = self.ray.wait(list(calls), num_returns=count, timeout=_PATIENCE_FOR_OTHERS)
        for call in late:
            self.ray.kill(calls[call])
        found = [calls[call] for call in ready if self._is_well(call)]
        self._alive.extend(found)
        if not found:
            raise CrossarcError(f"Ray, {self._address}: no worker has started within {_PATIENCE:.0f} seconds")
        return found

    def _is_well(self, call: Any) -> bool:
        try:
            self.ray.get(call)
        except self.ray.exceptions.RayError as error:
            _log.warning("a worker could not start: %s", reason_of(error))
            return False
        return True

    def instead_of(self, dead: Any) -> Any:
        """A new actor; if there is no core for it, one that has shards already."""
        if dead in self._alive:
            self._alive.remove(dead)
        try:
            (found,) = self.start(1)
        except CrossarcError:
            if not self._alive:
                raise
            self._alive.rotate()
            found = self._alive[0]
        return found


class _ActorHolder(Holder):
    """An actor, or whoever has taken its place."""

    def __init__(self, actors: _Actors, actor: Any, stored: Sequence[Any]) -> None:
        super().__init__()
        self._actors, self._actor, self._stored = actors, actor, stored
        self._calls: deque[Any] = deque()

    def send(self, question: Any, first: int) -> None:
        self._calls = deque(self._actor.answer.remote(question, [shard]) for shard in self._stored[first:])

    def receive(self) -> Any:
        try:
            answer = self._actors.ray.get(self._calls.popleft())
        except self._actors.ray.exceptions.RayTaskError as error:  # it could not even read the question
            return Failure(CrossarcError(f"a worker failed: {type(error.cause).__name__}: {error.cause}"))
        except self._actors.ray.exceptions.RayError as error:
            raise WorkerDied(reason_of(error)) from None
        return pickle.loads(answer)

    def replace(self) -> None:
        self._actor = self._actors.instead_of(self._actor)
