"""Locks of processes on files and folders: gone when the process is, however it ends."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

from crossarc.core import CrossarcError

__all__ = ["NoLocks", "hold", "only_writer"]

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


class NoLocks(OSError):
    """The file system, or the operating system, has none."""


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold a file or a folder that is there.

    Raises ``BlockingIOError`` if another process holds it, ``FileNotFoundError`` if it is not there (any more).
    """
    if fcntl is None:
        raise NoLocks
    handle = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                raise NoLocks from None
            raise
        if not os.path.samestat(os.fstat(handle), path.stat()):  # who held it before has removed it
            raise FileNotFoundError(path)
        yield
    finally:
        os.close(handle)


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Be the only process that works on this file for a long time. Raises ``CrossarcError`` if another one does."""
    lock = path.with_name(f".{path.name}.lock")
    with ExitStack() as held:
        try:
            _hold_new(lock, held)
        except BlockingIOError:
            raise CrossarcError(f"{path}: another process is at work on it") from None
        except OSError as error:
            raise CrossarcError(f"{path}: {(error.strerror or str(error)).lower()}") from None
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _hold_new(lock: Path, held: ExitStack) -> None:
    """Hold a file that is made for this; whoever held it before may be removing it."""
    while True:
        lock.touch()
        try:
            held.enter_context(hold(lock))
        except FileNotFoundError:
            continue
        except NoLocks:
            pass
        return
