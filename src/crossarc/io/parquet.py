"""Treebanks as Parquet files, with the columns of ``io/arrow.py``: lossless, in flat memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any, BinaryIO

from crossarc.core import InputError, Place, Sentence
from crossarc.io import arrow

__all__ = ["damage_named", "is_parquet", "open_parquet", "read_rows", "write_parquet"]

_DAMAGED = "not a Parquet file, or a truncated or damaged one"


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Whether a file's name says that it is one."""
    return os.fspath(path).endswith(".parquet")


def read_rows(path: str) -> Iterator[arrow.TableRow]:
    """The rows of a file, or of standard input (``-``)."""
    with damage_named(path), open_parquet(path) as file:
        number = 0
        for row in arrow.rows_of(file.iter_batches(), path):
            number = row.number
            yield row
        if number != file.metadata.num_rows:
            raise InputError(_DAMAGED, Place(path))


def write_parquet(
    sentences: Iterable[Sentence], stream: BinaryIO, *, probabilities: bool = False, document: str | None = None
) -> None:
    """Write sentences as they come, a row for each; the parameters are those of ``batches_of``."""
    arrow.pyarrow()
    from pyarrow.parquet import ParquetWriter

    columns = arrow.schema(probabilities=probabilities)
    with ParquetWriter(stream, columns, compression="zstd") as writer:
        for batch in arrow.batches_of(sentences, probabilities=probabilities, document=document):
            writer.write_batch(batch)


def open_parquet(path: str) -> Any:
    """The file, a ``pyarrow.parquet.ParquetFile``. What is no such file is an ``InputError``."""
    arrow.pyarrow()
    from pyarrow.parquet import ParquetFile

    with damage_named(path):
        return ParquetFile(BytesIO(sys.stdin.buffer.read()) if path == "-" else path)


@contextmanager
def damage_named(path: str) -> Iterator[None]:
    """Errors of pyarrow, of which there are many kinds, as an ``InputError`` that names the file."""
    library = arrow.pyarrow()
    try:
        yield
    except (library.ArrowException, UnicodeDecodeError):
        raise InputError(_DAMAGED, Place(path)) from None
    except OSError as error:  # of the operating system, or another one of pyarrow
        reason = _DAMAGED if error.errno is None else os.strerror(error.errno).lower()
        raise InputError(reason, Place(path)) from None
