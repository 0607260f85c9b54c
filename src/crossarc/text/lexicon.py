"""Which classes words may have, and what else is known of a word by its form alone."""

from __future__ import annotations

import re
import threading
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from crossarc.features.attributes import hash_attributes
from crossarc.features.word_table import WordTable
from crossarc.text.classifier import Choices, Items, look_up

__all__ = ["ATTRIBUTES", "RUNS", "Lexicon", "collect", "shape_of"]

# "may" is the ambiguity class of a word: the names of the likeliest classes that it may have
ATTRIBUTES = (
    "form", "lower", "p1", "p2", "p3", "p4", "s1", "s2", "s3", "s4", "s5", "shape", "kind", "may",
)  # fmt: skip

_OFTEN = 20  # from so many occurrences on, a word has had all its classes
_RARE = 5  # words up to this count tell what unknown words are
_FEWEST = 10  # words with a suffix that are enough to guess by it
_MAX_GUESSES = 40  # classes that are guessed

_UNKNOWN = "<unknown>"


def collect(forms: Iterable[str], gold: Iterable[int], names: Sequence[str]) -> Lexicon:
    """The lexicon of words with their classes; ``names`` are those of the classes, alike if they are alike."""
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for form, chosen in zip(forms, gold, strict=True):
        counts[form][chosen] += 1
    endings: dict[str, Counter[int]] = defaultdict(Counter)
    for form, seen in counts.items():
        if seen.total() <= _RARE:
            for key in _endings(form):
                endings[key].update(seen.keys())
    if not endings:
        endings[""].update(chosen for seen in counts.values() for chosen in seen)
    guesses = {key: _ranked(seen)[:_MAX_GUESSES] for key, seen in endings.items() if seen.total() >= _FEWEST or not key}
    words = {form: (_ranked(seen), seen.total() >= _OFTEN) for form, seen in counts.items()}
    return Lexicon(words, guesses, names)


class Lexicon:
    """Words with the classes they have been seen with, and guesses for others."""

    def __init__(
        self, words: dict[str, tuple[list[int], bool]], guesses: dict[str, list[int]], names: Sequence[str]
    ) -> None:
        self.words = words  # by form: the classes, most frequent first, and whether these are all
        self.guesses = guesses  # by ending, see ``_endings``
        self.names = names
        self._lock = threading.Lock()
        self._table = WordTable(
            self._describe, [(hash_attributes(ATTRIBUTES, ["<outside>"] * len(ATTRIBUTES)), np.array(-1))]
        )
        self._lists: dict[tuple[int, ...], int] = {}  # the numbers of all lists of classes that words have
        self._classes, self._bounds = array("q"), array("q", [0])  # of these, one after the other

    def items(self, sentences: Sequence[Sequence[str]]) -> tuple[Items, Choices]:
        """The words of sentences, given by their forms."""
        with self._lock:
            items, (lists,) = look_up(self._table, sentences)
            return items, Choices(lists, np.array(self._classes), np.array(self._bounds))

    def _describe(self, form: str) -> tuple[NDArray[np.uint64], int]:
        """The attributes of a word, and the number of its list of classes.

        Of a word that is not known, its form says nothing that could have been learnt.
        """
        classes = self.classes_of(form)
        lower, kind, known = form.lower(), _kind(form), form in self.words
        ambiguity_class = "|".join(dict.fromkeys(self.names[chosen] for chosen in classes[:4]))
        values = (
            form if known else _UNKNOWN,
            lower if known or lower in self.words else _UNKNOWN,
            *(lower[:n] for n in (1, 2, 3, 4)),
            *(lower[-n:] for n in (1, 2, 3, 4, 5)),
            shape_of(form),
            kind,
            ambiguity_class if known else f"?{kind}",
        )
        return hash_attributes(ATTRIBUTES, values), self._number(tuple(classes))

    def _number(self, classes: tuple[int, ...]) -> int:
        number = self._lists.setdefault(classes, len(self._lists))
        if number == len(self._bounds) - 1:
            self._classes.extend(classes)
            self._bounds.append(len(self._classes))
        return number

    def classes_of(self, form: str) -> list[int]:
        """What a word may be, likelier classes first."""
        seen, complete = self.words.get(form) or (self.words.get(form.lower(), ([], False))[0], False)
        if complete:
            return seen
        guessed = next(self.guesses[key] for key in _endings(form) if key in self.guesses)
        return list(dict.fromkeys([*seen, *guessed]))


def _ranked(seen: Counter[int]) -> list[int]:
    return [chosen for chosen, _ in sorted(seen.items(), key=lambda item: (-item[1], item[0]))]


def _endings(form: str) -> list[str]:
    """What an unknown word is guessed by, best first."""
    kind, lower = _kind(form), form.lower()
    return [*(f"{kind}{lower[-n:]}" for n in (4, 3, 2, 1)), kind, ""]


def _kind(form: str) -> str:
    """Digit, upper case, capital, lower case, hyphenated, or something else."""
    if any(map(str.isdigit, form)):
        return "0"
    if form[:1].isupper():
        return "X" if len(form) > 1 and form.isupper() else "A"
    if form[:1].isalpha():
        return "-" if "-" in form else "a"
    return "."


RUNS = re.compile(r"(.)\1+")  # of the same character


def shape_of(form: str) -> str:
    """Letters as x or X, digits as 0, the rest as it is; of a run of the same, only one.

    >>> shape_of("McDonald's"), shape_of("B-52s")
    ("XxXx'x", 'X-0x')
    """
    if form.isalpha():  # most words, without looking at each letter
        if form.islower():
            return "x"
        if form[0].isupper() and form[1:].islower():
            return "Xx"
    letters = "".join("X" if c.isupper() else "x" if c.isalpha() else "0" if c.isdigit() else c for c in form)
    return RUNS.sub(r"\1", letters)
