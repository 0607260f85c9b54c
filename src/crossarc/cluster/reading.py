"""The sentences of a shard: treebanks as they are, texts and documents segmented by the model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from io import BytesIO
from typing import Any, NamedTuple

from crossarc.cluster.ranges import lines_before, open_piece
from crossarc.cluster.shards import Piece, Shard
from crossarc.core import EmptyInput, InputError, Place, Sentence
from crossarc.io import FORMATS
from crossarc.io.arrow import pyarrow
from crossarc.io.blocks import read_blocks
from crossarc.io.parquet import damage_named, open_parquet
from crossarc.io.streams import InputStream
from crossarc.io.text import TextBlock, read_text
from crossarc.pipeline import Pipeline

__all__ = ["Fields", "ShardReader"]

_CHUNK = 1 << 16  # bytes
_ROWS = 256  # of Parquet, at a time


class Fields(NamedTuple):
    """Where JSON Lines and Parquet files have the names of documents and their texts."""

    id: str = "id"
    text: str = "text"


class Document(NamedTuple):
    """A text with a name."""

    id: str
    text: str
    line: int  # of its file
    others: dict[str, Any]  # what else the file says about it


class ShardReader:
    """Reads one shard; what cannot be read is reported, and the rest goes on."""

    def __init__(self, shard: Shard, pipeline: Pipeline, fields: Fields, report: Callable[[InputError], None]) -> None:
        self._shard, self._pipeline, self._fields = shard, pipeline, fields
        self._named = {piece.path: piece for piece in shard.pieces} | {piece.origin: piece for piece in shard.pieces}
        self._listener = report
        first = shard.pieces[0]
        # the document that goes on from the shard before
        self.document = first.name if first.kind in ("text", "lines") and first.start else None

    def sentences(self) -> Iterator[Sentence]:
        """All of them, in the order of the input."""
        for piece in self._shard.pieces:
            try:
                yield from self._read(piece)
            except EmptyInput as error:
                if piece.start == 0 and piece.end is None:  # a range may be empty: a long sentence can cover it
                    self._report(error)
            except InputError as error:
                self._report(error)
            except OSError as error:
                self._report(InputError((error.strerror or str(error)).lower(), Place(piece.name)))

    def _report(self, error: InputError) -> None:
        self._listener(self.located(error))

    def located(self, error: InputError) -> InputError:
        """The error with the name of the file, and the line counted from where the file begins."""
        place = error.place
        piece = self._named.get(place.path)
        if piece is None:
            return error
        in_range = piece.start and place.line and piece.kind != "parquet"
        line = place.line + lines_before(piece) if in_range else place.line
        return InputError(error.message, Place(piece.name, line, place.sent_id))

    def _read(self, piece: Piece) -> Iterator[Sentence]:
        if piece.kind == "parquet":
            yield from self._in_documents(_rows(piece, self._fields), piece)
            return
        with open_piece(piece) as stream:
            if piece.kind == "jsonl":
                yield from self._in_documents(self._json_lines(stream, piece), piece)
            elif piece.kind in ("text", "lines"):
                yield from self._in_text(stream, piece)
            else:
                yield from self._in_treebank(stream, piece)

    # ---- treebanks and texts -----------------------------------------------------------------------------------------

    def _in_treebank(self, stream: InputStream, piece: Piece) -> Iterator[Sentence]:
        parse_block = FORMATS[piece.kind].parse_block
        for block in read_blocks(stream, piece.origin, report=_ignored):
            try:
                yield parse_block(block)
            except InputError as error:
                self._report(error)

    def _in_text(self, stream: InputStream, piece: Piece) -> Iterator[Sentence]:
        lines = piece.kind == "lines"
        heading = [] if piece.start else [f"# newdoc id = {piece.name}"]
        blocks = read_text(stream, piece.origin, lines=lines, report=self._report)
        yield from self._segmented(blocks, piece.origin, heading, lines)

    def _segmented(
        self, blocks: Iterable[TextBlock], name: str, heading: list[str], lines: bool = False
    ) -> Iterator[Sentence]:
        """The sentences of blocks, with names that are unique in the corpus; the first one has the heading."""
        prefix = "_".join(name.replace("/", " ").split())  # UD reserves slashes in names of sentences
        for block in blocks:
            found = self._pipeline.segment(block.content, lines=lines, paragraph=block.paragraph, path=block.path)
            for sentence in found:
                own = [_with_prefix(comment, prefix) for comment in sentence.comments if comment != "# newdoc"]
                yield replace(sentence, comments=(*heading, *own), line=block.line)
                heading = []

    # ---- documents ---------------------------------------------------------------------------------------------------

    def _in_documents(self, documents: Iterable[Document], piece: Piece) -> Iterator[Sentence]:
        for document in documents:
            heading = [f"# newdoc id = {document.id}"]
            heading += [f"# meta::{_one_line(key)} = {_value(value)}" for key, value in document.others.items()]
            try:
                "".join(heading).encode()
                stream = BytesIO(document.text.encode())
            except UnicodeEncodeError:
                self._report(InputError("half of a surrogate pair", Place(piece.origin, document.line)))
                continue
            if document.text.strip():
                blocks = (block._replace(line=document.line) for block in read_text(stream, piece.origin))
                yield from self._segmented(blocks, document.id, heading)

    def _json_lines(self, stream: InputStream, piece: Piece) -> Iterator[Document]:
        for number, line in enumerate(_lines(stream), 1):
            if not line.strip():
                continue
            try:
                yield _document(json.loads(line), self._fields, piece, number)
            except (ValueError, RecursionError) as error:
                problem = str(error) if isinstance(error, _NoDocument) else f"not JSON: {_reason(error)}"
                self._report(InputError(problem, Place(piece.origin, number)))


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower()} at column {error.colno}"
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else "nested too deeply"


class _NoDocument(ValueError):
    """Something else than a document."""


def _document(data: Any, fields: Fields, piece: Piece, line: int) -> Document:
    if not isinstance(data, dict):
        raise _NoDocument("not a JSON object")
    if not isinstance(data.get(fields.text), str):
        raise _NoDocument(f"no text in the field {fields.text!r}")
    others = {key: value for key, value in data.items() if key not in fields}
    given = data.get(fields.id)
    return Document(f"{piece.origin}:{line}" if given is None else _one_line(given), data[fields.text], line, others)


def _rows(piece: Piece, fields: Fields) -> Iterator[Document]:
    """The documents of a Parquet file, or of some of its row groups."""
    with damage_named(piece.name), open_parquet(piece.path) as file:
        _check_column(file.schema_arrow, fields.text, piece)
        columns = [name for name in fields if name in file.schema_arrow.names]
        groups = range(piece.start, file.metadata.num_row_groups if piece.end is None else piece.end)
        number = sum(file.metadata.row_group(i).num_rows for i in range(piece.start))
        for batch in file.iter_batches(_ROWS, row_groups=list(groups), columns=columns):
            for row in batch.to_pylist():
                number += 1
                given = row.get(fields.id)
                name = f"{piece.name}:{number}" if given is None else _one_line(given)
                yield Document(name, row[fields.text] or "", number, {})


def _check_column(schema: Any, name: str, piece: Piece) -> None:
    if name not in schema.names:
        raise InputError(f"no column {name!r}, but {', '.join(schema.names)}", Place(piece.name))
    kind = schema.field(name).type
    types = pyarrow().types
    if not (types.is_string(kind) or types.is_large_string(kind)):
        raise InputError(f"the column {name!r} is {kind}, not text", Place(piece.name))


def _lines(stream: InputStream) -> Iterator[bytes]:
    rest = b""
    while content := stream.read1(_CHUNK):
        *lines, rest = (rest + content).split(b"\n")
        yield from lines
    if rest:
        yield rest


def _with_prefix(comment: str, prefix: str) -> str:
    """``# sent_id = p3-s1`` and ``# newpar id = p3`` with the name of the document."""
    name, equals, value = comment.partition(" = ")
    return f"{name} = {prefix}-{value}" if equals and name in ("# sent_id", "# newpar id") else comment


def _one_line(value: Any) -> str:
    return " ".join(str(value).split())


def _value(value: Any) -> str:
    """JSON; but strings as they are where nobody can take them for JSON."""
    if not isinstance(value, str) or value != _one_line(value):
        return json.dumps(value, ensure_ascii=False)
    try:
        json.loads(value)
    except ValueError:
        return value
    return json.dumps(value, ensure_ascii=False)


def _ignored(problem: InputError) -> None:
    """Line ends and blank lines that are not as they should be do no harm."""
