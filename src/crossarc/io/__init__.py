"""Treebank files as streams of sentences, read and written without loss."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from crossarc.core import InputError, InputWarning, Place, Sentence
from crossarc.io import conllu, conllx, jsonl, tsv
from crossarc.io.blocks import Block, read_blocks
from crossarc.io.problems import find_cycle, tree_problems
from crossarc.io.streams import Source, name_of, open_input, open_output

__all__ = [
    "FORMATS",
    "FORMATTERS",
    "Format",
    "OnError",
    "OutputFormat",
    "format_of",
    "output_format_of",
    "read",
    "read_string",
    "sentences_of",
    "write",
]

Format = Literal["conllu", "conllx"]
OutputFormat = Format | Literal["jsonl", "tsv"]
OnError = Literal["stop", "skip"] | Callable[[InputError], None]

FORMATS = {"conllu": conllu, "conllx": conllx}  # each with parse_block and format_sentence
FORMATTERS: dict[OutputFormat, Callable[[Sentence], str]] = {
    "conllu": conllu.format_sentence,
    "conllx": conllx.format_sentence,
    "jsonl": jsonl.format_sentence,
    "tsv": tsv.format_sentence,
}
_BUFFER = 1 << 16


def read(
    path: Source,
    *,
    format: Format | None = None,
    trees: bool = False,
    on_error: OnError = "stop",
) -> Iterator[Sentence]:
    """The sentences of a treebank file, one after the other, in flat memory.

    Parameters
    ----------
    path : a file (plain, .gz, .xz), ``-`` for standard input, or a file that is open, for text or bytes
    format : "conllu" or "conllx"
        By default what the file's name says: .conll and .conllx are CoNLL-X, all else is CoNLL-U.
    trees : bool
        Whether every sentence must be a tree; otherwise heads may be unknown (``_``) or form cycles.
    on_error : "stop", "skip" or a function
        What happens to a broken sentence: raise its ``InputError``, leave it out with an ``InputWarning``,
        or leave it out and call the function with the error.
    """
    name = name_of(path)
    if "\n" in name:
        raise InputError("this is the text of a treebank, not the name of a file: use read_string", Place("<memory>"))
    with open_input(path) as stream:
        yield from sentences_of(read_blocks(stream, name), format or format_of(name), trees=trees, on_error=on_error)


def sentences_of(
    blocks: Iterable[Block], format: Format, *, trees: bool = False, on_error: OnError = "stop"
) -> Iterator[Sentence]:
    """The sentences of blocks of lines: see ``read``."""
    parse_block = FORMATS[format].parse_block
    for block in blocks:
        try:
            sentence = parse_block(block)
            if trees:
                _require_tree(sentence)
        except InputError as error:
            if on_error == "stop":
                raise
            if on_error == "skip":
                warnings.warn(f"{error} (sentence left out)", InputWarning, stacklevel=3)
            else:
                on_error(error)
        else:
            yield sentence


def read_string(
    text: str, *, format: Format = "conllu", trees: bool = False, on_error: OnError = "stop"
) -> Iterator[Sentence]:
    """The sentences of the text of a treebank, with the parameters of `read`. Blank lines around it are left out.

    >>> text = "1\\tYes\\t_\\tINTJ\\t_\\t_\\t0\\troot\\t_\\t_"
    >>> [sentence.form for sentence in read_string(text)]
    [('Yes',)]
    """
    return read(io.StringIO(text.strip("\n") + "\n\n"), format=format, trees=trees, on_error=on_error)


def write(
    sentences: Sentence | Iterable[Sentence],
    path: str | os.PathLike[str],
    *,
    format: Format | None = None,
    newline: Literal["\n", "\r\n"] = "\n",
) -> None:
    """Write sentences (or one) as they come to a file (.gz, .xz compressed), or to standard output for ``-``.

    A file appears under its name only when all is written: it may be the one that the sentences are read from. Lines
    end with ``newline``, whatever they ended with where the sentences come from.
    """
    format_sentence = FORMATS[format or format_of(path)].format_sentence
    with open_output(path) as stream:
        buffer: list[str] = []
        size = 0
        for sentence in [sentences] if isinstance(sentences, Sentence) else sentences:
            text = format_sentence(sentence).replace("\n", newline)
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


def output_format_of(path: str | os.PathLike[str]) -> OutputFormat:
    """The format that the name of a file to be written stands for.

    >>> output_format_of("parsed.jsonl"), output_format_of("parsed.tsv.gz"), output_format_of("-")
    ('jsonl', 'tsv', 'conllu')
    """
    name = os.fspath(path).removesuffix(".gz").removesuffix(".xz")
    if name.endswith(".jsonl"):
        return "jsonl"
    return "tsv" if name.endswith(".tsv") else format_of(path)


def _require_tree(sentence: Sentence) -> None:
    if "_" in sentence.head or find_cycle([-1, *map(int, sentence.head)]):
        problem = next(tree_problems(sentence))
        raise InputError(problem.message, sentence.place(problem.word))
