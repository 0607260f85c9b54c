"""How probable the arcs are that sentences come with: what a person's tree looks like to the parser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crossarc.core import Sentence
from crossarc.pipeline import Pipeline

__all__ = ["judged_arcs"]


def judged_arcs(pipeline: Pipeline, sentences: Sequence[Sentence]) -> list[list[dict[str, Any]] | None]:
    """For each word of each sentence, the probability of its arc, and of its arc with its label.

    None for sentences in which a word has no head. Heads need not make trees.
    """
    whole = [i for i, sentence in enumerate(sentences) if _is_whole(sentence)]
    found: list[list[dict[str, Any]] | None] = [None] * len(sentences)
    annotated = pipeline.annotate([sentences[i] for i in whole])
    for i, judged in zip(whole, pipeline.parser.judge(annotated), strict=True):
        both = zip(judged.heads[1:], judged.heads[1:] * judged.labels[1:], strict=True)
        found[i] = [{"probability": _short(arc), "labelled": _short(labelled)} for arc, labelled in both]
    return found


def _is_whole(sentence: Sentence) -> bool:
    """Whether each word has a head other than itself; the reader has refused heads that are no words."""
    heads = sentence.heads.tolist()
    return len(sentence) > 0 and all(head >= 0 and head != word for word, head in enumerate(heads[1:], 1))


def _short(number: float) -> float:
    return float(f"{number:.6g}")
