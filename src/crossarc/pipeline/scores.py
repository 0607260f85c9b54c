"""How good and how fast a pipeline is: the scores of the CoNLL 2018 shared task, and words a second."""

from __future__ import annotations

import time
from collections.abc import Sequence

from crossarc.core import Sentence
from crossarc.evaluation import Evaluation, evaluate
from crossarc.io.conllu import format_sentence
from crossarc.pipeline.pipeline import Pipeline
from crossarc.text import raw_text

__all__ = ["scores_of", "words_per_second"]

_SEGMENTS = ("Tokens", "Sentences", "Words")
_TAGS = ("UPOS", "XPOS", "UFeats")
_TREES = ("UAS", "LAS")
_WARM_UP = 64  # sentences that are parsed before the clock starts: kernels may have to be compiled for them
_SHORTEST = 1e-3  # seconds that a clock of processor time can tell apart


def scores_of(pipeline: Pipeline, gold: Sequence[Sentence]) -> dict[str, dict[str, float]]:
    """F1 in per cent, to two places: of the raw text, and of the gold words; tags and trees are the pipeline's own.

    Without a segmenter, there is no score of the raw text. Without a tagger, trees are scored from gold words and tags.
    """
    tags = _TAGS if pipeline.finds_tags else ()
    names = (*tags, *(("Lemmas",) if pipeline.lemmatizer is not None else ()), *_TREES)
    scores = {}
    if pipeline.segmenter is not None:
        scores["raw text"] = _shares(evaluate(gold, pipeline(raw_text(gold))), (*_SEGMENTS, *names))
    if pipeline.finds_tags:
        scores["gold words"] = _shares(evaluate(gold, _from_words(pipeline, gold)), names)
    else:
        scores["gold tags"] = _shares(evaluate(gold, list(pipeline.trees(gold))), _TREES)
    return scores


def _from_words(pipeline: Pipeline, gold: Sequence[Sentence]) -> list[Sentence]:
    """The gold words with the pipeline's tags, lemmas and trees, and with the gold tokens."""
    found = pipeline.trees((Sentence.of(sentence.form) for sentence in gold), retag=True)
    return [
        Sentence(own.columns, sentence.comments, sentence.inserts) for own, sentence in zip(found, gold, strict=True)
    ]


def _shares(evaluation: Evaluation, names: Sequence[str]) -> dict[str, float]:
    return {name: round(100 * evaluation.official[name].f1, 2) for name in names}


def words_per_second(pipeline: Pipeline, sentences: Sequence[Sentence]) -> float:
    """How many words it makes trees of in a second of processor time: from raw text if it can, to CoNLL-U.

    Whoever has parsed the same sentences before gets more: words are remembered.
    """
    first, rest = list(sentences[:_WARM_UP]), list(sentences[_WARM_UP:]) or list(sentences)
    _parse(pipeline, first)
    start = time.process_time()
    _parse(pipeline, rest)
    return sum(map(len, rest)) / max(time.process_time() - start, _SHORTEST)


def _parse(pipeline: Pipeline, sentences: Sequence[Sentence]) -> None:
    parsed = pipeline.trees(sentences) if pipeline.segmenter is None else pipeline(raw_text(sentences))
    for sentence in parsed:
        format_sentence(sentence)
