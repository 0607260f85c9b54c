"""CoNLL-X (Buchholz & Marsi 2006): ten columns over words, and nothing else.

PHEAD and PDEPREL, which CoNLL-U does not know, are kept in MISC as ``PHead=`` and ``PDeprel=``, so that CoNLL-X
survives a way through CoNLL-U. The other way loses what CoNLL-X has no place for; ``lost_in_conllx`` counts it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from crossarc.core import Sentence
from crossarc.core.sentence import word_ids
from crossarc.io.blocks import Block
from crossarc.io.conllu import first_error, sentence_of

__all__ = ["format_sentence", "lost_in_conllx", "parse_block"]

_KEYS = ("PHead=", "PDeprel=")


def parse_block(block: Block) -> Sentence:
    """The sentence of a block. Raises ``InputError`` for the first thing that breaks the format."""
    text = block.text()
    sentence = sentence_of(text, (), block)
    if sentence is None or sentence.inserts:
        raise first_error(block, text, only_words=True)
    misc = map(_misc, sentence.deps, sentence.misc)
    return sentence.with_columns(deps=("_",) * len(sentence), misc=tuple(misc))


def format_sentence(sentence: Sentence) -> str:
    """The lines of the sentence and the blank line after them."""
    form = [form.replace(" ", "_") for form in sentence.form]
    projective = ([_value(misc, key) for misc in sentence.misc] for key in _KEYS)
    columns = (word_ids(len(sentence)), form, *sentence.columns[1:7], *projective)
    return "\n".join([*map("\t".join, zip(*columns, strict=True)), "", ""])


def lost_in_conllx(sentence: Sentence) -> Counter[str]:
    """How much of each kind of annotation CoNLL-X cannot hold."""
    return Counter(
        {
            "comments": len(sentence.comments),
            "multiword tokens": sum(not insert.is_empty_node for insert in sentence.inserts),
            "empty nodes": sum(insert.is_empty_node for insert in sentence.inserts),
            "values of DEPS": sum(deps != "_" for deps in sentence.deps),
            "values of MISC": sum(map(_has_other_keys, sentence.misc)),
            "spaces in FORM": _count_spaces(sentence.form),
        }
    )


def _misc(phead: str, pdeprel: str) -> str:
    items = [key + value for key, value in zip(_KEYS, (phead, pdeprel), strict=True) if value != "_"]
    return "|".join(items) or "_"


def _value(misc: str, key: str) -> str:
    return next((item[len(key) :] for item in misc.split("|") if item.startswith(key)), "_")


def _has_other_keys(misc: str) -> bool:
    return misc != "_" and not all(item.startswith(_KEYS) for item in misc.split("|"))


def _count_spaces(forms: Iterable[str]) -> int:
    return sum(" " in form for form in forms)
