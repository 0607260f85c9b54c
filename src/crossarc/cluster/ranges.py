"""Ranges of bytes of a file, moved to where sentences, paragraphs, lines or documents begin.

Every range begins at the first such place at or after its start, and ends where the next one begins: both are found by
``boundary``, so that neighbours agree and nothing is read twice or never.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from crossarc.cluster.inputs import Kind
from crossarc.cluster.shards import Piece
from crossarc.io import FORMATS
from crossarc.io.streams import InputStream, open_input

__all__ = ["boundary", "lines_before", "open_piece"]

_WINDOW = 1 << 20  # bytes in which a document, or the end of a paragraph, is looked for
_BACK = 4  # bytes before a place that show whether something begins there: CR LF CR LF
_BLANK_LINE = re.compile(rb"\r?\n(?:\r?\n)+")
_PARAGRAPH = re.compile(rb"\n[^\S\n]*\n\s*")
_LINE = re.compile(rb"\n")
_SPACE = re.compile(rb"\s+")
_NEW_DOCUMENT = re.compile(rb"(?:#[^\n]*\n)*?# newdoc")


@contextlib.contextmanager
def open_piece(piece: Piece) -> Iterator[InputStream]:
    """The bytes of a file, or of a range of it."""
    if piece.start == 0 and piece.end is None:
        with open_input(piece.path) as stream:
            yield stream
        return
    with Path(piece.path).open("rb") as file:
        start = boundary(file, piece.start, piece.kind)
        end = None if piece.end is None else boundary(file, piece.end, piece.kind)
        file.seek(start)
        yield _Range(file, None if end is None else end - start)


class _Range:
    """So many bytes of a file, or all that are left."""

    def __init__(self, file: BinaryIO, size: int | None) -> None:
        self._file, self._left = file, size

    def read1(self, size: int, /) -> bytes:
        if self._left is None:
            return self._file.read(size)
        piece = self._file.read(min(size, self._left))
        self._left -= len(piece)
        return piece


def boundary(file: BinaryIO, offset: int, kind: Kind) -> int:
    """Where the first document, sentence, paragraph or line begins at or after an offset.

    Treebanks are cut where a document begins if one does soon. Texts without blank lines are cut after a line, or
    else after a word.
    """
    if offset == 0:
        return 0
    if kind in FORMATS:
        return _sentence(file, offset)
    if kind == "jsonl":
        return _first(file, offset, _LINE)
    for pattern in (_LINE, _SPACE) if kind == "lines" else (_PARAGRAPH, _LINE, _SPACE):
        found = next(_starts(_Window(file, offset, _WINDOW), pattern), None)
        if found is not None:
            return found
    return _next_character(file, offset)


def lines_before(piece: Piece) -> int:
    """How many lines of the file stand before a range."""
    with Path(piece.path).open("rb") as file:
        left = boundary(file, piece.start, piece.kind)
        file.seek(0)
        count = 0
        while left and (content := file.read(min(left, _WINDOW))):
            count += content.count(b"\n")
            left -= len(content)
        return count


class _Window:
    """Some bytes of a file, from just before an offset on."""

    def __init__(self, file: BinaryIO, offset: int, size: int) -> None:
        self.offset = offset
        self.start = offset - min(_BACK, offset)
        file.seek(self.start)
        self.content = file.read(offset - self.start + size)
        self.has_end = len(self.content) < offset - self.start + size  # of the file


def _starts(window: _Window, pattern: re.Pattern[bytes]) -> Iterator[int]:
    """Where something begins at or after the offset: after each match, and at the end of the file."""
    for match in pattern.finditer(window.content):
        place = window.start + match.end()
        if place >= window.offset and match.end() < len(window.content):  # otherwise it may go on
            yield place
    if window.has_end:
        yield window.start + len(window.content)


def _sentence(file: BinaryIO, offset: int) -> int:
    """Where the first document in the window begins, or else the first sentence."""
    window = _Window(file, offset, _WINDOW)
    for place in _starts(window, _BLANK_LINE):
        if _NEW_DOCUMENT.match(window.content, place - window.start):
            return place
    return _first(file, offset, _BLANK_LINE)


def _first(file: BinaryIO, offset: int, pattern: re.Pattern[bytes]) -> int:
    """Where the first thing begins at or after the offset, however far away."""
    size = _WINDOW
    while True:
        found = next(_starts(_Window(file, offset, size), pattern), None)
        if found is not None:
            return found
        size *= 2


def _next_character(file: BinaryIO, offset: int) -> int:
    """The first byte at or after the offset that does not continue a character of UTF-8."""
    file.seek(offset)
    continued = (byte & 0xC0 == 0x80 for byte in file.read(_BACK))
    return offset + next((i for i, goes_on in enumerate(continued) if not goes_on), 0)
