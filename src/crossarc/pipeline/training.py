"""Training of what comes before the parser, and the parser's own input: tags and lemmas with errors, as later."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from crossarc.core import CrossarcError, Sentence
from crossarc.enhancing import Enhancer
from crossarc.learning.listener import EpochReport, TrainingListener
from crossarc.text import Lemmatizer, Segmenter, Tagger, TaggerTraining

__all__ = ["Annotated", "train_components"]


class Annotated(NamedTuple):
    """Trained components, and the trees with automatic tags and lemmas: what the parser is trained and tested on."""

    components: dict[str, Any]  # segmenter, tagger, lemmatizer, enhancer: those that were asked for
    treebank: list[Sentence]
    dev: list[Sentence]


def train_components(
    treebank: Sequence[Sentence],
    names: Collection[str],
    *,
    dev: Sequence[Sentence] = (),
    seed: int = 1,
    listener: TrainingListener | None = None,
    parser_tags: bool = False,
) -> Annotated:
    """Train the components with these names (segmenter, tagger, lemmatizer, enhancer) on a treebank.

    Its sentences get their tags and lemmas from models trained on other parts of it (cross-validation), so that the
    parser sees as many errors in training as later. With ``parser_tags``, tags are left to the parser, which then looks
    at words alone.
    """
    if "lemmatizer" in names and "tagger" not in names:
        raise CrossarcError("a lemmatizer needs a tagger: lemmas depend on tags")
    annotated, held_out = list(treebank), list(dev)
    components: dict[str, Any] = {}
    if "segmenter" in names:
        components["segmenter"] = Segmenter.train(treebank, seed=seed)
    if "tagger" in names and not parser_tags:
        listener = listener or TrainingListener()
        training = TaggerTraining(treebank, seed=seed, listener=listener)
        with _watched(listener, 1, training.words_of_pass):
            training.run_first_passes()
        with _watched(listener, 2, training.words_of_pass):
            tagger, annotated = training.run(), training.cross_tagged()
        components["tagger"], held_out = tagger, tagger.apply(held_out)
    if "lemmatizer" in names:
        components["lemmatizer"] = lemmatizer = Lemmatizer.train(treebank)
        if not parser_tags:
            annotated = _cross_lemmatized(treebank, annotated, training.folds)
            held_out = lemmatizer.apply(held_out)
    if "enhancer" in names:
        components["enhancer"] = Enhancer.train(annotated, seed=seed)
    return Annotated(components, annotated, held_out)


@contextmanager
def _watched(listener: TrainingListener, number: int, words: int) -> Iterator[None]:
    """Training of a pass of the tagger: an epoch to whoever watches."""
    listener.begin_epoch(Tagger.name, number, words)
    start = time.perf_counter()
    yield
    listener.end_epoch(EpochReport(Tagger.name, number, None, words / (time.perf_counter() - start), None))


def _cross_lemmatized(gold: Sequence[Sentence], tagged: Sequence[Sentence], folds: Sequence[range]) -> list[Sentence]:
    """The sentences with lemmas, by lemmatizers that have not seen their part of the treebank."""
    lemmatized: list[Sentence] = []
    for fold in folds:
        others = Lemmatizer.train(sentence for i, sentence in enumerate(gold) if i not in fold)
        lemmatized += others.apply(tagged[i] for i in fold)
    return lemmatized
