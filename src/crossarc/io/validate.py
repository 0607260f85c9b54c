"""Every structural problem of a treebank file, not only the first."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from crossarc.core import InputError, Place, Sentence
from crossarc.io import FORMATS, Format, format_of
from crossarc.io.blocks import Block, read_blocks
from crossarc.io.problems import LineProblem, WordProblem, format_problems, graph_problems, tree_problems
from crossarc.io.sdp import sdp_problems
from crossarc.io.streams import open_input

__all__ = ["SentenceProblems", "problems_by_sentence"]

Check = Callable[[Sentence], Iterator[WordProblem]]


class SentenceProblems(NamedTuple):
    """All that is wrong with a sentence."""

    size: int  # bytes of the sentence, with the blank line after it
    problems: list[InputError]


def problems_by_sentence(path: str | os.PathLike[str], *, single_root: bool = False) -> Iterator[SentenceProblems]:
    """The problems of each sentence of a file; at the end, those of the file's blank lines and line ends.

    A file that cannot be read at all raises ``InputError``.
    """
    format = format_of(path)
    first_line: dict[str, int] = {}
    of_file: list[InputError] = []
    with open_input(path) as stream:
        for block in read_blocks(stream, os.fspath(path), report=of_file.append):
            found = _block_problems(block, format, single_root=single_root)
            sent_id = block.sent_id()
            if sent_id is not None:
                earlier = first_line.setdefault(sent_id, block.line)
                if earlier != block.line:
                    place = Place(block.path, block.line, sent_id)
                    found.append(InputError(f"this sent_id was used at line {earlier}", place))
            yield SentenceProblems(len(block.content) + 2, found)
    if of_file:
        yield SentenceProblems(0, of_file)


def _block_problems(block: Block, format: Format, *, single_root: bool) -> list[InputError]:
    try:
        lines = block.text().split("\n")
    except InputError as error:
        return [error]
    in_format = [
        InputError(message, Place(block.path, block.line + line, block.sent_id()))
        for line, message in _format_problems(lines, format)
    ]
    if in_format:
        return in_format
    sentence = FORMATS[format].parse_block(block)
    checks = (
        (graph_problems,) if format == "sdp" else (tree_problems, graph_problems)
    )  # graphs come without trees there
    return _sentence_problems(sentence, checks, single_root=single_root)


def _format_problems(lines: list[str], format: Format) -> Iterator[LineProblem]:
    return sdp_problems(lines) if format == "sdp" else format_problems(lines, only_words=format == "conllx")


def _sentence_problems(sentence: Sentence, checks: Sequence[Check], *, single_root: bool) -> list[InputError]:
    found = [InputError(message, sentence.place(word)) for check in checks for word, message in check(sentence)]
    roots = sentence.head.count("0")
    if single_root and roots > 1:
        found.append(InputError(f"{roots} roots", sentence.place()))
    return found
