"""Which files a corpus has, and how each is read."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from crossarc.core import InputError, Place
from crossarc.io import format_of
from crossarc.io.streams import plain_name
from crossarc.pipeline.chunks import Input

__all__ = ["File", "Kind", "find_files"]

Kind = Input | Literal["jsonl", "parquet"]  # of a file

_KINDS: dict[str, Kind] = {
    ".txt": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".conllu": "conllu",
    ".conll": "conllx",
    ".conllx": "conllx",
}


class File(NamedTuple):
    """A file of a corpus."""

    path: str  # absolute, so that workers find it from wherever they start
    name: str  # as it was given
    kind: Kind
    size: int  # in bytes, as it is on the disk


def find_files(
    inputs: Iterable[str | os.PathLike[str]], read_as: Kind | None = None, *, without: Path | None = None
) -> list[File]:
    """The files that are named, those that match patterns (``*``, ``**``), and those in folders, in this order.

    Of folders, the files whose names say what they are; all of them if ``read_as`` does. What is in the folder
    ``without`` is left out.
    """
    names = [name for given in inputs for name in _expanded(os.fspath(given), read_as)]
    found = [(Path(name).absolute(), name) for name in names]
    return [
        File(str(path), name, read_as or kind_of(name), path.stat().st_size)
        for path, name in found
        if without is None or not path.is_relative_to(without)
    ]


def kind_of(name: str) -> Kind:
    """What the name of a file says.

    >>> kind_of("a.jsonl.gz"), kind_of("b.txt"), kind_of("c.conllu.zst"), kind_of("d")
    ('jsonl', 'text', 'conllu', 'conllu')
    """
    return _KINDS.get(Path(plain_name(name)).suffix, format_of(name))


def _expanded(given: str, read_as: Kind | None) -> Iterator[str]:
    if Path(given).is_file():
        yield given
        return
    found = sorted(glob.glob(given, recursive=True))  # noqa: PTH207
    if not found:
        raise InputError("no such file or folder, and no file matches it", Place(given))
    for name in found:
        if Path(name).is_dir():
            yield from _in_folder(name, read_as)
        else:
            yield name


def _in_folder(folder: str, read_as: Kind | None) -> list[str]:
    inside = sorted(str(path) for path in Path(folder).rglob("*") if path.is_file())
    found = [name for name in inside if read_as or Path(plain_name(name)).suffix in _KINDS]
    if not found:
        raise InputError(f"no {', '.join(_KINDS)} files in this folder", Place(folder))
    return found
