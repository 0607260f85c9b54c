"""Constraints that a person writes down for single words: ``Head=3``, ``NotHead=5``, ``Rel=nsubj``, ``NotRel=obj``.

They stand in MISC, beside anything else, or in a file of lines ``SENTENCE<tab>WORD<tab>Head=3``, where SENTENCE is a
sent_id. Several values are separated by commas: ``NotHead=5,6``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from crossarc.core import Constraints, InputError, Place, Sentence

__all__ = [
    "ConstraintFile",
    "HeadConstraints",
    "MiscConstraints",
    "WordConstraint",
    "read_constraints",
    "to_constraints",
]

_NOTE = re.compile(r"(Head|NotHead|Rel|NotRel)=(.+)")


class WordConstraint(NamedTuple):
    """What the tree of a sentence must have for one word; 0 is the root."""

    word: int
    place: Place = Place()  # where it is written
    heads: tuple[int, ...] = ()  # it has all of these heads: there can be only one
    not_heads: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()  # its arc has all of these labels: there can be only one
    not_labels: tuple[str, ...] = ()


class MiscConstraints:
    """The constraints in the MISC column of each sentence."""

    def constraints_for(self, sentence: Sentence, labels: Sequence[str]) -> Constraints:
        notes = [
            _parse_note(word, item, sentence.place(word))
            for word, misc in enumerate(sentence.misc, 1)
            if "=" in misc
            for item in misc.split("|")
            if _NOTE.fullmatch(item)
        ]
        return to_constraints(notes, len(sentence), labels)


class HeadConstraints:
    """The heads that each sentence has, with their labels where there are any. Words without one (``_``) are free."""

    def constraints_for(self, sentence: Sentence, labels: Sequence[str]) -> Constraints:
        given = [
            WordConstraint(word, sentence.place(word), (int(head),), labels=() if label == "_" else (label,))
            for word, (head, label) in enumerate(zip(sentence.head, sentence.deprel, strict=True), 1)
            if head != "_"
        ]
        return to_constraints(given, len(sentence), labels)


class ConstraintFile(NamedTuple):
    """The constraints in a file, by sent_id."""

    notes: dict[str, list[WordConstraint]]

    def constraints_for(self, sentence: Sentence, labels: Sequence[str]) -> Constraints:
        return to_constraints(self.notes.get(sentence.sent_id or "", ()), len(sentence), labels)


def read_constraints(path: str) -> ConstraintFile:
    """Read a file of constraints. Raises ``InputError`` with file and line for what cannot be understood."""
    notes: dict[str, list[WordConstraint]] = {}
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise InputError((error.strerror or "cannot be read").lower(), Place(path)) from None
    except UnicodeDecodeError:
        raise InputError("not valid UTF-8", Place(path)) from None
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 3 or not _is_number(fields[1]) or not _NOTE.fullmatch(fields[2]):
            raise InputError("not of the form SENT_ID<tab>WORD<tab>Head=3", Place(path, number))
        place = Place(path, number, fields[0])
        notes.setdefault(fields[0], []).append(_parse_note(int(fields[1]), fields[2], place))
    return ConstraintFile(notes)


def _parse_note(word: int, note: str, place: Place) -> WordConstraint:
    """``NotHead=5,6`` of a word."""
    match = _NOTE.fullmatch(note)
    assert match is not None
    kind, values = match[1], tuple(match[2].split(","))
    if kind == "Rel":
        return WordConstraint(word, place, labels=values)
    if kind == "NotRel":
        return WordConstraint(word, place, not_labels=values)
    wrong = next((value for value in values if not _is_number(value)), None)
    if wrong is not None:
        raise InputError(f"{note}: {wrong} cannot be the head of word {word}", place)
    heads = tuple(map(int, values))
    return WordConstraint(word, place, heads) if kind == "Head" else WordConstraint(word, place, not_heads=heads)


def to_constraints(notes: Iterable[WordConstraint], n: int, labels: Sequence[str]) -> Constraints:
    """What these constraints on words mean for a sentence of n words, by a model with these labels.

    Raises ``InputError`` for words that are not there, labels that the model does not know, two heads of a word.
    """
    required, forbidden = set(), set()
    required_labels: dict[int, int] = {}
    forbidden_labels = set()
    for note in notes:
        word, place = note.word, note.place
        if not 1 <= word <= n:
            raise InputError(f"a constraint on word {word}: the sentence has {n}", place)
        for head in (*note.heads, *note.not_heads):
            if not 0 <= head <= n or head == word:
                raise InputError(f"{head} cannot be the head of word {word} in a sentence of {n}", place)
        numbers = {name: _number(name, labels, place) for name in (*note.labels, *note.not_labels)}
        if len(note.heads) > 1 or len(note.labels) > 1:
            raise InputError(f"word {word} can have only one head and one label", place)
        required |= {(head, word) for head in note.heads}
        forbidden |= {(head, word) for head in note.not_heads}
        if note.labels:
            required_labels[word] = numbers[note.labels[0]]
        forbidden_labels |= {(word, numbers[name]) for name in note.not_labels}
    return Constraints(frozenset(required), frozenset(forbidden), required_labels, frozenset(forbidden_labels))


def _number(label: str, labels: Sequence[str], place: Place) -> int:
    if label not in labels:
        raise InputError(f"the model has no label {label!r}", place)
    return labels.index(label)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10
