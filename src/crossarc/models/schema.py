"""What may be in the header and the word lists of a model: kinds of JSON values, checked before anything is made of
them.

A model file may come from anybody, and kernels check nothing. So each component says what its header looks like, as
kinds, and ``models.component_of`` lets nothing else in. A kind checks many values at once: a lexicon has tens of
thousands, and is checked by a few loops that run in C.

>>> Record({"labels": ListOf(Text(), least=1)}).check([{"labels": ["nsubj", 7]}], "the header")
Traceback (most recent call last):
crossarc.models.errors.ModelError: the header: labels has 7, not a text
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from reprlib import Repr
from typing import Any, NoReturn, Protocol

from crossarc.models.errors import ModelError

__all__ = [
    "FEATURE_SET",
    "MOST",
    "Anything",
    "Flag",
    "Kind",
    "ListOf",
    "MapOf",
    "Maybe",
    "Number",
    "OneOf",
    "Record",
    "Row",
    "Text",
    "Whole",
    "check_depth",
    "refuse",
]

MOST = 1 << 24  # entries of a list; nobody has more words
_DEEPEST = 16  # how far values may be in one another
# control characters would break the lines of a treebank, or a terminal; half a surrogate pair cannot be written
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_CONTROL_BUT_LINES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 40


class Kind(Protocol):
    """What values may be."""

    def check(self, values: Collection[Any], where: str) -> None:
        """``ModelError`` for a value that is of another kind; it names where the values are."""


def refuse(where: str, value: object, wanted: str) -> NoReturn:
    raise ModelError(f"{where} has {_SHORT.repr(value)}, not {wanted}")


def _check_types(values: Iterable[Any], types: set[type], where: str, wanted: str) -> None:
    if not set(map(type, values)) <= types:
        refuse(where, next(value for value in values if type(value) not in types), wanted)


def _check_lengths(values: Collection[Any], least: int, most: int, where: str, what: str) -> None:
    for length in set(map(len, values)):  # few are different
        if not least <= length <= most:
            raise ModelError(f"{where} has {length} {what}, not {least} to {most}")


@dataclass(frozen=True)
class Text:
    """A text without control characters; with ``lines``, of several lines."""

    longest: int = 4096
    least: int = 0
    lines: bool = False
    pattern: str = ""  # what all of it must match
    any_character: bool = False  # it is only compared with other texts, never written

    def check(self, values: Collection[Any], where: str) -> None:
        _check_types(values, {str}, where, "a text")
        distinct = set(values)
        _check_lengths(distinct, self.least, self.longest, where, "characters")
        control = _CONTROL_BUT_LINES if self.lines else _CONTROL
        # scripts of lemmas have tabs between their fields: a pattern says where these may be
        checks_characters = not (self.pattern or self.any_character)
        if checks_characters and control.search("\ufffe".join(distinct)):
            refuse(where, next(filter(control.search, distinct)), "a text without control characters")
        if self.pattern:
            pattern = re.compile(self.pattern)
            for value in distinct:
                if not pattern.fullmatch(value):
                    refuse(where, value, f"a text such as {self.pattern}")


FEATURE_SET = Text(1 << 20, lines=True)  # as it is written in its file


@dataclass(frozen=True)
class Whole:
    """A whole number."""

    low: int = 0
    high: int = MOST

    def check(self, values: Collection[Any], where: str) -> None:
        _check_types(values, {int}, where, "a whole number")
        for value in (min(values, default=self.low), max(values, default=self.high)):
            if not self.low <= value <= self.high:
                refuse(where, value, f"a number from {self.low} to {self.high}")


@dataclass(frozen=True)
class Number:
    """A number, never NaN; infinity if the bounds leave it."""

    low: float = -1e30
    high: float = 1e30

    def check(self, values: Collection[Any], where: str) -> None:
        _check_types(values, {int, float}, where, "a number")
        for value in values:
            if not self.low <= value <= self.high:
                refuse(where, value, f"a number from {self.low:g} to {self.high:g}")


@dataclass(frozen=True)
class Flag:
    """True or false."""

    def check(self, values: Collection[Any], where: str) -> None:
        _check_types(values, {bool}, where, "true or false")


@dataclass(frozen=True)
class OneOf:
    """One of some texts."""

    choices: tuple[str, ...]

    def check(self, values: Collection[Any], where: str) -> None:
        for value in values:
            if type(value) is not str or value not in self.choices:
                refuse(where, value, f"one of {', '.join(self.choices)}")


@dataclass(frozen=True)
class Anything:
    """Whatever JSON can say; nothing depends on it."""

    def check(self, values: Collection[Any], where: str) -> None:
        pass


@dataclass(frozen=True)
class Maybe:
    """A value of some kind, or null."""

    kind: Kind

    def check(self, values: Collection[Any], where: str) -> None:
        self.kind.check([value for value in values if value is not None], where)


@dataclass(frozen=True)
class ListOf:
    """A list of values of the same kind."""

    kind: Kind
    least: int = 0
    most: int = MOST

    def check(self, values: Collection[Any], where: str) -> None:
        _check_types(values, {list}, where, "a list")
        _check_lengths(values, self.least, self.most, where, "entries")
        self.kind.check(list(chain.from_iterable(values)), where)


@dataclass(frozen=True)
class Row:
    """A list that has a value of each of these kinds."""

    kinds: Sequence[Kind]

    def check(self, values: Collection[Any], where: str) -> None:
        _check_types(values, {list}, where, "a list")
        _check_lengths(values, len(self.kinds), len(self.kinds), where, "entries")
        for i, kind in enumerate(self.kinds):
            kind.check(list(map(itemgetter(i), values)), where)


@dataclass(frozen=True)
class MapOf:
    """An object whose values are of the same kind; ``keys`` says what its keys may be."""

    kind: Kind
    keys: Kind = Anything()
    most: int = MOST

    def check(self, values: Collection[Any], where: str) -> None:
        _check_types(values, {dict}, where, "an object")
        _check_lengths(values, 0, self.most, where, "entries")
        self.keys.check(list(chain.from_iterable(values)), where)
        self.kind.check(list(chain.from_iterable(value.values() for value in values)), where)


@dataclass(frozen=True)
class Record:
    """An object with these fields; it may have others, which nobody reads."""

    fields: Mapping[str, Kind]
    optional: Collection[str] = ()

    def check(self, values: Collection[Any], where: str) -> None:
        _check_types(values, {dict}, where, "an object")
        for name, kind in self.fields.items():
            own = [value[name] for value in values if name in value]
            if len(own) < len(values) and name not in self.optional:
                raise ModelError(f"{where} has no {name}")
            kind.check(own, f"{where}: {name}")


def check_depth(value: Any, where: str) -> None:
    """Refuse values in values in values: whoever goes through them would run out of stack."""
    layer = [value]
    for _ in range(_DEEPEST):
        inner = chain.from_iterable(own.values() if isinstance(own, dict) else own for own in layer)
        layer = [own for own in inner if isinstance(own, dict | list)]
        if not layer:
            return
    raise ModelError(f"{where} has values that are more than {_DEEPEST} deep")
