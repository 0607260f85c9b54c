"""The alphabet of a generative model: what the words of sentences are to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence

__all__ = ["Nodes", "Symbols", "collect"]

Ints = NDArray[np.int64]

_UNKNOWN = ""
_FEWEST = 2  # a word seen less often is an unknown one


class Nodes(NamedTuple):
    """The nodes of sentences, one after the other; each sentence starts with its root."""

    symbols: Ints  # the root's is the number of symbols
    tags: Ints  # the root's is the number of tags
    positions: Ints  # the root's is 0
    starts: Ints  # of the sentences, and the end

    @property
    def sizes(self) -> list[int]:
        """The numbers of nodes of the sentences."""
        sizes: list[int] = np.diff(self.starts).tolist()
        return sizes

    def of_sentences(self, first: int, last: int) -> Nodes:
        """The nodes of some sentences, up to ``last``."""
        own = slice(self.starts[first], self.starts[last])
        starts = self.starts[first : last + 1] - self.starts[first]
        return Nodes(self.symbols[own], self.tags[own], self.positions[own], starts)


@dataclass(frozen=True)
class Symbols:
    """A symbol is a tag and a word, or one of them: ``name`` is ``upos``, ``form``, ``upos+form`` ...

    There is an unknown tag, and an unknown word for each tag: every sentence can be written with the symbols.
    """

    name: str
    tags: tuple[str, ...]
    words: tuple[tuple[int, str], ...]  # the symbols: number of a tag, word

    def __len__(self) -> int:
        return len(self.words)

    @property
    def is_complete(self) -> bool:
        """Whether every sentence can be written: no symbol has a tag that there is not, every tag an unknown word."""
        known = set(self.words)
        return (
            len(known) == len(self.words)
            and len(set(self.tags)) == len(self.tags)
            and _UNKNOWN in self.tags
            and max(tag for tag, _ in self.words) < len(self.tags)
            and all((tag, _UNKNOWN) in known for tag in range(len(self.tags)))
        )

    @cached_property
    def per_tag(self) -> Ints:
        """How many symbols have each tag."""
        return np.bincount([tag for tag, _ in self.words], minlength=len(self.tags))

    @cached_property
    def _number_of_tag(self) -> dict[str, int]:
        return {tag: i for i, tag in enumerate(self.tags)}

    @cached_property
    def _number(self) -> dict[tuple[int, str], int]:
        return {symbol: i for i, symbol in enumerate(self.words)}

    def encode(self, sentence: Sentence) -> tuple[list[int], list[int]]:
        """The numbers of the symbols and of their tags."""
        unknown_tag = self._number_of_tag[_UNKNOWN]
        tags, symbols = [], []
        for tag, word in _written(sentence, self.name):
            tags.append(self._number_of_tag.get(tag, unknown_tag))
            symbol = self._number.get((tags[-1], word))
            symbols.append(self._number[tags[-1], _UNKNOWN] if symbol is None else symbol)
        return symbols, tags

    def nodes(self, sentences: Sequence[Sentence]) -> Nodes:
        """The nodes of all sentences."""
        symbols: list[int] = []
        tags: list[int] = []
        positions: list[int] = []
        for sentence in sentences:
            in_sentence, their_tags = self.encode(sentence)
            symbols += [len(self), *in_sentence]
            tags += [len(self.tags), *their_tags]
            positions += range(len(sentence) + 1)
        starts = np.cumsum([0, *[len(sentence) + 1 for sentence in sentences]])
        return Nodes(np.array(symbols), np.array(tags), np.array(positions), starts)


def collect(name: str, sentences: Iterable[Sentence]) -> Symbols:
    """The symbols of sentences."""
    counts = Counter(symbol for sentence in sentences for symbol in _written(sentence, name))
    tags = (_UNKNOWN, *sorted({tag for tag, _ in counts} - {_UNKNOWN}))
    number = {tag: i for i, tag in enumerate(tags)}
    often = {(number[tag], word) for (tag, word), count in counts.items() if count >= _FEWEST}
    return Symbols(name, tags, tuple(sorted(often | {(i, _UNKNOWN) for i in range(len(tags))})))


def _written(sentence: Sentence, name: str) -> Iterable[tuple[str, str]]:
    """The tag and the word of each symbol of a sentence; what symbols do not have is empty."""
    names = name.split("+")
    nothing = (_UNKNOWN,) * len(sentence)
    tags = getattr(sentence, names[0]) if names[0] in ("upos", "xpos") else nothing
    words = getattr(sentence, names[-1]) if names[-1] in ("form", "lemma") else nothing
    return zip(tags, words, strict=True)
