"""What can be wrong with a sentence: the one list of checks behind the reader's errors and ``crossarc validate``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crossarc.core import Insert, Row, Sentence

__all__ = [
    "RAW_TEXT",
    "LineProblem",
    "WordProblem",
    "find_cycle",
    "format_problems",
    "graph_problems",
    "inserts_fit",
    "shown",
    "tree_problems",
]

RAW_TEXT = "this looks like raw text, not like a treebank"
# At most nine digits: no sentence has so many words, and Python refuses to read numbers of some thousand digits.
_NUMBER = r"[1-9][0-9]{0,8}"
_INTEGER = re.compile(rf"0|{_NUMBER}")
_DIGITS = re.compile(r"0|[1-9][0-9]*")
_EMPTY_NODE = re.compile(rf"(0|{_NUMBER})\.({_NUMBER})")
_FIRST_ID = re.compile(r"(1|0\.1|1-[0-9]+) ")
_RANGE = re.compile(rf"({_NUMBER})-({_NUMBER})")
_EXCERPT = 40  # characters that messages show of a value
_LONG_CYCLE = 20  # words that messages show of a cycle


class LineProblem(NamedTuple):
    """What is wrong with a line of a sentence."""

    line: int  # counted from 0 within the sentence
    message: str


class WordProblem(NamedTuple):
    """What is wrong with a word, or with the tree."""

    word: int | None  # None: the sentence as a whole
    message: str


def format_problems(lines: Sequence[str], *, only_words: bool = False) -> Iterator[LineProblem]:
    """Everything that keeps the lines of a sentence from being ten columns over the words 1..n.

    ``only_words`` is for CoNLL-X, which has no comments, multiword tokens or empty nodes.
    """
    if _is_raw_text(lines):
        yield LineProblem(0, RAW_TEXT)
        return
    ids = _IdChecker()
    rows: list[tuple[int, list[str]]] = []
    for number, line in enumerate(lines):
        row = line.split("\t")
        if line.startswith("\ufeff"):
            yield LineProblem(number, "a byte order mark within the file")
        elif line.startswith("#") and not only_words:
            if ids.started:
                yield LineProblem(number, "a comment after the first word")
        elif len(row) != len(Row._fields):
            hint = " (columns must be separated by tabs)" if len(row) == 1 and " " in line.strip() else ""
            columns = "column" if len(row) == 1 else "columns"
            yield LineProblem(number, f"{len(row)} {columns} instead of {len(Row._fields)}{hint}")
            ids.take(row[0])  # a broken line still uses its id up
        else:
            for name, value in zip(Row._fields, row, strict=True):
                if not value:
                    yield LineProblem(number, f"column {name.upper()} is empty")
            if message := ids.take(row[0]):
                yield LineProblem(number, message)
            elif only_words and not _INTEGER.fullmatch(row[0]):
                yield LineProblem(number, f"ID {shown(row[0])}: CoNLL-X has words only")
            if only_words and (names := [n for n, value in zip(Row._fields, row, strict=True) if " " in value]):
                yield LineProblem(number, f"a space in {names[0].upper()}: CoNLL-X has none within columns")
            if _INTEGER.fullmatch(row[0]):
                rows.append((number, row))
    if message := ids.finish():
        yield LineProblem(max(len(lines) - 1, 0), message)
    for number, row in rows:
        head = row[6]
        if head and head != "_":
            if not _DIGITS.fullmatch(head):
                yield LineProblem(number, f"HEAD {shown(head)} of word {row[0]} is not a number")
            elif not _INTEGER.fullmatch(head) or int(head) > ids.words:
                words = "word" if ids.words == 1 else "words"
                value = head if _INTEGER.fullmatch(head) else shown(head)
                yield LineProblem(
                    number, f"HEAD {value} of word {row[0]} is out of range: the sentence has {ids.words} {words}"
                )


def shown(value: str) -> str:
    """A value in a message: in quotes, and only its beginning if it is long.

    >>> shown("3x"), shown("9" * 5000)
    ("'3x'", "'9999999999999999999999999999999999999999'...")
    """
    return repr(value) if len(value) <= _EXCERPT else f"{value[:_EXCERPT]!r}..."


def _is_raw_text(lines: Sequence[str]) -> bool:
    """Whether there are no columns, and the first line is not that of a first word either, with spaces for tabs."""
    rows = [line for line in lines if not line.startswith("#")]
    return bool(rows) and not any("\t" in row for row in rows) and not _FIRST_ID.match(rows[0])


def inserts_fit(inserts: Sequence[Insert], words: int) -> bool:
    """Whether multiword tokens and empty nodes have the right ids, given that the words are 1, 2, ..."""
    checker = _IdChecker()
    for insert in inserts:
        checker.skip_to(insert.after)
        if checker.take(insert.row.id):
            return False
    checker.skip_to(words)
    return checker.finish() is None


class _IdChecker:
    """Takes the ids of a sentence in turn: 1-2, 1, 1.1, 2, 3 ..."""

    def __init__(self) -> None:
        self.started = False
        self.words = 0  # words so far
        self.nodes = 0  # empty nodes since the last word
        self.covered = 0  # the last word of the last multiword token

    def skip_to(self, word: int) -> None:
        """Go on as if the words up to this one had been taken."""
        if word != self.words:
            self.words, self.nodes = word, 0

    def take(self, id_: str) -> str | None:
        """What is wrong with this id at this place, if anything."""
        self.started = True
        if _INTEGER.fullmatch(id_):
            return self._word(int(id_))
        if match := _EMPTY_NODE.fullmatch(id_):
            return self._empty_node(id_, int(match[1]), int(match[2]))
        if match := _RANGE.fullmatch(id_):
            return self._range(id_, int(match[1]), int(match[2]))
        return f"ID {shown(id_)} is not a word (3), a multiword token (3-4) or an empty node (3.1)"

    def _word(self, word: int) -> str | None:
        expected, self.words, self.nodes = self.words + 1, max(word, self.words), 0
        if word == expected:
            return None
        if word < expected:
            return f"ID {word} is doubled or out of order: {expected} expected"
        return f"ID {expected} is missing: {word} follows {expected - 1}"

    def _empty_node(self, id_: str, after: int, count: int) -> str | None:
        self.nodes += 1
        if after != self.words:
            return f"empty node {id_} stands after word {self.words}"
        if count != self.nodes:
            return f"empty node {id_}: {after}.{self.nodes} expected"
        return None

    def _range(self, id_: str, first: int, last: int) -> str | None:
        if first != self.words + 1:
            return f"multiword token {id_} must stand before word {first}"
        if last < first:
            return f"multiword token {id_} ends before it starts"
        if first <= self.covered:
            return f"multiword token {id_} overlaps the one before it"
        self.covered = last
        return None

    def finish(self) -> str | None:
        if self.words == 0:
            return "a sentence without words"
        if self.covered > self.words:
            return f"a multiword token ends at word {self.covered}, but the sentence has {self.words} words"
        return None


def tree_problems(sentence: Sentence) -> Iterator[WordProblem]:
    """Everything that keeps the heads from being a tree: unknown heads, then cycles."""
    for word, head in enumerate(sentence.head, 1):
        if head == "_":
            yield WordProblem(word, f"word {word} has no HEAD")
    heads = [-1, *(0 if head == "_" else int(head) for head in sentence.head)]
    for cycle in _cycles(heads):
        message = f"the heads form a cycle: {_path(cycle)}" if len(cycle) > 1 else f"word {cycle[0]} is its own head"
        yield WordProblem(min(cycle), message)


def _path(cycle: Sequence[int]) -> str:
    """The words of a cycle, and its first one again; of a long one only some."""
    if len(cycle) > _LONG_CYCLE:
        return " → ".join(map(str, cycle[:_LONG_CYCLE])) + f" → ... ({len(cycle)} words)"
    return " → ".join(map(str, [*cycle, cycle[0]]))


def find_cycle(heads: Sequence[int]) -> list[int]:
    """The words of a cycle, each followed by its head; empty if every word reaches node 0."""
    return next(_cycles(heads), [])


def _cycles(heads: Sequence[int]) -> Iterator[list[int]]:
    """All cycles, in linear time: each word is visited once."""
    visited_from = [0] * len(heads)
    visited_from[0] = -1
    for start in range(1, len(heads)):
        word = start
        while not visited_from[word]:
            visited_from[word] = start
            word = heads[word]
        if visited_from[word] == start:
            cycle = [word]
            while heads[cycle[-1]] != word:
                cycle.append(heads[cycle[-1]])
            yield cycle


def graph_problems(sentence: Sentence) -> Iterator[WordProblem]:
    """Everything that is wrong with DEPS: its form, its order, arcs from nodes that are not there."""
    nodes = {"0", *map(str, range(1, len(sentence) + 1))}
    nodes.update(insert.row.id for insert in sentence.inserts if insert.is_empty_node)
    for word, deps in enumerate(sentence.deps, 1):
        if deps == "_":
            continue
        arcs = [arc.partition(":") for arc in deps.split("|")]
        for head, colon, label in arcs:
            if not (colon and label):
                yield WordProblem(word, f"DEPS of word {word}: {shown(head + colon)} is not head:label")
            elif head not in nodes:
                yield WordProblem(word, f"DEPS of word {word}: there is no node {shown(head)}")
            elif head == str(word):
                yield WordProblem(word, f"DEPS of word {word}: an arc from the word to itself")
        if all(head in nodes for head, _, _ in arcs):
            keys = [(*map(int, head.split(".")),) for head, _, _ in arcs]
            if keys != sorted(keys):
                yield WordProblem(word, f"DEPS of word {word}: heads are not in order")
            if len(set(arcs)) < len(arcs):
                yield WordProblem(word, f"DEPS of word {word}: an arc stands twice")
