"""The lines of a treebank file: ten columns of strings."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Insert", "Row"]


class Row(NamedTuple):
    """The ten columns of CoNLL-U: of a word, a multiword token (``3-4``) or an empty node (``3.1``)."""

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


class Insert(NamedTuple):
    """A line that is not a word: a multiword token (``3-4``) or an empty node (``3.1``)."""

    after: int  # how many words stand before it
    row: Row

    @property
    def is_empty_node(self) -> bool:
        return "." in self.row.id

    @property
    def span(self) -> range:
        """The words that a multiword token covers."""
        first, _, last = self.row.id.partition("-")
        return range(int(first), int(last) + 1)
