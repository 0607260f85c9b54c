"""CoNLL-X (Buchholz & Marsi 2006): ten columns over words, without spaces in them, and nothing else.

PHEAD and PDEPREL, which CoNLL-U does not know, are kept in MISC as ``PHead=`` and ``PDeprel=``, so that CoNLL-X
survives a way through CoNLL-U. The other way loses what CoNLL-X has no place for; ``lost_in_conllx`` counts it.
"""

from __future__ import annotations

import re
from collections import Counter

from crossarc.core import Sentence
from crossarc.core.sentence import word_ids
from crossarc.io.blocks import Block
from crossarc.io.conllu import first_error, sentence_of

__all__ = ["escaped", "format_sentence", "lost_in_conllx", "misc_value", "parse_block"]

_KEYS = ("PHead=", "PDeprel=")
_ESCAPES = {
    "|": "%7C",
    "%": "%25",
    "\r": "%0D",
}  # of what would end a value of MISC, or the line
_ESCAPED = {code: character for character, code in _ESCAPES.items()}
_TO_ESCAPE = re.compile(r"\||\r|%(?=7C|25|0D)")  # other percent signs stay as they are
_TO_RESTORE = re.compile("|".join(_ESCAPED))


def parse_block(block: Block) -> Sentence:
    """The sentence of a block. Raises ``InputError`` for the first thing that breaks the format."""
    text = block.text()
    sentence = sentence_of(text, (), block)
    if sentence is None or sentence.inserts or " " in text:
        raise first_error(block, text, only_words=True)
    misc = map(_misc, sentence.deps, sentence.misc)
    return sentence.with_columns(deps=("_",) * len(sentence), misc=tuple(misc))


def format_sentence(sentence: Sentence) -> str:
    """The lines of the sentence and the blank line after them; ``_`` for each space in a column."""
    projective = ([misc_value(misc, key) for misc in sentence.misc] for key in _KEYS)
    columns = (word_ids(len(sentence)), *sentence.columns[:7], *projective)
    return "\n".join([*map("\t".join, zip(*columns, strict=True)), "", ""]).replace(" ", "_")


def lost_in_conllx(sentence: Sentence) -> Counter[str]:
    """How much of each kind of annotation CoNLL-X cannot hold."""
    return Counter(
        {
            "comments": len(sentence.comments),
            "multiword tokens": sum(not insert.is_empty_node for insert in sentence.inserts),
            "empty nodes": sum(insert.is_empty_node for insert in sentence.inserts),
            "values of DEPS": sum(deps != "_" for deps in sentence.deps),
            "values of MISC": sum(misc != _kept(misc) for misc in sentence.misc),
            "values with spaces": sum(" " in value for column in sentence.columns[:7] for value in column),
        }
    )


def _misc(phead: str, pdeprel: str) -> str:
    items = [key + escaped(value) for key, value in zip(_KEYS, (phead, pdeprel), strict=True) if value != "_"]
    return "|".join(items) or "_"


def misc_value(misc: str, key: str) -> str:
    """What MISC has for a key; ``_`` for no value, or an empty one."""
    found = next((item[len(key) :] for item in misc.split("|") if item.startswith(key)), "")
    return _TO_RESTORE.sub(lambda match: _ESCAPED[match[0]], found) or "_"


def _kept(misc: str) -> str:
    """MISC after a way through CoNLL-X."""
    phead, pdeprel = (misc_value(misc, key).replace(" ", "_") for key in _KEYS)
    return _misc(phead, pdeprel)


def escaped(value: str) -> str:
    """A value as MISC can have it."""
    return _TO_ESCAPE.sub(lambda match: _ESCAPES[match[0]], value)
