"""The output folder of a corpus: which file is where, and how files appear in it.

::

    part-000000.conllu              an output file for each shard
    part-000000.errors.jsonl        sentences that failed, if some did
    manifest/job.json               model, options, input: what must be the same when the work goes on
    manifest/shards.jsonl           the shards
    manifest/model.crossarc         the model, for workers on other machines
    manifest/journals/WORKER.jsonl  what each worker has begun and done: see ``journal.py``
    manifest/unfinished/            files that are being written
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from crossarc.cluster.shards import Shard

__all__ = ["Folder", "checksum", "new_file", "sync"]


class Folder(NamedTuple):
    """Paths in an output folder."""

    path: Path

    @property
    def manifest(self) -> Path:
        return self.path / "manifest"

    @property
    def job(self) -> Path:
        return self.manifest / "job.json"

    @property
    def shards(self) -> Path:
        return self.manifest / "shards.jsonl"

    @property
    def model(self) -> Path:
        return self.manifest / "model.crossarc"

    @property
    def journals(self) -> Path:
        return self.manifest / "journals"

    @property
    def unfinished(self) -> Path:
        return self.manifest / "unfinished"

    def output(self, shard: Shard, format: str) -> Path:
        return self.path / f"{shard.name}.{format}"

    def errors(self, shard: Shard) -> Path:
        return self.path / f"{shard.name}.errors.jsonl"

    def make(self) -> None:
        for folder in (self.path, self.journals, self.unfinished):
            folder.mkdir(parents=True, exist_ok=True)


@contextlib.contextmanager
def new_file(target: Path, temporary: Path) -> Iterator[BinaryIO]:
    """A file that appears under its name when it is complete and on the disk, or else not at all."""
    try:
        with temporary.open("wb") as stream:
            yield stream
        sync(temporary)
        temporary.replace(target)
        sync(target.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # a full disk
            raise OSError(error.errno, error.strerror, str(target)) from None
        raise


def sync(path: Path) -> None:
    """Wait until a file, or what a folder says, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def checksum(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
