"""A corpus cut into shards: what one worker does at a time, minutes of work.

Large files that are not compressed are cut into ranges of bytes (Parquet: of row groups), small ones put together, in
the order of the input. Ranges are cut anywhere; where the first whole sentence or document of each begins is found by
whoever reads it (``ranges.py``), so that planning reads no text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from crossarc.cluster.inputs import File, Kind
from crossarc.core import InputError
from crossarc.io.parquet import open_parquet
from crossarc.io.streams import COMPRESSED

__all__ = ["Piece", "Shard", "make_shards"]


class Piece(NamedTuple):
    """A file, or a range of one."""

    path: str
    name: str  # as it was given
    kind: Kind
    start: int = 0  # in bytes; of Parquet, in row groups
    end: int | None = None  # None: where the file ends

    @property
    def origin(self) -> str:
        """What stands for it in names of sentences: ranges count lines and paragraphs from their own start."""
        return f"{self.name}@{self.start}" if self.start else self.name


class Shard(NamedTuple):
    """What is parsed into one output file."""

    number: int
    size: int  # bytes of its input, as it is on the disk
    pieces: tuple[Piece, ...]

    @property
    def name(self) -> str:
        return f"part-{self.number:06d}"


def make_shards(files: Iterable[File], size: int) -> Iterator[Shard]:
    """Shards of about ``size`` bytes.

    >>> files = [File("/a", "a", "text", 100), File("/b", "b", "text", 9), File("/c", "c", "text", 9)]
    >>> [[piece.origin for piece in shard.pieces] for shard in make_shards(files, 50)]
    [['a'], ['a@50'], ['b', 'c']]
    """
    waiting: list[Piece] = []
    total = number = 0
    for file in files:
        ranges = _ranges(file, size)
        own = max(file.size // len(ranges), 1)
        for piece in ranges:
            if waiting and total + own > size:
                yield Shard(number, total, tuple(waiting))
                waiting, total, number = [], 0, number + 1
            waiting.append(piece)
            total += own
    if waiting:
        yield Shard(number, total, tuple(waiting))


def _ranges(file: File, size: int) -> list[Piece]:
    """The file in as many ranges as make about ``size`` bytes each."""
    count = max(round(file.size / size), 1)
    units = file.size
    if file.kind == "parquet" and count > 1:
        units = _row_groups(file)
        count = min(count, units)
    if count <= 1 or (file.kind != "parquet" and Path(file.name).suffix in COMPRESSED):
        return [Piece(file.path, file.name, file.kind)]
    cuts = [units * i // count for i in range(count)]
    ends: list[int | None] = [*cuts[1:], None]
    return [Piece(file.path, file.name, file.kind, start, end) for start, end in zip(cuts, ends, strict=True)]


def _row_groups(file: File) -> int:
    """How many a Parquet file has; a broken one has its say when it is parsed."""
    try:
        with open_parquet(file.path) as parquet:
            return int(parquet.metadata.num_row_groups)
    except InputError:
        return 1
