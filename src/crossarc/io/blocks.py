"""A byte stream cut at its blank lines: one block of lines for each sentence, in flat memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

from crossarc.core import InputError, InputWarning, Place
from crossarc.io.streams import InputStream

__all__ = ["Block", "read_blocks"]

_CHUNK = 1 << 18


class Block(NamedTuple):
    """The lines of one sentence, without the blank line that ends it."""

    content: bytes
    path: str
    line: int  # of its first line, counted from 1

    def text(self) -> str:
        """The lines, joined by LF; raises ``InputError`` if they are not UTF-8."""
        try:
            return self.content.decode()
        except UnicodeDecodeError as error:
            line = self.line + self.content.count(b"\n", 0, error.start)
            raise InputError(
                f"byte 0x{self.content[error.start]:02x} is not valid UTF-8", Place(self.path, line, self.sent_id())
            ) from None

    def sent_id(self) -> str | None:
        """The sentence's name, as far as it can be made out."""
        for line in self.content.split(b"\n"):
            if line.startswith(b"# sent_id ="):
                return line.partition(b"=")[2].strip().decode(errors="replace")
        return None


def read_blocks(
    stream: InputStream, path: str, *, report: Callable[[InputError], None] | None = None
) -> Iterator[Block]:
    """Cut the stream at blank lines. Only LF ends a line: a form may hold any other separator of Unicode.

    A missing or superfluous blank line is reported, by default as an ``InputWarning``; a stream without sentences is
    an ``InputError``.
    """
    report = report or _warn
    line = 1
    found = False
    for chunk in _chunks_of_whole_blocks(stream):
        for part in chunk.split(b"\n\n"):
            content = part.lstrip(b"\n")
            superfluous = len(part) - len(content)
            if superfluous or not content:
                report(InputError("superfluous blank line (left out)", Place(path, line)))
            if content.endswith(b"\n"):  # only the last part can
                content = content[:-1]
                report(InputError("no blank line after the last sentence", Place(path, line + part.count(b"\n") - 1)))
            if content:
                found = True
                yield Block(content, path, line + superfluous)
            line += part.count(b"\n") + 2
    if not found:
        raise InputError("no sentences in this file", Place(path))


def _chunks_of_whole_blocks(stream: InputStream) -> Iterator[bytes]:
    """Pieces of the stream that end before a blank line; the last one ends where the stream does."""
    buffer = bytearray()
    while piece := stream.read1(_CHUNK):
        searched = max(len(buffer) - 1, 0)  # the blank line may lie across two pieces
        buffer += piece
        cut = buffer.rfind(b"\n\n", searched)
        if cut >= 0:
            while cut > 0 and buffer[cut - 1] == ord("\n"):  # superfluous blank lines go to the next chunk
                cut -= 1
            yield bytes(buffer[:cut])
            del buffer[: cut + 2]
    if buffer:
        yield bytes(buffer if buffer.endswith(b"\n") else buffer + b"\n")


def _warn(problem: InputError) -> None:
    warnings.warn(str(problem), InputWarning, stacklevel=3)
