"""Where the tokens of segmented sentences stand in the text they were cut from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crossarc.core import Sentence
from crossarc.text.treebank import tokens_of

__all__ = ["Piece", "pieces_of"]


class Piece(NamedTuple):
    """Characters of a text, and the words of a sentence that they stand for."""

    start: int
    end: int
    words: range  # counted from 1


def pieces_of(sentences: Iterable[Sentence], text: str) -> Iterator[list[Piece]]:
    """The pieces of each sentence of a text, in their order: words, and multiword tokens that are no row of words.

    *don't* is the two pieces *do* and *n't*; *vom*, whose words are *von* and *dem*, is one. Raises ``ValueError`` if
    the sentences are not of this text.

    >>> [[text[start:end] for start, end, _ in pieces] for text in ["a b"] for pieces in pieces_of(
    ...     [Sentence.of(["a"]), Sentence.of(["b"])], text)]
    [['a'], ['b']]
    """
    position = 0
    for sentence in sentences:
        pieces = []
        word = 1
        for token in tokens_of(sentence):
            start = position = text.index(token.form, position)
            if "".join(token.words) == token.form:
                for form in token.words:
                    pieces.append(Piece(position, position + len(form), range(word, word + 1)))
                    position, word = position + len(form), word + 1
            else:
                position, last = start + len(token.form), word + len(token.words)
                pieces.append(Piece(start, position, range(word, last)))
                word = last
        yield pieces
