"""Gold arcs that a parser finds unlikely: annotation errors are among the first of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from crossarc.core import InputError, Sentence
from crossarc.parsers.spanning_tree.config import PRESETS
from crossarc.parsers.spanning_tree.parser import SpanningTreeParser
from crossarc.parsers.spanning_tree.probabilities import analyse, fitted_temperatures
from crossarc.parsers.spanning_tree.training import train_spanning_tree
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


def suspects(parser: SpanningTreeParser, gold: Iterable[Sentence]) -> list[Suspect]:
    """All gold arcs, the least likely first. Heads need not make trees, but every word must have one."""
    return sorted(_arcs(parser, gold), key=lambda suspect: suspect.probability)


def cross_validated_suspects(
    gold: Sequence[Sentence], folds: int, *, seed: int = 1, watch: Callable[[int], None] = lambda fold: None
) -> list[Suspect]:
    """The same, each part of the treebank judged by a log-linear parser that was trained on all others."""
    config = replace(with_treebank_defaults(gold, PRESETS["ms2007"]), epochs=6, patience=0, seed=seed)
    found: list[Suspect] = []
    for fold in range(folds):
        held_out = gold[fold::folds]
        parser = train_spanning_tree([s for i, s in enumerate(gold) if i % folds != fold], config)
        parser = replace(parser, temperatures=fitted_temperatures(parser, held_out))
        found += _arcs(parser, held_out)
        watch(fold + 1)
    return sorted(found, key=lambda suspect: suspect.probability)


def _arcs(parser: SpanningTreeParser, gold: Iterable[Sentence]) -> Iterator[Suspect]:
    sentences = list(gold)
    for sentence in sentences:
        for word, head in enumerate(sentence.heads[1:].tolist(), 1):
            if not 0 <= head <= len(sentence) or head == word:
                raise InputError(f"word {word} has no head in the sentence", sentence.place(word))
    for sentence, analysis in zip(sentences, analyse(parser, sentences), strict=True):
        parsed = analysis.sentence
        heads, parsed_heads = sentence.heads, parsed.heads
        for word in range(1, len(heads)):
            yield Suspect(
                sentence,
                word,
                float(analysis.marginals[heads[word], word]),
                int(parsed_heads[word]),
                parsed.deprel[word - 1],
                float(analysis.arcs[word]),
            )
