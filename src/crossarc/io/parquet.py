"""Treebanks as Parquet files, with the columns of ``io/arrow.py``: lossless, in flat memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any, BinaryIO

from crossarc.core import InputError, Place, Sentence
from crossarc.io import arrow

__all__ = ["is_parquet", "open_parquet", "read_rows", "write_parquet"]


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Whether a file's name says that it is one."""
    return os.fspath(path).endswith(".parquet")


def read_rows(path: str) -> Iterator[arrow.TableRow]:
    """The rows of a file, or of standard input (``-``)."""
    with open_parquet(path) as file:
        yield from arrow.rows_of(file.iter_batches(), path)


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
    library = arrow.pyarrow()
    from pyarrow.parquet import ParquetFile

    try:
        return ParquetFile(BytesIO(sys.stdin.buffer.read()) if path == "-" else path)
    except library.ArrowInvalid:
        raise InputError("not a Parquet file, or a truncated one", Place(path)) from None
    except OSError as error:
        raise InputError((error.strerror or str(error)).lower(), Place(path)) from None
