"""Words as rows of tables of embeddings: one table for each group of attributes, whose embeddings are added up.

A word is known by its form and lemma, by its affixes and its shape, and by its tags. Values that are rare in the
treebank have no embedding of their own: they share that of an unknown value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.features.word_table import WordTable
from crossarc.scorers.neural.wordpieces import WordPieces

__all__ = ["AVERAGED", "GROUPS", "NOTHING", "Inputs", "Vocabulary"]

# The attributes of each group; a word has one value of each, but several affixes and features
GROUPS: dict[str, tuple[str, ...]] = {
    "word": ("form", "lower", "lemma"),
    "affix": ("prefix", "suffix", "shape"),
    "tag": ("upos", "xpos", "feature"),
    "piece": ("cased_piece", "uncased_piece"),  # those of an encoder: one of the two has values
}
AVERAGED = frozenset(["piece"])  # groups whose embeddings are not added up: their mean is what counts
NOTHING, ROOT, FIRST = 0, 1, 2  # rows of every table: of no value, of node 0, the first of the others

_PREFIXES, _SUFFIXES = 4, 6  # their longest
_MAX_FEATURES = 10
_MAX_PIECES = 8
_WIDTHS = {"word": 3, "affix": _PREFIXES + _SUFFIXES + 1, "tag": 2 + _MAX_FEATURES, "piece": _MAX_PIECES}
_LEAST = {"form": 2, "lower": 2, "lemma": 2, "prefix": 3, "suffix": 3}  # how often a value must occur to be known

Row = tuple[str, str, str, str, str]  # FORM to FEATS of a word
Values = tuple[tuple[str, str], ...]  # attributes and their values


class Inputs(NamedTuple):
    """The nodes of several sentences, one after the other; sentence b has ``starts[b]`` to ``starts[b + 1]``."""

    rows: dict[str, NDArray[np.int32]]  # of each group, [w, k]: the rows of its table that belong to word w
    words: NDArray[np.int64]  # which word each node is: words that occur several times are looked up once
    starts: NDArray[np.int64]


class Vocabulary:
    """The known values of attributes, and where their embeddings are.

    >>> sentences = [Sentence.of(["a", "dog", "a", "cat"])]
    >>> vocabulary = Vocabulary.of(sentences, ["word"])
    >>> vocabulary.sizes
    {'word': 6}
    >>> inputs = vocabulary.inputs(sentences)
    >>> inputs.words.tolist(), inputs.rows["word"][:, 0].tolist()
    ([0, 1, 2, 1, 3], [1, 3, 2, 2])
    """

    def __init__(self, values: Mapping[str, Sequence[str]]) -> None:
        self.values = {attribute: tuple(own) for attribute, own in values.items()}
        self._piece = next((attribute for attribute in GROUPS["piece"] if attribute in self.values), None)
        if self._piece is not None:
            self._pieces = WordPieces(self.values[self._piece], lowercase=self._piece == "uncased_piece")
        self.groups = [group for group, attributes in GROUPS.items() if set(attributes) & values.keys()]
        self.unknown: dict[str, int] = {}  # the row of an unknown value of each attribute
        self.sizes: dict[str, int] = {}  # of each table
        self._rows: dict[tuple[str, str], int] = {}
        for group in self.groups:
            size = FIRST
            for attribute in GROUPS[group]:
                if attribute in self.values:
                    self.unknown[attribute] = size
                    known = self.values[attribute]
                    self._rows |= {(attribute, value): row for row, value in enumerate(known, size + 1)}
                    size += 1 + len(known)
            self.sizes[group] = size
        root = tuple(self._padded([ROOT], group) for group in self.groups)
        self._table: WordTable[Row] = WordTable(self._describe, [root])

    @classmethod
    def of(
        cls,
        sentences: Iterable[Sentence],
        groups: Sequence[str],
        *,
        lemmas: bool = False,
        pieces: WordPieces | None = None,
    ) -> Vocabulary:
        """Of a treebank: what occurs often enough in it, and all pieces of words of an encoder, if there is one."""
        counts = {
            attribute: Counter[str]()
            for group in groups
            for attribute in GROUPS[group]
            if lemmas or attribute != "lemma"
        }
        for sentence in sentences:
            for word in zip(*sentence.columns[:5], strict=True):
                for group in groups:
                    for attribute, value in _values(group, word):
                        if attribute in counts:
                            counts[attribute][value] += 1
        values: dict[str, Sequence[str]] = {
            attribute: sorted(value for value, n in own.items() if n >= _LEAST.get(attribute, 1))
            for attribute, own in counts.items()
        }
        if pieces is not None:
            values["uncased_piece" if pieces.lowercase else "cased_piece"] = pieces.pieces
        return cls(values)

    def inputs(self, sentences: Sequence[Sentence]) -> Inputs:
        """The rows of all nodes of these sentences."""
        words = (zip(*sentence.columns[:5], strict=True) for sentence in sentences)
        rows, arrays = self._table.rows(words, before=[0])
        starts = np.zeros(len(sentences) + 1, dtype=np.int64)
        np.cumsum([len(sentence) + 1 for sentence in sentences], out=starts[1:])
        # in the order of the text: that of the table depends on what was read before, and rounding on the order
        _, first, which = np.unique(rows, return_index=True, return_inverse=True)
        order = np.argsort(first)
        distinct = rows[first[order]]
        return Inputs(
            {group: own[distinct] for group, own in zip(self.groups, arrays, strict=True)},
            np.argsort(order)[which],
            starts,
        )

    def _describe(self, word: Row) -> tuple[NDArray[np.int32], ...]:
        return tuple(
            self._padded(
                [
                    self._rows.get((attribute, value), self.unknown[attribute])
                    for attribute, value in self._values(group, word)
                    if attribute in self.values
                ],
                group,
            )
            for group in self.groups
        )

    def _values(self, group: str, word: Row) -> Iterator[tuple[str, str]]:
        if group != "piece" or self._piece is None:
            return _values(group, word)
        return ((self._piece, self._pieces.pieces[i]) for i in self._pieces.cut(word[0])[:_MAX_PIECES])

    def _padded(self, rows: list[int], group: str) -> NDArray[np.int32]:
        return np.array(rows + [NOTHING] * (_WIDTHS[group] - len(rows)), dtype=np.int32)


def _values(group: str, word: Row) -> Iterator[tuple[str, str]]:
    """The values of the attributes of a group; never more than the table of the group has columns."""
    form, lemma, upos, xpos, feats = word
    lower = form.lower()
    if group == "word":
        yield "form", form
        yield "lower", lower
        yield "lemma", lemma
    elif group == "affix":
        yield from (("prefix", lower[:length]) for length in range(1, min(_PREFIXES, len(lower)) + 1))
        yield from (("suffix", lower[-length:]) for length in range(1, min(_SUFFIXES, len(lower)) + 1))
        yield "shape", _shape(form)
    else:
        yield "upos", upos
        yield "xpos", xpos
        if feats != "_":
            yield from (("feature", feature) for feature in feats.split("|")[:_MAX_FEATURES])


def _shape(form: str) -> str:
    """The kinds of its characters, without repetitions: ``Xx`` for *Hearing*, ``X-d`` for *F-16*."""
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in form[:20])
    shape = ""
    for kind in kinds:
        if not shape.endswith(kind):
            shape += kind
    return shape
