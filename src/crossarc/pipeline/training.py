"""Training of what comes before the parser, and the parser's own input: tags and lemmas with errors, as later."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from crossarc.core import CrossarcError, Sentence
from crossarc.parsers import EpochReport, TrainingListener
from crossarc.text import Lemmatizer, Segmenter, Tagger, TaggerTraining

__all__ = ["PARTS", "Annotated", "train_parts"]

PARTS = ("segmenter", "tagger", "lemmatizer")


class Annotated(NamedTuple):
    """Trained parts, and the trees with automatic tags and lemmas: what the parser is to be trained and tested on."""

    segmenter: Segmenter | None
    tagger: Tagger | None
    lemmatizer: Lemmatizer | None
    treebank: list[Sentence]
    dev: list[Sentence]


def train_parts(
    treebank: Sequence[Sentence],
    parts: Collection[str],
    *,
    dev: Sequence[Sentence] = (),
    seed: int = 1,
    listener: TrainingListener | None = None,
) -> Annotated:
    """Train the parts with these names on a treebank.

    Its sentences get their tags and lemmas from models trained on other parts of it (cross-validation), so that the
    parser sees as many errors in training as later.
    """
    if "lemmatizer" in parts and "tagger" not in parts:
        raise CrossarcError("a lemmatizer needs a tagger: lemmas depend on tags")
    annotated, held_out = list(treebank), list(dev)
    segmenter = Segmenter.train(treebank, seed=seed) if "segmenter" in parts else None
    tagger = lemmatizer = None
    if "tagger" in parts:
        listener = listener or TrainingListener()
        training = TaggerTraining(treebank, seed=seed, listener=listener)
        with _watched(listener, 1, training.words_of_pass):
            training.run_first_passes()
        with _watched(listener, 2, training.words_of_pass):
            tagger, annotated = training.run(), training.cross_tagged()
        held_out = tagger.apply(held_out)
    if "lemmatizer" in parts:
        lemmatizer = Lemmatizer.train(treebank)
        annotated = _cross_lemmatized(treebank, annotated, training.folds)
        held_out = lemmatizer.apply(held_out)
    return Annotated(segmenter, tagger, lemmatizer, annotated, held_out)


@contextmanager
def _watched(listener: TrainingListener, number: int, words: int) -> Iterator[None]:
    """Training of a pass of the tagger: an epoch to whoever watches."""
    listener.epoch(Tagger.name, number, words)
    start = time.perf_counter()
    yield
    listener.report(EpochReport(Tagger.name, number, None, words / (time.perf_counter() - start), None))


def _cross_lemmatized(gold: Sequence[Sentence], tagged: Sequence[Sentence], folds: Sequence[range]) -> list[Sentence]:
    """The sentences with lemmas, by lemmatizers that have not seen their part of the treebank."""
    lemmatized: list[Sentence] = []
    for fold in folds:
        others = Lemmatizer.train(sentence for i, sentence in enumerate(gold) if i not in fold)
        lemmatized += others.apply(tagged[i] for i in fold)
    return lemmatized
