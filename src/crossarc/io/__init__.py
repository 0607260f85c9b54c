"""Treebank files as streams of sentences, read and written without loss."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeVar

from crossarc.core import InputError, InputWarning, Place, Sentence
from crossarc.io import conllu, conllx, jsonl, sdp, tsv
from crossarc.io.arrow import from_arrow, parse_row, to_arrow, to_pandas
from crossarc.io.blocks import Block, read_blocks
from crossarc.io.parquet import is_parquet, read_rows, write_parquet
from crossarc.io.problems import find_cycle, tree_problems
from crossarc.io.streams import Source, name_of, open_input, open_output, plain_name

__all__ = [
    "FORMATS",
    "FORMATTERS",
    "HEADERS",
    "FileFormat",
    "Format",
    "OnError",
    "OutputFormat",
    "file_format_of",
    "format_of",
    "from_arrow",
    "output_format_of",
    "read",
    "read_string",
    "sentences_of",
    "to_arrow",
    "to_pandas",
    "write",
]

Format = Literal["conllu", "conllx", "sdp"]
FileFormat = Format | Literal["parquet"]  # of treebanks
OutputFormat = Format | Literal["jsonl", "tsv"]
OnError = Literal["stop", "skip"] | Callable[[InputError], None]

FORMATS = {"conllu": conllu, "conllx": conllx, "sdp": sdp}  # each with parse_block and format_sentence
FORMATTERS: dict[OutputFormat, Callable[[Sentence], str]] = {
    "conllu": conllu.format_sentence,
    "conllx": conllx.format_sentence,
    "sdp": sdp.format_sentence,
    "jsonl": jsonl.format_sentence,
    "tsv": tsv.format_sentence,
}
HEADERS: dict[str, str] = {"sdp": sdp.HEADER, "tsv": tsv.HEADER}  # what stands before the first sentence
_BUFFER = 1 << 16
Item = TypeVar("Item")


def read(
    path: Source,
    *,
    format: FileFormat | None = None,
    trees: bool = False,
    on_error: OnError = "stop",
) -> Iterator[Sentence]:
    """The sentences of a treebank file, one after the other, in flat memory.

    Parameters
    ----------
    path : a file (plain, .gz, .xz, .zst), ``-`` for standard input, or a file that is open, for text or bytes
    format : "conllu", "conllx", "sdp" or "parquet"
        By default what the file's name says: .conll and .conllx are CoNLL-X, .sdp are semantic dependency graphs,
        .parquet is a table such as `write` makes, all else is CoNLL-U.
    trees : bool
        Whether every sentence must be a tree; otherwise heads may be unknown (``_``) or form cycles.
    on_error : "stop", "skip" or a function
        What happens to a broken sentence: raise its ``InputError``, leave it out with an ``InputWarning``,
        or leave it out and call the function with the error.
    """
    name = name_of(path)
    if "\n" in name:
        raise InputError("this is the text of a treebank, not the name of a file: use read_string", Place("<memory>"))
    format = format or file_format_of(name)
    if format == "parquet":
        yield from _made(read_rows(name), parse_row, trees, on_error)
        return
    with open_input(path) as stream:
        yield from sentences_of(read_blocks(stream, name), format, trees=trees, on_error=on_error)


def sentences_of(
    blocks: Iterable[Block], format: Format, *, trees: bool = False, on_error: OnError = "stop"
) -> Iterator[Sentence]:
    """The sentences of blocks of lines: see ``read``."""
    return _made(blocks, FORMATS[format].parse_block, trees, on_error)


def _made(
    items: Iterable[Item], parse: Callable[[Item], Sentence], trees: bool, on_error: OnError
) -> Iterator[Sentence]:
    """The sentence that is made of each block or row."""
    for item in items:
        try:
            sentence = parse(item)
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
    format: FileFormat | None = None,
    newline: Literal["\n", "\r\n"] = "\n",
) -> None:
    """Write sentences (or one) as they come to a file (.gz, .xz, .zst, .parquet too), or to standard output for ``-``.

    A file appears under its name only when all is written: it may be the one that the sentences are read from. Lines
    end with ``newline``, whatever they ended with where the sentences come from.
    """
    sentences = [sentences] if isinstance(sentences, Sentence) else sentences
    format = format or file_format_of(path)
    with open_output(path) as stream:
        if format == "parquet":
            write_parquet(sentences, stream)
            return
        format_sentence = FORMATS[format].format_sentence
        buffer: list[str] = [HEADERS.get(format, "").replace("\n", newline)]
        size = 0
        for sentence in sentences:
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

    >>> format_of("danish.conll.gz"), format_of("en.conllu"), format_of("dm.sdp"), format_of("-")
    ('conllx', 'conllu', 'sdp', 'conllu')
    """
    name = plain_name(path)
    if name.endswith(".sdp"):
        return "sdp"
    return "conllx" if name.endswith((".conll", ".conllx")) else "conllu"


def file_format_of(path: str | os.PathLike[str]) -> FileFormat:
    """The format that the name of a treebank file stands for, tables among them."""
    return "parquet" if is_parquet(path) else format_of(path)


def output_format_of(path: str | os.PathLike[str]) -> OutputFormat:
    """The format that the name of a file to be written stands for.

    >>> output_format_of("parsed.jsonl"), output_format_of("parsed.tsv.gz"), output_format_of("-")
    ('jsonl', 'tsv', 'conllu')
    """
    name = plain_name(path)
    if name.endswith(".jsonl"):
        return "jsonl"
    return "tsv" if name.endswith(".tsv") else format_of(path)


def _require_tree(sentence: Sentence) -> None:
    if "_" in sentence.head or find_cycle([-1, *map(int, sentence.head)]):
        problem = next(tree_problems(sentence))
        raise InputError(problem.message, sentence.place(problem.word))
