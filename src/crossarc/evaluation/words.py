"""The words of a block of sentences as the scores see them: heads across the block, labels and features cut down."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import NamedTuple

from crossarc.core import Sentence
from crossarc.evaluation.alignment import Text
from crossarc.trees.shape import nonprojective_arcs

__all__ = ["ROOT", "ScoredWord", "scored_words", "universal_part"]

ROOT = -1  # the head of a word that depends on node 0

# The relations between content words, as the CoNLL 2018 shared task counts them, and those of function words.
CONTENT_RELATIONS = frozenset(
    [
        "nsubj",
        "obj",
        "iobj",
        "csubj",
        "ccomp",
        "xcomp",
        "obl",
        "vocative",
        "expl",
        "dislocated",
        "advcl",
        "advmod",
        "discourse",
        "nmod",
        "appos",
        "nummod",
        "acl",
        "amod",
        "conj",
        "fixed",
        "flat",
        "compound",
        "list",
        "parataxis",
        "orphan",
        "goeswith",
        "reparandum",
        "root",
        "dep",
    ]
)
FUNCTION_RELATIONS = frozenset(["aux", "cop", "mark", "det", "clf", "case", "cc"])
UNIVERSAL_FEATURES = frozenset(
    [
        "PronType",
        "NumType",
        "Poss",
        "Reflex",
        "Foreign",
        "Abbr",
        "Gender",
        "Animacy",
        "Number",
        "Case",
        "Definite",
        "Degree",
        "VerbForm",
        "Mood",
        "Tense",
        "Aspect",
        "Voice",
        "Evident",
        "Polarity",
        "Person",
        "Polite",
    ]
)
# Tags that say what a word is; X and _ do not, nor do the tags of other tag sets.
TELLING_TAGS = frozenset(
    [
        "ADJ",
        "ADP",
        "ADV",
        "AUX",
        "CCONJ",
        "CONJ",
        "DET",
        "INTJ",
        "NOUN",
        "NUM",
        "PART",
        "PRON",
        "PROPN",
        "PUNCT",
        "SCONJ",
        "SYM",
        "VERB",
    ]
)


class ScoredWord(NamedTuple):
    """What scores are counted from: a word of a block of sentences."""

    lemma: str
    upos: str
    xpos: str
    features: str  # the universal ones, sorted
    head: int  # index of a word in the block, or ROOT
    label: str
    relation: str  # the universal part of the label
    sentence: int  # index in the block
    is_punctuation: bool
    is_nonprojective: bool
    arc_length: int  # 0 for an arc from the root

    @property
    def is_content(self) -> bool:
        return self.relation in CONTENT_RELATIONS

    @property
    def is_function(self) -> bool:
        return self.relation in FUNCTION_RELATIONS


def scored_words(text: Text) -> list[ScoredWord]:
    """All words of a block, in order."""
    words: list[ScoredWord] = []
    for index, sentence in enumerate(text.sentences):
        words.extend(_sentence_words(sentence, index, len(words)))
    return words


def _sentence_words(sentence: Sentence, index: int, offset: int) -> list[ScoredWord]:
    heads = sentence.heads
    nonprojective = nonprojective_arcs(heads).tolist()
    form, lemma, upos, xpos, feats, _, deprel, *_ = sentence.columns
    words = []
    for i, head in enumerate(heads[1:].tolist()):
        words.append(
            ScoredWord(
                lemma[i],
                upos[i],
                xpos[i],
                _universal_features(feats[i]),
                offset + head - 1 if head else ROOT,
                deprel[i],
                universal_part(deprel[i]),
                index,
                _is_punctuation(form[i], upos[i]),
                nonprojective[i + 1],
                abs(head - i - 1) if head else 0,
            )
        )
    return words


def universal_part(label: str) -> str:
    """``nsubj`` of ``nsubj:pass``"""
    return label.partition(":")[0]


@lru_cache(maxsize=1 << 14)
def _universal_features(feats: str) -> str:
    return "|".join(sorted(f for f in feats.split("|") if f.partition("=")[0] in UNIVERSAL_FEATURES))


@lru_cache(maxsize=1 << 16)
def _is_punctuation(form: str, upos: str) -> bool:
    """Tagged so; or, if the tag does not tell, made of punctuation characters only (as in the CoNLL-X task)."""
    if upos in TELLING_TAGS:
        return upos == "PUNCT"
    return all(unicodedata.category(c).startswith("P") for c in form)
