"""Bytes in and out: plain, .gz, .xz and .zst files, and ``-`` for standard input and output."""

from __future__ import annotations

import contextlib
import errno
import gzip
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol, cast

from crossarc.core import CrossarcError, InputError, Place
from crossarc.io.arrow import pyarrow
from crossarc.io.replacing import complaint, file_replaced

__all__ = [
    "COMPRESSED",
    "InputStream",
    "Source",
    "compressed",
    "name_of",
    "open_input",
    "open_output",
    "plain_name",
    "size_of_input",
]

Source = str | os.PathLike[str] | IO[str] | IO[bytes]  # the path of a file, or a file that is open

COMPRESSED = (".gz", ".xz", ".zst")  # how the names of compressed files end


class InputStream(Protocol):
    """What we read from: bytes, as soon as some are there, forwards only."""

    def read1(self, size: int, /) -> bytes: ...


class _OpenFile:
    """A file that somebody else has opened, and will close, as a stream of bytes."""

    def __init__(self, file: IO[str] | IO[bytes]) -> None:
        self._read = getattr(file, "read1", file.read)

    def read1(self, size: int, /) -> bytes:
        piece: str | bytes = self._read(size)
        return piece.encode() if isinstance(piece, str) else piece


class _ZstdInput:
    """Arrow's decompression, because Python has none before 3.14; what is damaged is said as by its other ones."""

    def __init__(self, path: str) -> None:
        self._stream = pyarrow().CompressedInputStream(_open(path), "zstd")

    def read1(self, size: int, /) -> bytes:
        try:
            return cast(bytes, self._stream.read1(size))
        except OSError as error:
            raise EOFError(str(error)) from None

    def __enter__(self) -> _ZstdInput:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


_OPENERS: dict[str, Callable[[str], Any]] = {".gz": gzip.open, ".xz": lzma.open, ".zst": _ZstdInput}


def plain_name(path: str | os.PathLike[str]) -> str:
    """The name of a file, without what says that it is compressed.

    >>> plain_name("parsed.conllu.gz")
    'parsed.conllu'
    """
    name = os.fspath(path)
    return name[: name.rindex(".")] if name.endswith(COMPRESSED) else name


def name_of(source: Source) -> str:
    """The path of a file, or what stands for it in messages."""
    return os.fspath(source) if isinstance(source, str | os.PathLike) else str(getattr(source, "name", "<memory>"))


@contextlib.contextmanager
def open_input(source: Source) -> Iterator[InputStream]:
    """The bytes of a file. A missing file or a directory is an ``InputError``."""
    if not isinstance(source, str | os.PathLike):
        yield _OpenFile(source)
        return
    name = os.fspath(source)
    if name == "-":
        yield cast(InputStream, sys.stdin.buffer)
        return
    try:
        with _OPENERS.get(Path(name).suffix, _open)(name) as stream:
            yield cast(InputStream, stream)
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"damaged or truncated compressed file ({error})", Place(name)) from None
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        if error.filename != name:
            raise
        raise InputError(complaint(error), Place(name)) from None


def size_of_input(path: str | os.PathLike[str]) -> int | None:
    """How many bytes ``open_input`` will give; None if that is not known before: pipes, compressed files."""
    try:
        found = os.fstat(sys.stdin.fileno()) if os.fspath(path) == "-" else os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) and Path(path).suffix not in COMPRESSED else None


@contextlib.contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary stream to write to.

    A regular file appears under its name only when the block ends without an error, so a failed run leaves
    the old file alone and a command may write to the file it reads from.
    """
    name = os.fspath(path)
    if name == "-":
        yield from _standard_output()
        return
    target = Path(name)
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise CrossarcError(f"{name}: is a directory")
        with target.open("wb") as device:
            yield device
        return
    with file_replaced(path) as draft, draft.open("wb") as raw, compressed(raw, name) as stream:
        yield stream


def _standard_output() -> Iterator[BinaryIO]:
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        raise CrossarcError(f"standard output: {complaint(error)}") from None


@contextlib.contextmanager
def compressed(raw: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """A stream that writes to ``raw`` as the suffix of ``name`` asks for: the same contents give the same bytes."""
    stream: Any
    match Path(name).suffix:
        case ".gz":
            stream = gzip.GzipFile("", "wb", fileobj=raw, mtime=0)
        case ".xz":
            stream = lzma.LZMAFile(raw, "wb")  # noqa: SIM115
        case ".zst":
            stream = pyarrow().CompressedOutputStream(raw, "zstd")
        case _:
            yield raw
            return
    with stream:
        yield stream


def _open(path: str) -> IO[bytes]:
    return Path(path).open("rb")
