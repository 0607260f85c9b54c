"""Work in several processes: results in the order of what they are made of, and in flat memory."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from crossarc.core import CrossarcError

__all__ = ["in_processes"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 4  # items that wait for each process


def in_processes(
    work: Callable[[Item], Result],
    items: Iterator[Item],
    jobs: int,
    *,
    start: Callable[..., None],
    arguments: tuple[Any, ...],
) -> Iterator[Result]:
    """work(item) of each item; every process begins with start(*arguments)."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, start, arguments) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) >= _AHEAD * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise CrossarcError("a process was killed, perhaps for want of memory: fewer --jobs take less") from None
        finally:
            pool.shutdown(cancel_futures=True)
