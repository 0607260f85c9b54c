"""How good a pipeline is: the scores of the CoNLL 2018 shared task, from raw text and from gold words."""

from __future__ import annotations

from collections.abc import Sequence

from crossarc.core import Sentence
from crossarc.evaluation import Evaluation, evaluate
from crossarc.pipeline.pipeline import Pipeline
from crossarc.text import raw_text

__all__ = ["scores_of"]

_FROM_TEXT = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS")
_FROM_WORDS = _FROM_TEXT[3:]


def scores_of(pipeline: Pipeline, gold: Sequence[Sentence]) -> dict[str, dict[str, float]]:
    """F1 in per cent, to two places: of the raw text, and of the gold words; tags and trees are the pipeline's own."""
    from_text = pipeline(raw_text(gold))
    from_words = pipeline.trees((Sentence.of(sentence.form) for sentence in gold), retag=True)
    with_tokens = [
        Sentence(own.columns, sentence.comments, sentence.inserts)
        for own, sentence in zip(from_words, gold, strict=True)
    ]
    return {
        "raw text": _shares(evaluate(gold, from_text), _FROM_TEXT),
        "gold words": _shares(evaluate(gold, with_tokens), _FROM_WORDS),
    }


def _shares(evaluation: Evaluation, names: Sequence[str]) -> dict[str, float]:
    return {name: round(100 * evaluation.official[name].f1, 2) for name in names}
