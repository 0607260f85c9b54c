"""Bytes in and out: plain, .gz and .xz files, and ``-`` for standard input and output."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol, cast

from crossarc.core import CrossarcError, InputError, Place

__all__ = ["InputStream", "Source", "name_of", "open_input", "open_output", "size_of_input"]

Source = str | os.PathLike[str] | IO[str] | IO[bytes]  # the path of a file, or a file that is open

_OPENERS: dict[str, Callable[[str, str], Any]] = {".gz": gzip.open, ".xz": lzma.open}


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
        with _open(name, name, "rb") as stream:
            yield cast(InputStream, stream)
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise InputError(f"damaged or truncated compressed file ({error})", Place(name)) from None
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        if error.filename != name:
            raise
        raise InputError(_complaint(error), Place(name)) from None


def size_of_input(path: str | os.PathLike[str]) -> int | None:
    """How many bytes ``open_input`` will give; None if that is not known before: pipes, compressed files."""
    try:
        found = os.fstat(sys.stdin.fileno()) if os.fspath(path) == "-" else os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) and Path(path).suffix not in _OPENERS else None


@contextlib.contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary stream to write to.

    A regular file appears under its name only when the block ends without an error, so a failed run leaves
    the old file alone and a command may write to the file it reads from.
    """
    name = os.fspath(path)
    if name == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(name)
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise CrossarcError(f"{name}: is a directory")
        with target.open("wb") as device:
            yield device
        return
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise CrossarcError(f"{name}: {_complaint(error)}") from None
    os.close(handle)
    try:
        with _open(name, temporary, "wb") as stream:
            yield cast(BinaryIO, stream)
        Path(temporary).chmod(target.stat().st_mode if target.exists() else 0o666 & ~_umask())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _open(name: str, file: str, mode: str) -> IO[bytes]:
    """Open ``file`` in the way that the suffix of ``name`` asks for."""
    return cast(IO[bytes], _OPENERS.get(Path(name).suffix, open)(file, mode))


def _complaint(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
