"""Learning from a treebank in shards, which may be in this process, in others, or on other machines.

How a treebank is cut says nothing of who works on the shards, and what comes of them is put together in their order.
So what is learnt is the same to the last bit, however many workers there are. Who they are is for others to say: here
is only what training asks of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeVar

__all__ = ["InProcess", "MapShards", "Workers"]

Shard = TypeVar("Shard")
Answer = TypeVar("Answer")


class MapShards(Protocol):
    """Asks something of all shards."""

    def __call__(self, function: Callable[[Any], Answer]) -> Iterator[Answer]:
        """What the function gives for each shard, in their order.

        It goes from process to process, and may be called again for a shard whose worker has died: it can be pickled,
        and changes nothing. All answers are taken before something else is asked.
        """


class Workers(Protocol):
    """Hold shards and answer for them."""

    def hold(self, shards: Sequence[Any]) -> AbstractContextManager[MapShards]:
        """Give each shard to a worker; they are told to forget them in the end."""


class InProcess:
    """The only worker is this process.

    >>> with InProcess().hold([[1, 2], [3]]) as map_shards:
    ...     list(map_shards(sum))
    [3, 3]
    """

    @contextmanager
    def hold(self, shards: Sequence[Shard]) -> Iterator[MapShards]:
        def map_shards(function: Callable[[Shard], Answer]) -> Iterator[Answer]:
            return map(function, shards)

        yield map_shards
