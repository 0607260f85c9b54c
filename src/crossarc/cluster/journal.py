"""What workers have begun and done: records, in a journal of its own for each process.

No two processes write to one file, so that no locks are needed, on any file system. A record is a line of JSON, on the
disk before the worker goes on; the last line of a process that was killed may be cut off, and counts as not written. A
journal is touched while its worker is at work: that is how others know that it lives.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from crossarc.cluster.folder import Folder, sync
from crossarc.cluster.shards import Shard

__all__ = ["Journal", "Record", "is_alive", "read_journals", "remove_leftovers"]

_BEAT = 10.0  # seconds between two signs of life
_SILENCE = 60.0  # seconds without one after which a worker counts as dead


@dataclass(frozen=True)
class Record:
    """What happened to a shard."""

    state: Literal["started", "done", "died", "set aside"]
    shard: int
    time: float = 0.0
    process: int = 0  # of a worker that has started
    reason: str = ""  # why it died or was set aside
    # of what is done:
    job: str = ""  # the checksum of model and options
    input: str = ""  # the checksum of names, sizes and times of the files that were read
    sha256: str = ""  # of the output
    bytes: int = 0  # of the output
    sentences: int = 0
    words: int = 0
    failed: int = 0  # sentences and files in the side file
    seconds: float = 0.0
    processor: float = 0.0  # seconds of processor time


class Journal:
    """Where one process writes its records."""

    def __init__(self, folder: Folder) -> None:
        self.worker = f"{_host()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._path = folder.journals / f"{self.worker}.jsonl"

    def started(self, shard: Shard) -> None:
        """Say that this process is at work on a shard."""
        self.write(Record("started", shard.number, time.time(), os.getpid()))

    def write(self, record: Record) -> None:
        """Append a record; it is there whole or not at all."""
        values = {
            own.name: getattr(record, own.name) for own in fields(record) if own.default != getattr(record, own.name)
        }
        line = json.dumps(values).encode() + b"\n"
        new = not self._path.exists()
        with self._path.open("ab", buffering=0) as file:
            size = file.tell()
            try:
                if file.write(line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))  # it took a part
                os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise
        if new:
            sync(self._path.parent)

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Give signs of life meanwhile."""
        over = threading.Event()
        thread = threading.Thread(target=self._beat, args=(over,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _beat(self, over: threading.Event) -> None:
        while not over.wait(_BEAT):
            with contextlib.suppress(OSError):
                os.utime(self._path)


def read_journals(folder: Folder) -> Iterator[tuple[str, list[Record]]]:
    """The records of each process that has worked on a corpus, by its name."""
    for path in sorted(folder.journals.glob("*.jsonl")):
        yield path.stem, list(_records(path))


def _records(path: Path) -> Iterator[Record]:
    for line in path.read_bytes().split(b"\n")[:-1]:  # the last one is empty, or cut off
        yield Record(**json.loads(line))


def is_alive(worker: str, folder: Folder) -> bool:
    """Whether a worker still runs: on this machine we can see, from others there are signs of life."""
    host, process, _ = worker.rsplit("-", 2)
    if host == _host():
        return _runs(int(process))
    with contextlib.suppress(OSError):
        return time.time() - (folder.journals / f"{worker}.jsonl").stat().st_mtime < _SILENCE
    return False


def remove_leftovers(folder: Folder) -> None:
    """Remove unfinished files of workers that are dead."""
    for path in folder.unfinished.iterdir():
        if not is_alive(path.name.partition(".")[0], folder):
            path.unlink(missing_ok=True)


def _host() -> str:
    return socket.gethostname().replace(".", "_")


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
