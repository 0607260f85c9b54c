"""What features are made of: the attributes of each word of a sentence, as 64-bit numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.scoring.hashing import hash_string

__all__ = ["ATTRIBUTES", "PADDING", "Attributes", "attributes_of"]

ATTRIBUTES = ("form", "lower", "lemma", "upos", "xpos", "feats", "prefix", "suffix")
PADDING = 2  # words that do not exist, before node 0 and after word n
MAX_FEATURES = 12  # morphological features of one word that are looked at one by one

_ROOT = tuple(hash_string(f"{name}=<root>") for name in ATTRIBUTES)
_OUTSIDE = tuple(hash_string(f"{name}=<outside>") for name in ATTRIBUTES)


class Attributes(NamedTuple):
    """The attributes of the nodes 0..n.

    ``words[i + PADDING, a]`` is attribute a of node i; nodes outside 0..n are known to be outside.
    ``features[i, :counts[i]]`` are single facts about word i: its tag, its lemma, each of its morphological features.
    ``tags[i]`` is the number of its tag among those of the sentence.
    """

    words: NDArray[np.uint64]
    tags: NDArray[np.uint64]
    features: NDArray[np.uint64]
    counts: NDArray[np.int64]


def attributes_of(sentence: Sentence) -> Attributes:
    """Hash what belongs to one word once per sentence."""
    n = len(sentence)
    words = [_OUTSIDE] * PADDING + [_ROOT]
    words += [
        _word_attributes(form, lemma, upos, xpos, feats)
        for form, lemma, upos, xpos, feats in zip(*sentence.columns[:5], strict=True)
    ]
    words += [_OUTSIDE] * (PADDING + 1)
    features = np.zeros((n + 1, MAX_FEATURES), dtype=np.uint64)
    counts = np.ones(n + 1, dtype=np.int64)
    features[0, 0] = _ROOT[3]
    for i, (lemma, upos, feats) in enumerate(zip(sentence.lemma, sentence.upos, sentence.feats, strict=True), 1):
        single = _single_features(lemma, upos, feats)
        counts[i] = len(single)
        features[i, : len(single)] = single
    numbers: dict[str, int] = {}
    # kernels keep a set of tags in 64 bits
    tags = [0, *(min(numbers.setdefault(tag, len(numbers)), 63) for tag in sentence.upos)]
    return Attributes(np.array(words, dtype=np.uint64), np.array(tags, dtype=np.uint64), features, counts)


@lru_cache(maxsize=1 << 18)
def _word_attributes(form: str, lemma: str, upos: str, xpos: str, feats: str) -> tuple[int, ...]:
    lower = form.lower()
    values = (form, lower, lemma, upos, xpos, feats, lower[:5], lower[-3:])
    return tuple(hash_string(f"{name}={value}") for name, value in zip(ATTRIBUTES, values, strict=True))


@lru_cache(maxsize=1 << 18)
def _single_features(lemma: str, upos: str, feats: str) -> tuple[int, ...]:
    names = [f"upos={upos}", f"lemma={lemma}", *(feats.split("|") if feats != "_" else [])]
    return tuple(map(hash_string, names[:MAX_FEATURES]))
