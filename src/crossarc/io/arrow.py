"""Sentences as tables of Arrow, for pandas, Polars, DuckDB and their like: a row for each sentence, and back.

The ten fields of CoNLL-U are columns of lists, with an item for each word; heads are numbers, null where they are
unknown. Comments are kept as they are, and lines that are not words (multiword tokens, empty nodes) as ``inserts``, so
that nothing is lost. ``doc_id``, ``sent_id`` and ``text`` say again what the comments say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from crossarc.core import CrossarcError, InputError, Insert, MissingLibrary, Place, Row, Sentence
from crossarc.core.sentence import word_ids

__all__ = ["TableRow", "batches_of", "from_arrow", "parse_row", "pyarrow", "rows_of", "schema", "to_arrow", "to_pandas"]

_BATCH = 4096  # sentences
_STRINGS = ("form", "lemma", "upos", "xpos", "feats", "deprel", "deps", "misc")  # columns that are lists of strings
_PROBABILITIES = {"arc_prob": "ArcProb=", "rel_prob": "RelProb="}  # and where MISC has them


def pyarrow() -> Any:
    """The library, which is needed for nothing else."""
    try:
        import pyarrow
    except ImportError:
        raise MissingLibrary("tables, Parquet and .zst files need a library", "arrow") from None
    return pyarrow


def to_arrow(sentences: Sentence | Iterable[Sentence], *, probabilities: bool = False) -> Any:
    """A ``pyarrow.Table`` of sentences, a row for each.

    With ``probabilities``, the columns ``arc_prob`` and ``rel_prob`` have those that ``crossarc parse --confidence``
    writes to MISC, as numbers.

    >>> table = to_arrow(Sentence.of(["Go", "on"], head=["0", "1"]))
    >>> table["form"].to_pylist(), table["head"].to_pylist(), table["text"].to_pylist()
    ([['Go', 'on']], [[0, 1]], ['Go on'])
    """
    some = [sentences] if isinstance(sentences, Sentence) else sentences
    batches = batches_of(some, probabilities=probabilities)
    return pyarrow().Table.from_batches(batches, schema(probabilities=probabilities))


def to_pandas(sentences: Sentence | Iterable[Sentence], *, probabilities: bool = False) -> Any:
    """A ``pandas.DataFrame`` of sentences, a row for each: see ``to_arrow``.

    ``frame.explode(["id", "form", "head", ...])`` makes a row for each word.
    """
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise CrossarcError("data frames need a library: pip install pandas") from None
    return to_arrow(sentences, probabilities=probabilities).to_pandas()


def from_arrow(table: Any) -> Iterator[Sentence]:
    """The sentences of a table such as ``to_arrow`` makes, or of its batches.

    Only ``form`` must be there. Other fields that are missing are unknown; without ``comments``, they are made of
    ``doc_id``, ``sent_id`` and ``text``. ``InputError`` says which row is wrong.

    >>> next(from_arrow(to_arrow(Sentence.of(["Go", "on"], head=["0", "1"])))).head
    ('0', '1')
    """
    return map(parse_row, rows_of(table.to_batches() if hasattr(table, "to_batches") else table, "<table>"))


# ---- to tables -------------------------------------------------------------------------------------------------------


def schema(*, probabilities: bool = False) -> Any:
    """The columns of a table and their types."""
    arrow = pyarrow()
    texts, numbers = arrow.list_(arrow.string()), arrow.list_(arrow.int32())
    line = arrow.struct([("after", arrow.int32()), *((name, arrow.string()) for name in Row._fields)])
    columns = {"doc_id": arrow.string(), "sent_id": arrow.string(), "text": arrow.string(), "comments": texts}
    columns |= {name: numbers if name in ("id", "head") else texts for name in Row._fields}
    columns["inserts"] = arrow.list_(line)
    if probabilities:
        columns |= dict.fromkeys(_PROBABILITIES, arrow.list_(arrow.float32()))
    return arrow.schema(list(columns.items()))


def batches_of(
    sentences: Iterable[Sentence], *, probabilities: bool = False, document: str | None = None
) -> Iterator[Any]:
    """Record batches of sentences; ``document`` is the one that the first sentences belong to.

    Other files begin without one.
    """
    batch = pyarrow().RecordBatch
    columns = schema(probabilities=probabilities)
    remaining = iter(sentences)
    path: str | None = None
    while some := list(islice(remaining, _BATCH)):
        rows = []
        for sentence in some:
            before = document if path in (None, sentence.path) else None
            document, path = document_of(sentence, before), sentence.path
            rows.append({"doc_id": document, **_row(sentence, probabilities)})
        yield batch.from_pylist(rows, columns)


def document_of(sentence: Sentence, before: str | None) -> str | None:
    """The id of the document that a sentence belongs to, if the sentence before it belongs to ``before``."""
    for comment in sentence.comments:
        if comment[1:].lstrip().startswith("newdoc"):
            return sentence.metadata("newdoc id")
    return before


def _row(sentence: Sentence, probabilities: bool) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(sentence, name) for name in _STRINGS}
    row |= {"sent_id": sentence.sent_id, "text": sentence.text, "comments": sentence.comments}
    row["id"] = range(1, len(sentence) + 1)
    row["head"] = [None if head == "_" else int(head) for head in sentence.head]
    row["inserts"] = [{"after": insert.after, **insert.row._asdict()} for insert in sentence.inserts]
    if probabilities:
        row |= {name: [_number(misc, key) for misc in sentence.misc] for name, key in _PROBABILITIES.items()}
    return row


def _number(misc: str, key: str) -> float | None:
    return next((float(item.removeprefix(key)) for item in misc.split("|") if item.startswith(key)), None)


# ---- and back --------------------------------------------------------------------------------------------------------


class TableRow(NamedTuple):
    """What a table has of a sentence."""

    values: dict[str, Any]
    path: str
    number: int  # counted from 1
    document: str | None  # that of the sentence before


def rows_of(batches: Iterable[Any], path: str) -> Iterator[TableRow]:
    """The rows of record batches; ``path`` is where they come from."""
    number, document = 0, None
    for batch in batches:
        if "form" not in batch.schema.names:
            raise InputError("no column 'form': this is not a table of sentences", Place(path))
        for values in batch.to_pylist():
            number += 1
            yield TableRow(values, path, number, document)
            document = values.get("doc_id")


def parse_row(row: TableRow) -> Sentence:
    """The sentence of a row. Raises ``InputError`` for the first thing that is wrong with it."""
    try:
        columns = _columns(row.values)
        words = len(columns[0])
        inserts = tuple(_insert(insert, words) for insert in row.values.get("inserts", ()))
        return Sentence(columns, _comments(row), inserts, row.path, row.number)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(f"row {row.number} is not a sentence: {reason}", Place(row.path)) from None


def _columns(values: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    words = len(values["form"])
    unknown = ["_"] * words
    columns = {name: _checked(values.get(name, unknown), name) for name in _STRINGS}
    columns["head"] = tuple(_head(head, words) for head in values.get("head", unknown))
    for name, column in columns.items():
        if len(column) != words:
            raise ValueError(f"{name} has {len(column)} items for {words} words")
    return tuple(columns[name] for name in Row._fields[1:])


def _checked(column: Iterable[str], name: str) -> tuple[str, ...]:
    values = tuple(column)
    if not values or any(not value or "\t" in value or "\n" in value for value in values):
        raise ValueError(f"{name} is empty, or has an item that is empty or has a tab or a line break")
    return values


def _head(head: Any, n: int) -> str:
    """The head as CoNLL-U has it. Data frames make NaN of null, and then fractions of whole numbers."""
    if head is None or head == "_" or head != head:
        return "_"
    if int(head) != head or not 0 <= head <= n:
        raise ValueError(f"{head} cannot be a head in a sentence of {n} words")
    return str(int(head))


def _insert(insert: dict[str, Any], n: int) -> Insert:
    row = Row(*_checked((insert[name] for name in Row._fields), "inserts"))
    if not 0 <= insert["after"] <= n or row.id in word_ids(n):
        raise ValueError(f"{row.id} after word {insert['after']} is no multiword token or empty node of it")
    return Insert(insert["after"], row)


def _comments(row: TableRow) -> tuple[str, ...]:
    values = row.values
    if "comments" in values:
        comments = list(values["comments"])
    else:
        comments = [f"# {name} = {values[name]}" for name in ("sent_id", "text") if values.get(name) is not None]
        if values.get("doc_id") not in (None, row.document):
            comments.insert(0, f"# newdoc id = {values['doc_id']}")
    if any(not comment.startswith("#") or "\n" in comment for comment in comments):
        raise ValueError("a comment that is not one line beginning with #")
    return tuple(comments)
