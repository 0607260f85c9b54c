"""What comes in and goes out as text: CoNLL-U, and the formats of UDPipe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from io import BytesIO

from crossarc.core import Insert, Sentence
from crossarc.io import conllu
from crossarc.io.blocks import Block, read_blocks
from crossarc.server.jobs import RequestError
from crossarc.text.treebank import tokens_of

__all__ = ["INPUTS", "OUTPUTS", "joined", "normal", "read_conllu", "text_of", "too_long"]

_NO_WORD = re.compile(rb"[0-9]+[-.][0-9]+\t")  # the start of a multiword token or an empty node
_NO_BREAK_SPACE = "\u00a0"  # stands for a space within a word


def normal(text: str) -> str:
    """The text as our readers want it: without byte order mark and halves of characters, lines ended by LF alone."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").encode(errors="replace").decode()


def read_conllu(text: str, max_length: int) -> list[Sentence]:
    """The sentences of a CoNLL-U text; superfluous or missing blank lines do not matter."""
    if not text.strip("\n"):
        return []
    blocks = read_blocks(BytesIO(text.encode()), "input", report=lambda problem: None)
    return [conllu.parse_block(_not_too_long(block, max_length)) for block in blocks]


def _not_too_long(block: Block, max_length: int) -> Block:
    """The block, if it is worth reading: what the reader remembers grows with the longest sentence."""
    rows = [line for line in block.content.split(b"\n") if not line.startswith(b"#")]
    words = sum(not _NO_WORD.match(row) for row in rows)
    if words > max_length or len(rows) > 2 * max_length:
        raise too_long(words, max_length, block.line, block.sent_id())
    return block


def too_long(words: int, max_length: int, line: int | None, sentence: str | None) -> RequestError:
    """The error for a sentence of that many words."""
    return RequestError(400, f"{words} words; a sentence may have at most {max_length}", line, sentence)


def joined(sentences: Sequence[Sentence], number: int) -> Sentence:
    """Several sentences as one, which is given a number."""
    columns = tuple(
        tuple(value for column in same for value in column)
        for same in zip(*(sentence.columns for sentence in sentences), strict=True)
    )
    inserts = []
    before = 0
    for sentence in sentences:
        for insert in sentence.inserts:
            span = "-".join(str(word + before) for word in (insert.span[0], insert.span[-1]))
            inserts.append(Insert(insert.after + before, insert.row._replace(id=span)))
        before += len(sentence)
    text = " ".join(map(text_of, sentences))
    return Sentence(columns, (f"# sent_id = {number}", f"# text = {text}"), tuple(inserts))


def text_of(sentence: Sentence) -> str:
    """The sentence as people write it: its comment ``# text``, or its tokens with spaces between them."""
    spaced = "".join(token.form + " " * token.space for token in tokens_of(sentence))
    return sentence.metadata("text") or spaced.rstrip(" ")


def _read_horizontal(text: str, _: int) -> list[Sentence]:
    return [_of_words(re.split(r"[ \t]+", line)) for line in map(str.strip, text.split("\n")) if line]


def _read_vertical(text: str, _: int) -> list[Sentence]:
    blocks = re.split(r"\n[ \t]*(?:\n[ \t]*)+", text.strip("\n"))
    return [_of_words(line.split("\t")[0] for line in block.split("\n")) for block in blocks if block.strip()]


def _of_words(words: Iterable[str]) -> Sentence:
    return Sentence.of([word.replace(_NO_BREAK_SPACE, " ") for word in words if word])


def _horizontal(sentence: Sentence) -> str:
    return " ".join(form.replace(" ", _NO_BREAK_SPACE) for form in sentence.form) + "\n"


def _vertical(sentence: Sentence) -> str:
    return "".join(f"{form}\n" for form in sentence.form) + "\n"


def _plaintext(sentence: Sentence) -> str:
    return f"{text_of(sentence)}\n"


INPUTS = {"conllu": read_conllu, "horizontal": _read_horizontal, "vertical": _read_vertical}
OUTPUTS = {
    "conllu": conllu.format_sentence,
    "horizontal": _horizontal,
    "vertical": _vertical,
    "plaintext": _plaintext,
}
