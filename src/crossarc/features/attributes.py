"""What features are made of: the attributes of each word, as 64-bit numbers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.features.hashing import hash_string, look_up

__all__ = ["ATTRIBUTES", "PADDING", "UPOS", "Batch", "attributes_of"]

ATTRIBUTES = ("form", "lower", "lemma", "upos", "xpos", "feats", "prefix", "suffix")
UPOS = ATTRIBUTES.index("upos")
PADDING = 2  # words that do not exist, before node 0 and after word n
MAX_FEATURES = 12  # single facts about one word that are looked at one by one

Key = tuple[str, str, str, str, str]  # FORM to FEATS


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


def attributes_of(sentences: Sequence[Sentence]) -> Batch:
    """Look up what belongs to each word; it is hashed when the word is first seen."""
    with _LEXICON.lock:
        if len(_LEXICON.rows) > _LEXICON.MOST:
            _LEXICON.start()
        rows: list[int] = []
        for sentence in sentences:
            rows += _BEFORE
            rows += look_up(_LEXICON.rows, list(zip(*sentence.columns[:5], strict=True)), _LEXICON.add)
            rows += _AFTER
        table = np.array(rows)
        nodes = table[table != _OUTSIDE]
        starts = np.zeros(len(sentences) + 1, dtype=np.int64)
        np.cumsum([len(sentence) + 1 for sentence in sentences], out=starts[1:])
        return Batch(_LEXICON.words[table], _LEXICON.features[nodes], _LEXICON.counts[nodes], starts)


class _Lexicon:
    """The attributes of all words seen so far, or of the latest of them: it starts anew when it is full."""

    MOST = 1 << 17

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.start()

    def start(self) -> None:
        self.rows: dict[Key, int] = {}
        self.words = np.empty((1024, len(ATTRIBUTES)), dtype=np.uint64)
        self.features = np.zeros((1024, MAX_FEATURES), dtype=np.uint64)
        self.counts = np.ones(1024, dtype=np.int64)
        for row, name in ((_ROOT, "<root>"), (_OUTSIDE, "<outside>")):
            self.words[row] = [hash_string(f"{attribute}={name}") for attribute in ATTRIBUTES]
            self.features[row, 0] = self.words[row, UPOS]

    def add(self, key: Key) -> int:
        row = self.rows[key] = len(self.rows) + 2
        if row == len(self.counts):
            self.words = np.concatenate([self.words, self.words])
            self.features = np.concatenate([self.features, np.zeros_like(self.features)])
            self.counts = np.concatenate([self.counts, self.counts])
        form, lemma, upos, xpos, feats = key
        lower = form.lower()
        values = (form, lower, lemma, upos, xpos, feats, lower[:5], lower[-3:])
        self.words[row] = [hash_string(f"{name}={value}") for name, value in zip(ATTRIBUTES, values, strict=True)]
        single = [f"upos={upos}", f"lemma={lemma}", *(feats.split("|") if feats != "_" else [])][:MAX_FEATURES]
        self.features[row, : len(single)] = [hash_string(name) for name in single]
        self.counts[row] = len(single)
        return row


_ROOT, _OUTSIDE = 0, 1
_BEFORE = [_OUTSIDE] * PADDING + [_ROOT]
_AFTER = [_OUTSIDE] * (PADDING + 1)
_LEXICON = _Lexicon()
