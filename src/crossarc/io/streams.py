"""Bytes in and out: plain, .gz and .xz files, and ``-`` for standard input and output."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol, cast

from crossarc.core import CrossarcError, InputError, Place

__all__ = ["InputStream", "open_input", "open_output"]

_OPENERS: dict[str, Callable[[str, str], Any]] = {".gz": gzip.open, ".xz": lzma.open}


class InputStream(Protocol):
    """What we read from: bytes, as soon as some are there, forwards only."""

    def read1(self, size: int, /) -> bytes: ...


@contextlib.contextmanager
def open_input(path: str | os.PathLike[str]) -> Iterator[InputStream]:
    """The bytes of a file. A missing file or a directory is an ``InputError``."""
    name = os.fspath(path)
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
