"""Which shards are still to be done, and what to do when one kills its worker: the same on every engine."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from crossarc.cluster.journal import Journal, Record
from crossarc.cluster.shards import Shard
from crossarc.core import CrossarcError

__all__ = ["Crash", "Outcome", "Queue", "Stop", "attempt"]

_DEATHS = 3  # after which a shard is set aside


class Stop(NamedTuple):
    """A reason to end the whole run: bad input that is not to be skipped, a full disk."""

    error: CrossarcError | OSError


class Crash(NamedTuple):
    """An error that should not be, of one shard."""

    reason: str


Outcome = Record | Stop | Crash


def attempt(do: Callable[[Shard], Record], shard: Shard) -> Outcome:
    """Do the work on a shard; whatever goes wrong is an outcome too."""
    try:
        return do(shard)
    except (CrossarcError, OSError) as error:
        return Stop(error)
    except Exception as error:
        return Crash(f"{type(error).__name__}: {error}")


class Queue:
    """The shards that wait, and what becomes of them."""

    def __init__(self, shards: Iterable[Shard], journal: Journal, listener: Callable[[Record], None]) -> None:
        self._waiting = deque(shards)
        self._journal, self._listener = journal, listener
        self._deaths: Counter[int] = Counter()
        self.set_aside: list[Shard] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self) -> Shard:
        """The next one."""
        return self._waiting.popleft()

    def ended(self, shard: Shard, outcome: Outcome) -> None:
        """A worker has had its say. Raises the error of ``Stop``."""
        if isinstance(outcome, Stop):
            raise outcome.error
        if isinstance(outcome, Crash):
            self.died(shard, outcome.reason)
        else:
            self._listener(outcome)

    def died(self, shard: Shard, reason: str) -> None:
        """A worker was lost on a shard: it comes again, after all others, but not for ever."""
        self._deaths[shard.number] += 1
        self._note(Record("died", shard.number, time.time(), reason=reason))
        if self._deaths[shard.number] < _DEATHS:
            self._waiting.append(shard)
        else:
            self.set_aside.append(shard)
            self._note(Record("set aside", shard.number, time.time(), reason=reason))

    def _note(self, record: Record) -> None:
        self._journal.write(record)
        self._listener(record)
