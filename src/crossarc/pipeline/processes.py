"""Work in several processes: results in the order of what they are made of, and in flat memory.

Each process has one pipe and does one item at a time. They end with the process that started them, however that ends;
if one of them dies, all end, and one error says so.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess, parent_process
from typing import Any, NamedTuple, TypeVar

from crossarc.core import CrossarcError

__all__ = ["end_with_parent", "in_processes"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 4  # items for each process that are taken before the first of them is done


class _Worker(NamedTuple):
    process: BaseProcess
    pipe: Connection


def in_processes(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    jobs: int,
    *,
    start: Callable[..., None],
    arguments: tuple[Any, ...],
) -> Iterator[Result]:
    """work(item) of each item; every process begins with start(*arguments).

    What ``start`` or ``work`` raise is raised here. A process that dies is a ``CrossarcError``.
    """
    workers: list[_Worker] = []
    try:
        workers.extend(_launch(work, start, arguments) for _ in range(jobs))
        yield from _in_order(workers, iter(items))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        raise CrossarcError("a process was killed, perhaps for want of memory: fewer --jobs take less") from None
    finally:
        for worker in workers:
            worker.process.kill()
            worker.process.join()
            worker.pipe.close()


def _launch(work: Callable[[Any], Any], start: Callable[..., None], arguments: tuple[Any, ...]) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, work, start, arguments), daemon=True)
    process.start()
    theirs.close()  # so that we see it when the process closes its own
    return _Worker(process, ours)


def _in_order(workers: list[_Worker], items: Iterator[Any]) -> Iterator[Any]:
    """Hand out items to whoever is free, not too far ahead of the first that is not done."""
    idle = [worker.pipe for worker in workers]
    number_of: dict[Connection, int] = {}  # of the item that a process has
    done: dict[int, Any] = {}
    taken = 0
    for number in count():
        while number not in done:
            for item in islice(items, min(len(idle), number + _AHEAD * len(workers) - taken)):
                pipe = idle.pop()
                pipe.send(item)
                number_of[pipe], taken = taken, taken + 1
            if not number_of:
                return
            for answered in wait(list(number_of)):
                assert isinstance(answered, Connection)
                done[number_of.pop(answered)] = answered.recv()
                idle.append(answered)
        result = done.pop(number)
        if isinstance(result, BaseException):
            raise result
        yield result


def _serve(
    pipe: Connection, work: Callable[[Any], Any], start: Callable[..., None], arguments: tuple[Any, ...]
) -> None:
    """What a process does: answer each item until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    end_with_parent()
    failure = _tried(start, *arguments)
    while True:
        try:
            item = pipe.recv()
        except EOFError:
            return
        pipe.send(failure if isinstance(failure, Exception) else _tried(work, item))


def _tried(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result, or the error that was raised, in a form that can be sent."""
    try:
        return function(*arguments)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return RuntimeError(f"{type(error).__name__}: {error}")
        return error


def end_with_parent() -> None:
    """End this process when the one that started it is gone, even if that was killed; whatever is being done."""

    def watch(sentinel: int) -> None:
        wait([sentinel])
        os._exit(1)

    parent = parent_process()
    if parent is not None:
        threading.Thread(target=watch, args=(parent.sentinel,), daemon=True).start()
