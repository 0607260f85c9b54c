"""Tab-separated values with a header, for spreadsheets and data frames: a row for each word. Only written."""

from __future__ import annotations

from crossarc.core import Row, Sentence
from crossarc.core.sentence import word_ids

__all__ = ["HEADER", "format_sentence"]

HEADER = "\t".join(["sent_id", *Row._fields]) + "\n"


def format_sentence(sentence: Sentence) -> str:
    """The rows of a sentence: its name, and the columns of CoNLL-U. Sentences without a name are named by their line.

    >>> print(format_sentence(Sentence.of(["Go"], head=["0"])), end="")
    <memory>	1	Go	_	_	_	_	0	_	_	_
    """
    name = sentence.sent_id or str(sentence.place())
    rows = zip([name] * len(sentence), word_ids(len(sentence)), *sentence.columns, strict=True)
    return "".join("\t".join(row) + "\n" for row in rows)
