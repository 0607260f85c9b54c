"""Gold arcs that a parser finds unlikely: annotation errors are among the first of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from crossarc.core import InputError, Sentence
from crossarc.parsers.base import ParseOptions, Parser
from crossarc.parsers.registry import SYSTEMS, train
from crossarc.parsers.training import with_treebank_defaults

__all__ = ["Suspect", "cross_validated_suspects", "suspects"]


class Suspect(NamedTuple):
    """A gold arc, its probability, and the head that the parser would give the word."""

    sentence: Sentence
    word: int
    probability: float
    parsed_head: int
    parsed_label: str
    parsed_probability: float


def suspects(parser: Parser, gold: Iterable[Sentence]) -> list[Suspect]:
    """All gold arcs, the least likely first. Heads need not make trees, but every word must have one."""
    return sorted(_arcs(parser, gold), key=lambda suspect: suspect.probability)


def cross_validated_suspects(
    gold: Sequence[Sentence], folds: int, *, seed: int = 1, watch: Callable[[int], None] = lambda fold: None
) -> list[Suspect]:
    """All gold arcs, the least likely first, each part of the treebank judged by a parser trained on all others."""
    config = with_treebank_defaults(gold, SYSTEMS["spanning-tree"].presets["ms2007"])
    config = replace(config, epochs=6, patience=0, seed=seed)  # type: ignore[call-arg]
    found: list[Suspect] = []
    for fold in range(folds):
        held_out = gold[fold::folds]
        parser = train([s for i, s in enumerate(gold) if i % folds != fold], config)
        found += _arcs(parser.calibrated(held_out), held_out)
        watch(fold + 1)
    return sorted(found, key=lambda suspect: suspect.probability)


def _arcs(parser: Parser, gold: Iterable[Sentence]) -> Iterator[Suspect]:
    sentences = list(gold)
    for sentence in sentences:
        for word, head in enumerate(sentence.heads[1:].tolist(), 1):
            if not 0 <= head <= len(sentence) or head == word:
                raise InputError(f"word {word} has no head in the sentence", sentence.place(word))
    for sentence, parsed in zip(sentences, parser.parse(sentences, ParseOptions(confidence=True)), strict=True):
        sure = parsed.confidence
        assert sure is not None
        assert sure.marginals is not None
        heads, parsed_heads = sentence.heads, parsed.sentence.heads
        for word in range(1, len(heads)):
            yield Suspect(
                sentence,
                word,
                float(sure.marginals[heads[word], word]),
                int(parsed_heads[word]),
                parsed.sentence.deprel[word - 1],
                float(sure.arcs[word]),
            )
