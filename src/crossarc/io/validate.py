"""Every structural problem of a treebank file, not only the first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from crossarc.core import InputError, Place, Sentence
from crossarc.io import conllu, conllx, format_of
from crossarc.io.blocks import Block, read_blocks
from crossarc.io.problems import format_problems, graph_problems, tree_problems
from crossarc.io.streams import open_input

__all__ = ["SentenceProblems", "problems_by_sentence"]


class SentenceProblems(NamedTuple):
    """All that is wrong with a sentence."""

    size: int  # bytes of the sentence, with the blank line after it
    problems: list[InputError]


def problems_by_sentence(path: str | os.PathLike[str], *, single_root: bool = False) -> Iterator[SentenceProblems]:
    """The problems of each sentence of a file; at the end, those of the file's blank lines and line ends.

    A file that cannot be read at all raises ``InputError``.
    """
    only_words = format_of(path) == "conllx"
    first_line: dict[str, int] = {}
    of_file: list[InputError] = []
    with open_input(path) as stream:
        for block in read_blocks(stream, os.fspath(path), report=of_file.append):
            found = _block_problems(block, only_words=only_words, single_root=single_root)
            sent_id = block.sent_id()
            if sent_id is not None:
                earlier = first_line.setdefault(sent_id, block.line)
                if earlier != block.line:
                    place = Place(block.path, block.line, sent_id)
                    found.append(InputError(f"this sent_id was used at line {earlier}", place))
            yield SentenceProblems(len(block.content) + 2, found)
    if of_file:
        yield SentenceProblems(0, of_file)


def _block_problems(block: Block, *, only_words: bool, single_root: bool) -> list[InputError]:
    try:
        lines = block.text().split("\n")
    except InputError as error:
        return [error]
    in_format = [
        InputError(message, Place(block.path, block.line + line, block.sent_id()))
        for line, message in format_problems(lines, only_words=only_words)
    ]
    if in_format:
        return in_format
    sentence = (conllx if only_words else conllu).parse_block(block)
    return _sentence_problems(sentence, single_root=single_root)


def _sentence_problems(sentence: Sentence, *, single_root: bool) -> list[InputError]:
    found = [
        InputError(message, sentence.place(word))
        for check in (tree_problems, graph_problems)
        for word, message in check(sentence)
    ]
    roots = sentence.head.count("0")
    if single_root and roots > 1:
        found.append(InputError(f"{roots} roots", sentence.place()))
    return found
