"""Sentences as the ``TokenList`` of the package conllu, which has everything that a CoNLL-U file has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossarc.core import Sentence
from crossarc.integrations._library import library
from crossarc.io import read_string

if TYPE_CHECKING:
    from conllu import TokenList

__all__ = ["sentence_of", "tokens_of"]


def tokens_of(sentence: Sentence) -> TokenList:
    """The ``TokenList``. Comments that are not ``key = value`` are lost, as always in that package.

    >>> s = Sentence.of(["She", "left"]).with_tree([-1, 2, 0], ["_", "nsubj", "root"])
    >>> tokens_of(s)[0]["head"]
    2
    """
    return library("conllu").parse(sentence.to_conllu())[0]


def sentence_of(tokens: TokenList) -> Sentence:
    """The sentence of a ``TokenList``. Raises ``InputError`` if it is not in the format."""
    (sentence,) = read_string(tokens.serialize())
    return sentence
