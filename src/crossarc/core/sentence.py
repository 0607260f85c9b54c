"""A sentence as the columns of its treebank file: lists of strings, as read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core.errors import Place

__all__ = ["Insert", "Sentence", "Word"]

Column = tuple[str, ...]


class Word(NamedTuple):
    """A view of one word (or of a multiword token or empty node): the ten columns of CoNLL-U."""

    id: str
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: str
    deprel: str
    deps: str
    misc: str


_COLUMNS = {name: i for i, name in enumerate(Word._fields[1:])}
_SHOWN = ("form", "lemma", "upos", "head", "deprel")  # by str(sentence), where there is something in them
_EXCERPT = 40  # characters that repr(sentence) shows of the text


class Insert(NamedTuple):
    """A line that is not a word: a multiword token (``3-4``) or an empty node (``3.1``)."""

    after: int  # how many words stand before it
    row: Word

    @property
    def is_empty_node(self) -> bool:
        return "." in self.row.id

    @property
    def span(self) -> range:
        """The words that a multiword token covers."""
        first, _, last = self.row.id.partition("-")
        return range(int(first), int(last) + 1)


@dataclass(frozen=True, slots=True, repr=False)
class Sentence:
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
        return Word(str(word), *(column[word - 1] for column in self.columns))

    def __iter__(self) -> Iterator[Word]:
        return (self[word] for word in range(1, len(self) + 1))

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
        for insert in reversed(self.inserts):
            rows.insert(insert.after, "\t".join(insert.row))
        return "\n".join([*self.comments, *rows, "", ""])

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
            line += len(self.comments) + word - 1 + sum(insert.after < word for insert in self.inserts)
        return Place(self.path, line, self.sent_id)


@cache
def word_ids(n: int) -> tuple[str, ...]:
    """('1', '2', ..., 'n')"""
    return tuple(map(str, range(1, n + 1)))
