"""Constraints that a person writes down for single words: ``Head=3``, ``NotHead=5``, ``Rel=nsubj``, ``NotRel=obj``.

They stand in MISC, beside anything else, or in a file of lines ``SENTENCE<tab>WORD<tab>Head=3``, where SENTENCE is a
sent_id. Several values are separated by commas: ``NotHead=5,6``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from crossarc.core import Constraints, InputError, Place, Sentence

__all__ = ["Wishes", "constraints_of", "constraints_of_wishes", "read_wishes"]

Wishes = dict[str, list[tuple[int, str, Place]]]  # sent_id -> word, what is wished for it, where that is written

_WISH = re.compile(r"(Head|NotHead|Rel|NotRel)=(.+)")


def read_wishes(path: str) -> Wishes:
    """Read a file of constraints. Raises ``InputError`` with file and line for what cannot be understood."""
    wishes: Wishes = {}
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError((error.strerror or "cannot be read").lower(), Place(path)) from None
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 3 or not fields[1].isdecimal() or not _WISH.fullmatch(fields[2]):
            raise InputError("not of the form SENT_ID<tab>WORD<tab>Head=3", Place(path, number))
        wishes.setdefault(fields[0], []).append((int(fields[1]), fields[2], Place(path, number, fields[0])))
    return wishes


def constraints_of(sentence: Sentence, labels: Sequence[str], wishes: Wishes | None) -> Constraints:
    """What is wished for a sentence: in the file, or in MISC if there is none."""
    if wishes is not None:
        return constraints_of_wishes(wishes.get(sentence.sent_id or "", ()), len(sentence), labels)
    in_misc = [
        (word, item, sentence.place(word))
        for word, misc in enumerate(sentence.misc, 1)
        if "=" in misc
        for item in misc.split("|")
        if _WISH.fullmatch(item)
    ]
    return constraints_of_wishes(in_misc, len(sentence), labels)


def constraints_of_wishes(wishes: Iterable[tuple[int, str, Place]], n: int, labels: Sequence[str]) -> Constraints:
    """What these wishes, each for a word and from some place, mean for a sentence of n words."""
    required, forbidden = set(), set()
    required_labels, forbidden_labels = {}, set()
    for word, wish, place in wishes:
        match = _WISH.fullmatch(wish)
        assert match is not None
        if not 1 <= word <= n:
            raise InputError(f"{wish}: there is no word {word} in a sentence of {n}", place)
        kind, values = match[1], match[2].split(",")
        if kind in ("Head", "Rel") and len(values) > 1:
            raise InputError(f"{wish}: word {word} can have only one", place)
        for value in values:
            if kind == "Head":
                required.add((_head(value, word, n, wish, place), word))
            elif kind == "NotHead":
                forbidden.add((_head(value, word, n, wish, place), word))
            elif value not in labels:
                raise InputError(f"{wish}: the model has no label {value!r}", place)
            elif kind == "Rel":
                required_labels[word] = labels.index(value)
            else:
                forbidden_labels.add((word, labels.index(value)))
    return Constraints(frozenset(required), frozenset(forbidden), required_labels, frozenset(forbidden_labels))


def _head(value: str, word: int, n: int, wish: str, place: Place) -> int:
    if not value.isdecimal() or int(value) > n or int(value) == word:
        raise InputError(f"{wish}: {value} cannot be the head of word {word} in a sentence of {n}", place)
    return int(value)
