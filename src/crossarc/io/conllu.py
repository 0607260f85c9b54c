"""CoNLL-U, byte for byte: ten columns, comments, multiword tokens, empty nodes.

Written by hand because no library is both lossless and fast: ``benchmarks/io.py`` measures it against ``conllu``.
"""

from __future__ import annotations

from crossarc.core import InputError, Insert, Place, Row, Sentence
from crossarc.core.sentence import cached_if_short, word_ids
from crossarc.io.blocks import Block
from crossarc.io.problems import format_problems, inserts_fit

__all__ = ["format_sentence", "parse_block"]


def parse_block(block: Block) -> Sentence:
    """The sentence of a block. Raises ``InputError`` for the first thing that breaks the format."""
    text = block.text()
    comments, body = _split_comments(text)
    sentence = sentence_of(body, comments, block)
    if sentence is None:
        raise first_error(block, text)
    object.__setattr__(sentence, "source", text)
    return sentence


def sentence_of(body: str, comments: tuple[str, ...], block: Block) -> Sentence | None:
    """The sentence, or None if ``format_problems`` would find something: the fast path of the reader.

    All fields of the sentence are cut out in one go; the line break stays at the front of the field after it, so
    that every tenth field shows whether it starts a line.
    """
    fields = ("\n" + body.replace("\n", "\t\n")).split("\t")
    words, remainder = divmod(len(fields), 10)
    if remainder or body.count("\n") != words - 1 or "" in fields:
        return None
    inserts: tuple[Insert, ...] = ()
    if fields[::10] != line_ids(words):
        inserts = _take_inserts(fields)
        words = len(fields) // 10
        if words == 0 or fields[::10] != line_ids(words) or not inserts_fit(inserts, words):
            return None
    row = tuple(fields)
    columns = row[1::10], row[2::10], row[3::10], row[4::10], row[5::10], row[6::10], row[7::10], row[8::10], row[9::10]
    if not valid_heads(words).issuperset(columns[5]):
        return None
    return Sentence(columns, comments, inserts, block.path, block.line)


def format_sentence(sentence: Sentence) -> str:
    """The lines of the sentence and the blank line after them."""
    return sentence.to_conllu()


def first_error(block: Block, text: str, *, only_words: bool = False) -> InputError:
    """The first problem of a block that is not well formed, with its place."""
    line, message = next(format_problems(text.split("\n"), only_words=only_words))
    return InputError(message, Place(block.path, block.line + line, block.sent_id()))


@cached_if_short
def line_ids(n: int) -> list[str]:
    """['\\n1', '\\n2', ..., '\\nn']"""
    return ["\n" + id_ for id_ in word_ids(n)]


@cached_if_short
def valid_heads(n: int) -> frozenset[str]:
    """What may stand in HEAD in a sentence of n words."""
    return frozenset(["_", "0", *word_ids(n)])


def _split_comments(text: str) -> tuple[tuple[str, ...], str]:
    """The comments before the first word, and the rest."""
    comments = []
    start = 0
    while text.startswith("#", start):
        end = text.find("\n", start)
        if end < 0:
            end = len(text)
        comments.append(text[start:end])
        start = end + 1
    return tuple(comments), text[start:]


def _take_inserts(fields: list[str]) -> tuple[Insert, ...]:
    """Take the lines that are not words out of the fields."""
    words: list[str] = []
    inserts = []
    for start in range(0, len(fields), 10):
        row = fields[start : start + 10]
        if "-" in row[0] or "." in row[0]:
            inserts.append(Insert(len(words) // 10, Row(row[0][1:], *row[1:])))
        else:
            words += row
    fields[:] = words
    return tuple(inserts)
