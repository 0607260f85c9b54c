"""What features are made of: the attributes of each word, as 64-bit numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.features.guides import GUIDE_ATTRIBUTES, NO_GUIDE, guide_hashes
from crossarc.features.hashing import hash_string
from crossarc.features.word_table import WordTable

__all__ = ["ATTRIBUTES", "FIRST_FEAT", "PADDING", "UPOS", "Batch", "attributes_of", "hash_attributes"]

_OF_WORDS = ("form", "lower", "lemma", "upos", "xpos", "pos", "feats", "prefix", "suffix")
ATTRIBUTES = (*_OF_WORDS, *GUIDE_ATTRIBUTES)
UPOS = ATTRIBUTES.index("upos")
PADDING = 2  # words that do not exist, before node 0 and after word n
MAX_FEATURES = 12  # single facts about one word that are looked at one by one
FIRST_FEAT = 2  # of these, its morphological features: tag and lemma come before them

Word = tuple[str, str, str, str, str]  # FORM to FEATS
Row = tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]  # attributes, single facts, their number


class Batch(NamedTuple):
    """The attributes of the nodes 0..n of several sentences, one after the other.

    Sentence b has the nodes ``starts[b]`` to ``starts[b + 1]``. ``features[i, :counts[i]]`` are single facts about
    node i: its tag, its lemma, each of its morphological features. ``words[i, a]`` is attribute a; there, each
    sentence stands between words that are known to be outside.
    """

    words: NDArray[np.uint64]
    features: NDArray[np.uint64]
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]

    def of_sentences(self, chosen: NDArray[np.int64]) -> Batch:
        """Some of the sentences, in that order; there is at least one."""
        nodes = self.nodes_of(chosen)
        sizes = self.starts[chosen + 1] - self.starts[chosen]
        first = self.starts[chosen] + chosen * _AROUND
        words = np.concatenate([np.arange(f, f + n + _AROUND) for f, n in zip(first, sizes, strict=True)])
        return Batch(
            self.words[words], self.features[nodes], self.counts[nodes], np.append(0, np.cumsum(sizes)).astype(np.int64)
        )

    def nodes_of(self, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """The nodes of some sentences, one after the other."""
        return np.concatenate([np.arange(self.starts[b], self.starts[b + 1]) for b in chosen])


def attributes_of(sentences: Sequence[Sentence]) -> Batch:
    """Look up what belongs to each word; it is hashed when the word is first seen."""
    columns = (zip(*sentence.columns[:5], strict=True) for sentence in sentences)
    rows, (words, features, counts) = _WORDS.rows(columns, before=_BEFORE, after=_AFTER)
    nodes = rows[rows != _OUTSIDE]
    starts = np.zeros(len(sentences) + 1, dtype=np.int64)
    np.cumsum([len(sentence) + 1 for sentence in sentences], out=starts[1:])
    found = words[rows]
    for b, sentence in enumerate(sentences):
        guide = guide_hashes(sentence)
        if guide is not None:
            first = starts[b] + b * _AROUND + PADDING
            found[first : first + len(guide), len(_OF_WORDS) :] = guide
    return Batch(found, features[nodes], counts[nodes], starts)


def hash_attributes(names: Sequence[str], values: Iterable[object]) -> NDArray[np.uint64]:
    """A number for each attribute with its value."""
    hashes = [hash_string(f"{name}={value}") for name, value in zip(names, values, strict=True)]
    return np.array(hashes, dtype=np.uint64)


def _describe(word: Word) -> Row:
    form, lemma, upos, xpos, feats = word
    lower = form.lower()
    single = [f"upos={upos}", f"lemma={lemma}", *(feats.split("|") if feats != "_" else [])]
    pos = xpos if xpos != "_" else upos
    return _row((form, lower, lemma, upos, xpos, pos, feats, lower[:5], lower[-3:]), single[:MAX_FEATURES])


def _row(values: Iterable[str], single: Sequence[str]) -> Row:
    features = np.zeros(MAX_FEATURES, dtype=np.uint64)
    features[: len(single)] = [hash_string(name) for name in single]
    return hash_attributes(ATTRIBUTES, (*values, *NO_GUIDE)), features, np.array(len(single))


_ROOT, _OUTSIDE = 0, 1
_BEFORE = [_OUTSIDE] * PADDING + [_ROOT]
_AFTER = [_OUTSIDE] * (PADDING + 1)
_AROUND = 2 * PADDING + 1  # rows of what is outside of each sentence
# One for all parsers: training makes a new one for each epoch
_WORDS = WordTable(_describe, [_row([name] * len(_OF_WORDS), [f"upos={name}"]) for name in ("<root>", "<outside>")])
