"""Trained components that tests share: each is trained once in a process."""

from __future__ import annotations

from functools import cache

from crossarc.core import Insert, Row, Sentence
from crossarc.testing import random_treebank
from crossarc.text import Lemmatizer, Segmenter, Tagger, TaggerTraining

TREEBANK = list(random_treebank(240, seed=5))
TRAIN, TEST = TREEBANK[:200], TREEBANK[200:]


def contracted(sentence: Sentence) -> Sentence:
    """The sentence with its first two words as one token, by an apostrophe."""
    first, second = sentence.form[0], f"'{sentence.form[1]}"
    token = Insert(0, Row("1-2", first + second, *["_"] * 8))
    return Sentence(
        ((first, second, *sentence.form[2:]), *sentence.columns[1:]), sentence.comments, (token,), "<memory>", 0
    )


@cache
def segmenter() -> Segmenter:
    return Segmenter.train([contracted(s) if i % 2 and len(s) > 2 else s for i, s in enumerate(TRAIN)])


@cache
def tagger() -> Tagger:
    return TaggerTraining(TRAIN, folds=4).run()


@cache
def lemmatizer() -> Lemmatizer:
    return Lemmatizer.train(TRAIN)
