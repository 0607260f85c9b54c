"""One word and its neighbours in the tree. A view: the sentence keeps its columns, and those are what is fast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crossarc.core.errors import InputError
from crossarc.core.row import Row

if TYPE_CHECKING:
    from crossarc.core.sentence import Sentence

__all__ = ["Word"]


@dataclass(frozen=True, slots=True, repr=False)
class Word:
    """A word of a sentence. Cycles and words without a head are no trees, but do no harm here.

    >>> from crossarc.core import Sentence
    >>> s = Sentence.of(["John", "saw", "Mary"]).with_tree([-1, 2, 0, 2], ["_", "nsubj", "root", "obj"])
    >>> john = s[1]
    >>> john.head
    <Word 2: 'saw'>
    >>> john.head.children
    [<Word 1: 'John'>, <Word 3: 'Mary'>]
    >>> john.path_to(s[3])
    [<Word 1: 'John'>, <Word 2: 'saw'>, <Word 3: 'Mary'>]
    """

    sentence: Sentence
    id: int  # 1 for the first

    @property
    def form(self) -> str:
        return self.sentence.form[self.id - 1]

    @property
    def lemma(self) -> str:
        return self.sentence.lemma[self.id - 1]

    @property
    def upos(self) -> str:
        return self.sentence.upos[self.id - 1]

    @property
    def xpos(self) -> str:
        return self.sentence.xpos[self.id - 1]

    @property
    def feats(self) -> dict[str, str]:
        """FEATS by name."""
        return items_of(self.sentence.feats[self.id - 1])

    @property
    def deprel(self) -> str:
        return self.sentence.deprel[self.id - 1]

    @property
    def deps(self) -> str:
        return self.sentence.deps[self.id - 1]

    @property
    def misc(self) -> dict[str, str]:
        """MISC by name; what has no value has an empty one."""
        return items_of(self.sentence.misc[self.id - 1])

    @property
    def row(self) -> Row:
        """The word's line, ten strings."""
        return Row(str(self.id), *(column[self.id - 1] for column in self.sentence.columns))

    @property
    def head(self) -> Word | None:
        """None for the root of the tree, and where the head is unknown."""
        head = self.sentence.head[self.id - 1]
        return None if head in ("_", "0") else self.sentence[int(head)]

    @property
    def is_root(self) -> bool:
        """Whether its head is node 0."""
        return self.sentence.head[self.id - 1] == "0"

    @property
    def children(self) -> list[Word]:
        """The words whose head this is, in their order."""
        own = str(self.id)
        return [Word(self.sentence, m) for m, head in enumerate(self.sentence.head, 1) if head == own]

    @property
    def ancestors(self) -> list[Word]:
        """Its head, the head of that, and so on up to the root; a cycle is gone through once."""
        found: dict[int, Word] = {}
        word = self.head
        while word is not None and word.id not in found:
            found[word.id] = word
            word = word.head
        return list(found.values())

    @property
    def subtree(self) -> list[Word]:
        """The word and all that are below it, in their order; they need not be neighbours.

        >>> from crossarc.core import Sentence
        >>> s = Sentence.of(["A", "hearing", "is", "scheduled", "today"]).with_tree([-1, 2, 4, 4, 0, 2])
        >>> [word.form for word in s[2].subtree]
        ['A', 'hearing', 'today']
        """
        children = self.sentence.children
        found, waiting = {self.id}, [self.id]
        while waiting:
            new = [m for m in children[waiting.pop()] if m not in found]
            found.update(new)
            waiting += new
        return [Word(self.sentence, m) for m in sorted(found)]

    def path_to(self, other: Word) -> list[Word]:
        """The way to another word along arcs, both ends included; empty if there is none but through node 0.

        Raises ``ValueError`` for a word of another sentence.
        """
        if other.sentence != self.sentence:
            raise ValueError(f"{other!r} is a word of another sentence")
        up, down = [self, *self.ancestors], [other, *other.ancestors]
        below = {word.id: i for i, word in enumerate(down)}
        for i, word in enumerate(up):
            if word.id in below:
                return [*up[: i + 1], *reversed(down[: below[word.id]])]
        return []

    @property
    def probability(self) -> float | None:
        """Of its arc (``ArcProb`` in MISC), where the tree was parsed with ``confidence``.

        Raises ``InputError`` for what is no probability.
        """
        return self._probability("ArcProb")

    @property
    def labelled_probability(self) -> float | None:
        """Of its arc with its label (``RelProb``); see ``probability``."""
        return self._probability("RelProb")

    def _probability(self, name: str) -> float | None:
        value = self.misc.get(name)
        if value is None:
            return None
        try:
            probability = float(value)
        except ValueError:
            probability = -1.0
        if not 0 <= probability <= 1:
            message = f"{name} of word {self.id} is {value!r}, not a probability"
            raise InputError(message, self.sentence.place(self.id))
        return probability

    def __hash__(self) -> int:
        return hash((self.id, self.form))  # all columns of the sentence would take long

    def __repr__(self) -> str:
        return f"<Word {self.id}: {self.form!r}>"

    def __str__(self) -> str:
        return self.form


def items_of(column: str) -> dict[str, str]:
    """``name=value|...``, of FEATS or MISC, as a dictionary.

    >>> items_of("Number=Sing|Typo")
    {'Number': 'Sing', 'Typo': ''}
    """
    return {} if column == "_" else dict(item.partition("=")[::2] for item in column.split("|"))
