"""What a parser finds unlikely in gold trees: annotation errors are among the first of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import InputError, Sentence
from crossarc.parsers.base import Parser
from crossarc.parsers.registry import SYSTEMS, train
from crossarc.parsers.training import with_treebank_defaults
from crossarc.trees.shape import is_tree

__all__ = ["KINDS", "Kind", "Suspect", "cross_validated_suspects", "suspects"]

Kind = Literal["head", "label", "tag"]
KINDS: tuple[Kind, ...] = ("head", "label", "tag")


class Suspect(NamedTuple):
    """A word of a gold tree: what of it is least likely, and what the parser would say."""

    sentence: Sentence
    word: int
    kind: Kind  # what the probability is of
    probability: float  # of the head; of the label, given the head; or of the tag
    parsed_head: int
    parsed_label: str
    parsed_probability: float  # of that head and label


def suspects(
    parser: Parser,
    gold: Iterable[Sentence],
    *,
    kinds: Iterable[Kind] = ("head", "label"),
    tags: Sequence[NDArray[np.float64]] | None = None,
) -> list[Suspect]:
    """All words of gold trees, those with the least likely head, label or tag first.

    Heads need not make trees, but every word must have one. ``tags``: the probability of the tag of each word of each
    sentence, if a tagger knows it.
    """
    return sorted(_words(parser, gold, set(kinds), tags), key=lambda suspect: suspect.probability)


def cross_validated_suspects(
    gold: Sequence[Sentence],
    folds: int,
    *,
    kinds: Iterable[Kind] = ("head", "label"),
    seed: int = 1,
    watch: Callable[[int], None] = lambda fold: None,
) -> list[Suspect]:
    """All words of gold trees, the least likely first, each part judged by a parser trained on all others.

    Parsers learn from trees and are calibrated on them; sentences whose heads have cycles are only judged.
    """
    config = with_treebank_defaults(
        [s for s in gold if is_tree(s.heads)],
        SYSTEMS["spanning-tree"].presets["ms2007"],
    )
    config = replace(config, epochs=6, patience=0, seed=seed)  # type: ignore[call-arg]
    found: list[Suspect] = []
    for fold in range(folds):
        held_out = gold[fold::folds]
        parser = train([s for i, s in enumerate(gold) if i % folds != fold and is_tree(s.heads)], config)
        trees = [s for s in held_out if is_tree(s.heads)]
        found += _words(parser.calibrated(trees) if trees else parser, held_out, set(kinds), None)
        watch(fold + 1)
    return sorted(found, key=lambda suspect: suspect.probability)


def _words(
    parser: Parser, gold: Iterable[Sentence], kinds: set[Kind], tags: Sequence[NDArray[np.float64]] | None
) -> Iterator[Suspect]:
    sentences = list(gold)
    check_heads(sentences)
    for i, (sentence, judged) in enumerate(zip(sentences, parser.judge(sentences), strict=True)):
        sure, tree = judged.parsed.confidence, judged.parsed.sentence
        assert sure is not None
        probabilities: dict[Kind, NDArray[np.float64]] = {"head": judged.heads[1:], "label": judged.labels[1:]}
        if tags is not None:
            probabilities["tag"] = tags[i]
        asked = [kind for kind in KINDS if kind in kinds and kind in probabilities]
        parsed_heads = tree.heads
        for word in range(1, len(sentence) + 1):
            kind = min(asked, key=lambda kind: probabilities[kind][word - 1])
            yield Suspect(
                sentence,
                word,
                kind,
                float(probabilities[kind][word - 1]),
                int(parsed_heads[word]),
                tree.deprel[word - 1],
                float(sure.labels[word]),
            )


def check_heads(sentences: Iterable[Sentence]) -> None:
    """Refuse words without a head in their sentence."""
    for sentence in sentences:
        for word, head in enumerate(sentence.heads[1:].tolist(), 1):
            if not 0 <= head <= len(sentence) or head == word:
                raise InputError(f"word {word} has no head in the sentence", sentence.place(word))
