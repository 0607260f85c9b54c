"""A byte stream cut at its blank lines: one block of lines for each sentence, in flat memory."""

from __future__ import annotations

import codecs
import re
import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

from crossarc.core import EmptyInput, InputError, InputWarning, Place
from crossarc.io.streams import InputStream

__all__ = ["Block", "read_blocks"]

_CHUNK = 1 << 18
_LINE_END = re.compile(rb"\r+\n")  # of Windows, perhaps twice: what is written is read again as the same


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
    """Cut the stream at blank lines. Only LF or CR LF ends a line: a form may hold any other separator of Unicode.

    Lines of blocks end with LF. CR LF, a byte order mark (each once), and missing or superfluous blank lines are
    reported, by default as an ``InputWarning``; a stream without sentences is an ``InputError``.
    """
    report = report or _warn
    line = 1
    found = False
    for chunk in _chunks_of_whole_blocks(_normal_pieces(stream, path, report)):
        for part in chunk.split(b"\n\n"):
            content = part.lstrip(b"\n")
            superfluous = len(part) - len(content)
            if superfluous or not content:
                report(InputError("superfluous blank line (left out)", Place(path, line)))
            if content.endswith(b"\n"):  # only the last part can
                content = content[:-1]
                if b"\t" in content:  # it is a sentence, not text
                    report(
                        InputError("no blank line after the last sentence", Place(path, line + part.count(b"\n") - 1))
                    )
            if content:
                found = True
                yield Block(content, path, line + superfluous)
            line += part.count(b"\n") + 2
    if not found:
        raise EmptyInput("no sentences in this file", Place(path))


def _normal_pieces(stream: InputStream, path: str, report: Callable[[InputError], None]) -> Iterator[bytes]:
    """What is read from the stream, without a byte order mark, every line ended by LF alone."""
    piece = stream.read1(_CHUNK)
    while len(piece) < len(codecs.BOM_UTF8) and (more := stream.read1(_CHUNK)):
        piece += more
    if piece.startswith(codecs.BOM_UTF8):
        report(InputError("the file starts with a byte order mark (left out)", Place(path, 1)))
        piece = piece.removeprefix(codecs.BOM_UTF8) or stream.read1(_CHUNK)
    line: int | None = 1  # None once a CR LF has been reported
    while piece:
        while piece.endswith(b"\r"):  # the LF may be in the next piece
            piece += stream.read1(_CHUNK) or b"\n"
        if b"\r\n" in piece:
            if line is not None:
                line += piece.count(b"\n", 0, piece.find(b"\r\n"))
                report(InputError("lines end with CR LF (read as LF)", Place(path, line)))
                line = None
            piece = _LINE_END.sub(b"\n", piece)
        elif line is not None:
            line += piece.count(b"\n")
        yield piece
        piece = stream.read1(_CHUNK)


def _chunks_of_whole_blocks(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Pieces of the stream that end before a blank line; the last one ends where the stream does."""
    buffer = bytearray()
    for piece in pieces:
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
