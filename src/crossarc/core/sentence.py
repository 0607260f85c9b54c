"""A sentence as the columns of its treebank file: lists of strings, as read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import attrgetter
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core.conversions import Conversions
from crossarc.core.errors import Place
from crossarc.core.lookup import Wanted, nodes_where
from crossarc.core.row import Insert, Row
from crossarc.core.word import Word

__all__ = ["Sentence"]

Column = tuple[str, ...]


_COLUMNS = {name: i for i, name in enumerate(Row._fields[1:])}
_SHOWN = ("form", "lemma", "upos", "head", "deprel")  # by str(sentence), where there is something in them
_EXCERPT = 40  # characters that repr(sentence) shows of the text
_SHORT = 300  # words of a sentence


@dataclass(frozen=True, slots=True, repr=False)
class Sentence(Conversions):
    """The words 1..n of a sentence, column by column, and everything else its file says about it.

    ``form[0]`` is the form of word 1: columns have length n, whereas arrays over nodes (``heads``) have length
    n+1 because node 0 is the root. ``_`` stands for an unknown value, as in CoNLL-U. Sentences are never changed;
    ``with_tree`` makes a new one.

    >>> s = Sentence.of(["John", "saw", "Mary"]).with_tree([-1, 2, 0, 2], ["_", "subj", "root", "obj"])
    >>> s.heads
    array([-1,  2,  0,  2])
    >>> s[3].deprel
    'obj'
    >>> s
    <Sentence of 3 words: 'John saw Mary'>
    >>> print(s)
    1  John  2  subj
    2  saw   0  root
    3  Mary  2  obj
    """

    columns: tuple[Column, ...]  # FORM to MISC, in the order of the file
    comments: tuple[str, ...] = ()
    inserts: tuple[Insert, ...] = ()
    path: str = "<memory>"
    line: int = 0
    # The text it was read from, for writing it again; whatever is derived from this sentence starts without.
    source: str | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def form(self) -> Column:
        return self.columns[0]

    @property
    def lemma(self) -> Column:
        return self.columns[1]

    @property
    def upos(self) -> Column:
        return self.columns[2]

    @property
    def xpos(self) -> Column:
        return self.columns[3]

    @property
    def feats(self) -> Column:
        return self.columns[4]

    @property
    def head(self) -> Column:
        return self.columns[5]

    @property
    def deprel(self) -> Column:
        return self.columns[6]

    @property
    def deps(self) -> Column:
        return self.columns[7]

    @property
    def misc(self) -> Column:
        return self.columns[8]

    @classmethod
    def of(cls, form: Sequence[str], **columns: Sequence[str]) -> Sentence:
        """A sentence from its words and any other columns; those not given are ``_``."""
        return cls((tuple(form), *[("_",) * len(form)] * 8)).with_columns(**columns)

    def with_columns(self, **columns: Sequence[str]) -> Sentence:
        """The same sentence with other columns: ``upos=``, ``head=`` ..."""
        changed = list(self.columns)
        for name, column in columns.items():
            if name not in _COLUMNS:
                raise TypeError(f"unknown column: {name}")
            if len(column) != len(self):
                raise ValueError(f"{name} has {len(column)} entries for {len(self)} words")
            changed[_COLUMNS[name]] = tuple(column)
        return replace(self, columns=tuple(changed))

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, word: int) -> Word:
        """The view of word 1..n."""
        if not 1 <= word <= len(self):
            raise IndexError(f"word {word} of {len(self)}")
        return Word(self, word)

    def __iter__(self) -> Iterator[Word]:
        return (Word(self, word) for word in range(1, len(self) + 1))

    @property
    def roots(self) -> list[Word]:
        """The words whose head is node 0."""
        return [Word(self, word) for word in self.children[0]]

    @property
    def root(self) -> Word:
        """The word whose head is node 0, the first of several. Raises ``ValueError`` if there is none."""
        if not self.roots:
            raise ValueError(f"{self.place()}: no word is the root")
        return self.roots[0]

    @property
    def children(self) -> list[list[int]]:
        """The numbers of the words whose head is each node; the root is node 0."""
        children: list[list[int]] = [[] for _ in range(len(self) + 1)]
        for word, head in enumerate(self.heads[1:].tolist(), 1):
            if head >= 0:
                children[head].append(word)
        return children

    def find(self, **conditions: Wanted) -> list[Word]:
        """The words that fulfil all conditions.

        A condition names a column, or ``feats__NAME`` and ``misc__NAME``, what these columns say of NAME. ``head__``
        before it asks it of the word's head, ``child__`` of any of its children. What is wanted is a string, several,
        or a function.

        >>> s = Sentence.of(["She", "saw", "it"], upos=["PRON", "VERB", "PRON"], feats=["Case=Nom", "_", "Case=Acc"])
        >>> s = s.with_tree([-1, 2, 0, 2], ["_", "nsubj", "root", "obj"])
        >>> s.find(deprel="nsubj", head__upos="VERB")
        [<Word 1: 'She'>]
        >>> s.find(feats__Case={"Nom", "Acc"}, form=str.islower)
        [<Word 3: 'it'>]
        >>> s.find(child__deprel="obj")
        [<Word 2: 'saw'>]
        """
        found = np.arange(len(self) + 1) > 0
        for condition, wanted in conditions.items():
            found &= nodes_where(self, condition, wanted)
        return [Word(self, word) for word in np.flatnonzero(found).tolist()]

    @property
    def heads(self) -> NDArray[np.int64]:
        """``heads[m]`` is the head of word m, -1 where it is unknown (``_``); ``heads[0] == -1``."""
        return np.array([-1, *[-1 if head == "_" else int(head) for head in self.head]], dtype=np.int64)

    def with_tree(self, heads: ArrayLike, labels: Sequence[str] | None = None) -> Sentence:
        """The same sentence with other heads (length n+1, as ``heads``) and labels (length n+1; entry 0 is ignored)."""
        head = np.asarray(heads)
        if head.shape != (len(self) + 1,):
            raise ValueError(f"{head.shape} heads for {len(self)} words: there must be n+1")
        if labels is not None and len(labels) != len(self) + 1:
            raise ValueError(f"{len(labels)} labels for {len(self)} words: there must be n+1")
        return self.with_columns(
            head=["_" if h < 0 else str(h) for h in head[1:].tolist()],
            deprel=self.deprel if labels is None else labels[1:],
        )

    def metadata(self, key: str) -> str | None:
        """The value of the comment ``# key = value``; None if there is none."""
        for comment in self.comments:
            name, equals, value = comment[1:].partition("=")
            if equals and name.strip() == key:
                return value.strip()
        return None

    @property
    def sent_id(self) -> str | None:
        return self.metadata("sent_id")

    @property
    def text(self) -> str:
        """The text: what the comment ``# text = ...`` says, or else the tokens with the spaces that MISC tells."""
        said = self.metadata("text")
        if said is not None:
            return said
        return "".join(form + " " * ("SpaceAfter=No" not in misc.split("|")) for form, misc in self._tokens()).rstrip()

    def _tokens(self) -> Iterator[tuple[str, str]]:
        """FORM and MISC of each token: a word, or the multiword token that has it."""
        multiword = {insert.span[0]: insert for insert in self.inserts if not insert.is_empty_node}
        end = 0  # of the last multiword token
        for word, (form, misc) in enumerate(zip(self.form, self.misc, strict=True), 1):
            if word in multiword:
                end = multiword[word].span[-1]
                yield multiword[word].row.form, multiword[word].row.misc
            elif word > end:
                yield form, misc

    def to_conllu(self) -> str:
        """The lines of the sentence in CoNLL-U, and the blank line after them; as they were read if it was read.

        >>> print(Sentence.of(["Yes"], upos=["INTJ"]).to_conllu(), end="")
        1   Yes _   INTJ    _   _   _   _   _   _
        <BLANKLINE>
        """
        if self.source is not None:
            return self.source + "\n\n"
        rows = list(map("\t".join, zip(word_ids(len(self)), *self.columns, strict=True)))
        lines: list[str] = []
        done = 0  # words
        for insert in self.inserts:
            lines += [*rows[done : insert.after], "\t".join(insert.row)]
            done = insert.after
        return "\n".join([*self.comments, *lines, *rows[done:], "", ""])

    def __repr__(self) -> str:
        name = f" {self.sent_id}" if self.sent_id else ""
        text = self.text
        excerpt = text if len(text) <= _EXCERPT else f"{text[: _EXCERPT - 1]}…"
        return f"<Sentence{name} of {len(self)} {'word' if len(self) == 1 else 'words'}: {excerpt!r}>"

    def __str__(self) -> str:
        """A line for each word: its number, and of form, lemma, UPOS, head and label those that are known."""
        known = [getattr(self, name) for name in _SHOWN]
        columns = [word_ids(len(self)), *(column for column in known if set(column) != {"_"})]
        widths = [max(map(len, column), default=0) for column in columns]
        rows = (zip(row, widths, strict=True) for row in zip(*columns, strict=True))
        return "\n".join("  ".join(cell.ljust(width) for cell, width in row).rstrip() for row in rows)

    def place(self, word: int | None = None) -> Place:
        """Where the sentence, or one of its words, is in its file."""
        line = self.line
        if word is not None and line:
            before = bisect_left(self.inserts, word, key=attrgetter("after"))
            line += len(self.comments) + word - 1 + before
        return Place(self.path, line, self.sent_id)


Result = TypeVar("Result")


def cached_if_short(function: Callable[[int], Result]) -> Callable[[int], Result]:
    """Remember what a function of the length of sentences gives, but not for long ones: that would be much memory."""
    remembered = lru_cache(maxsize=_SHORT)(function)
    return lambda n: remembered(n) if n < _SHORT else function(n)


@cached_if_short
def word_ids(n: int) -> tuple[str, ...]:
    """('1', '2', ..., 'n')"""
    return tuple(map(str, range(1, n + 1)))
