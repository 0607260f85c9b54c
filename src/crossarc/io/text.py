"""Raw text as a stream: pieces of whole paragraphs, in flat memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from crossarc.core import EmptyInput, InputError, Place
from crossarc.io.streams import InputStream

__all__ = ["TextBlock", "count_paragraphs", "read_text"]

_CHUNK = 1 << 15
_LONGEST = 1 << 20  # bytes without a blank line; then a line break, or else a space, must do
_BREAKS = {False: re.compile(rb"\n[^\S\n]*\n\s*"), True: re.compile(rb"\n\s*")}


class TextBlock(NamedTuple):
    """Some paragraphs of a text."""

    content: str
    path: str
    line: int  # of its first line, counted from 1
    paragraph: int  # the number of its first paragraph, counted from 1


def read_text(
    stream: InputStream, path: str, *, lines: bool = False, report: Callable[[InputError], None] | None = None
) -> Iterator[TextBlock]:
    """Cut a text after blank lines (or, with ``lines``, after lines), not too often.

    A byte that is not UTF-8, and a stream without text, are an ``InputError``; or else paragraphs with such bytes are
    left out and reported.
    """
    line = paragraph = 1
    found = False
    for content in _pieces(stream, lines):
        text = _decoded(content, Place(path, line), lines, report)
        if line == 1:
            text = text.removeprefix("\ufeff")
        found = found or bool(text.strip())
        yield TextBlock(text, path, line, paragraph)
        line += content.count(b"\n")
        paragraph += count_paragraphs(text, lines=lines)
    if not found:
        raise EmptyInput("no text in this file", Place(path))


def _decoded(content: bytes, place: Place, lines: bool, report: Callable[[InputError], None] | None) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = place.line + content.count(b"\n", 0, error.start)
        problem = InputError(f"byte 0x{content[error.start]:02x} is not valid UTF-8", Place(place.path, line))
        if report is None:
            raise problem from None
        report(problem)
        start, end = _paragraph_around(content, error.start, lines)
        after = Place(place.path, place.line + content.count(b"\n", 0, end))
        return content[:start].decode() + _decoded(content[end:], after, lines, report)


def _paragraph_around(content: bytes, position: int, lines: bool) -> tuple[int, int]:
    """Where the paragraph with this byte begins and ends."""
    ends = [0, *(match.end() for match in _BREAKS[lines].finditer(content)), len(content)]
    return max(end for end in ends if end <= position), min(end for end in ends if end > position)


def count_paragraphs(text: str, *, lines: bool = False) -> int:
    """How many paragraphs a text has; with ``lines``, how many lines that are not blank.

    >>> count_paragraphs("one\\ntwo\\n \\nthree"), count_paragraphs("one\\ntwo\\n \\nthree", lines=True)
    (2, 3)
    """
    separator = r"\n" if lines else r"\n[^\S\n]*\n"
    return sum(bool(part.strip()) for part in re.split(separator, text))


def _pieces(stream: InputStream, lines: bool) -> Iterator[bytes]:
    buffer = bytearray()
    while piece := stream.read1(_CHUNK):
        buffer += piece
        if len(buffer) < _CHUNK:
            continue
        cut = max((match.end() for match in _BREAKS[lines].finditer(buffer) if match.end() < len(buffer)), default=0)
        if not cut and len(buffer) > _LONGEST:
            cut = max(buffer.rfind(b"\n"), 0) or max(buffer.rfind(b" "), 0)
        if cut:
            yield bytes(buffer[:cut])
            del buffer[:cut]
    if buffer:
        yield bytes(buffer)
