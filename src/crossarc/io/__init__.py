"""Treebank files as streams of sentences, read and written without loss."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from crossarc.core import InputError, InputWarning, Sentence
from crossarc.io import conllu, conllx
from crossarc.io.blocks import read_blocks
from crossarc.io.problems import find_cycle, tree_problems
from crossarc.io.streams import open_input, open_output

__all__ = ["FORMATS", "Format", "OnError", "format_of", "read", "write"]

Format = Literal["conllu", "conllx"]
OnError = Literal["stop", "skip"] | Callable[[InputError], None]

FORMATS = {"conllu": conllu, "conllx": conllx}  # each with parse_block and format_sentence
_BUFFER = 1 << 16


def read(
    path: str | os.PathLike[str],
    *,
    format: Format | None = None,
    trees: bool = False,
    on_error: OnError = "stop",
) -> Iterator[Sentence]:
    """The sentences of a treebank file, one after the other, in flat memory.

    Parameters
    ----------
    path : a file (plain, .gz, .xz), or ``-`` for standard input
    format : "conllu" or "conllx"
        By default what the file's name says: .conll and .conllx are CoNLL-X, all else is CoNLL-U.
    trees : bool
        Whether every sentence must be a tree; otherwise heads may be unknown (``_``) or form cycles.
    on_error : "stop", "skip" or a function
        What happens to a broken sentence: raise its ``InputError``, leave it out with an ``InputWarning``,
        or leave it out and call the function with the error.
    """
    parse_block = FORMATS[format or format_of(path)].parse_block
    with open_input(path) as stream:
        for block in read_blocks(stream, os.fspath(path)):
            try:
                sentence = parse_block(block)
                if trees:
                    _require_tree(sentence)
            except InputError as error:
                if on_error == "stop":
                    raise
                if on_error == "skip":
                    warnings.warn(f"{error} (sentence left out)", InputWarning, stacklevel=2)
                else:
                    on_error(error)
            else:
                yield sentence


def write(sentences: Iterable[Sentence], path: str | os.PathLike[str], *, format: Format | None = None) -> None:
    """Write sentences as they come to a file (.gz, .xz compressed), or to standard output for ``-``.

    A file appears under its name only when all is written: it may be the one that the sentences are read from.
    """
    format_sentence = FORMATS[format or format_of(path)].format_sentence
    with open_output(path) as stream:
        buffer: list[str] = []
        size = 0
        for sentence in sentences:
            text = format_sentence(sentence)
            buffer.append(text)
            size += len(text)
            if size > _BUFFER:
                stream.write("".join(buffer).encode())
                buffer.clear()
                size = 0
        stream.write("".join(buffer).encode())


def format_of(path: str | os.PathLike[str]) -> Format:
    """The format that a file's name stands for.

    >>> format_of("danish.conll.gz"), format_of("en.conllu"), format_of("-")
    ('conllx', 'conllu', 'conllu')
    """
    name = os.fspath(path).removesuffix(".gz").removesuffix(".xz")
    return "conllx" if name.endswith((".conll", ".conllx")) else "conllu"


def _require_tree(sentence: Sentence) -> None:
    if "_" in sentence.head or find_cycle([-1, *map(int, sentence.head)]):
        problem = next(tree_problems(sentence))
        raise InputError(problem.message, sentence.place(problem.word))
