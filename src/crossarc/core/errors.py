"""Everything Crossarc raises on purpose.

A command-line user sees one line of any of these and exit code 2, never a stack trace.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "CrossarcError",
    "EmptyInput",
    "InputError",
    "InputWarning",
    "MissingLibrary",
    "ModelWarning",
    "NoTreeError",
    "Place",
    "UnsupportedConstraint",
]


class CrossarcError(Exception):
    """The base class of all our errors."""


class NoTreeError(CrossarcError, ValueError):
    """No tree satisfies the scores (``-inf`` forbids an arc) and the constraints."""


class UnsupportedConstraint(CrossarcError, ValueError):
    """A decoder was given a constraint that it cannot honour."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the input something is: file, line (counted from 1) and sentence."""

    path: str = "<unknown>"
    line: int = 0
    sent_id: str | None = None

    def __str__(self) -> str:
        line = f":{self.line}" if self.line else ""
        sentence = f": sentence {self.sent_id}" if self.sent_id else ""
        return f"{self.path}{line}{sentence}"


class InputError(CrossarcError, ValueError):
    """The input breaks its format.

    >>> raise InputError("9 columns instead of 10", Place("my.conllu", 12, "s1"))
    Traceback (most recent call last):
    ...
    crossarc.core.errors.InputError: my.conllu:12: sentence s1: 9 columns instead of 10
    """

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(message, place)
        self.message = message
        self.place = place

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class EmptyInput(InputError):
    """There is nothing in the input."""


class MissingLibrary(CrossarcError):
    """Something needs a library that comes with an extra of ours.

    >>> raise MissingLibrary("n-gram models need NLTK", "lm")
    Traceback (most recent call last):
    ...
    crossarc.core.errors.MissingLibrary: n-gram models need NLTK: pip install '.[lm]' in a clone of Crossarc
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what}: pip install '.[{extra}]' in a clone of Crossarc")


class InputWarning(UserWarning):
    """The input is not quite in its format; nothing is lost by reading it."""


class ModelWarning(UserWarning):
    """An installed package says that it has a model, but that model cannot be loaded by its name."""
