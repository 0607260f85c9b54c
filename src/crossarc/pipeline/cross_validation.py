"""Cross-validation: every part of a treebank is parsed by a model that was trained on the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from crossarc.core import CrossarcError, Sentence
from crossarc.parsers.config import Config
from crossarc.parsers.folds import folds_of
from crossarc.parsers.registry import train
from crossarc.pipeline.pipeline import Pipeline
from crossarc.pipeline.processes import in_processes
from crossarc.pipeline.training import train_components
from crossarc.text import raw_text

__all__ = ["Source", "cross_parsed"]

Source = Literal["gold", "words", "text"]  # what the parser starts from: gold words and tags, gold words, raw text

_COMPONENTS: dict[Source, list[str]] = {
    "gold": [],
    "words": ["tagger", "lemmatizer"],
    "text": ["segmenter", "tagger", "lemmatizer"],
}


def cross_parsed(
    treebank: Sequence[Sentence], config: Config, folds: int, *, source: Source = "gold", jobs: int = 1
) -> Iterator[list[Sentence]]:
    """The sentences of each fold, parsed by a model that was trained on all others.

    With ``source="words"`` a tagger and a lemmatizer are trained as well, and a segmenter with ``"text"``. With
    ``jobs`` above 1, folds are done side by side in so many processes.
    """
    if folds > len(treebank):
        raise CrossarcError(f"{folds} folds of {len(treebank)} sentences: there must be a sentence in each")
    parts = folds_of(len(treebank), folds)
    if jobs > 1:
        arguments = (list(treebank), config, source)
        return in_processes(_parse_fold, iter(parts), min(jobs, folds), start=_start, arguments=arguments)
    return (_parsed(treebank, part, config, source) for part in parts)


def _parsed(treebank: Sequence[Sentence], part: range, config: Config, source: Source) -> list[Sentence]:
    """The sentences of a part, by a model of the rest."""
    rest = [sentence for i, sentence in enumerate(treebank) if i not in part]
    names = _COMPONENTS[source]
    own = config.beside(names)
    seed = getattr(config, "seed", 1)
    annotated = train_components(rest, names, seed=seed, parser_tags=own.finds_tags)
    model = Pipeline(train(annotated.treebank, own), **annotated.components)
    return _from(source, model, [treebank[i] for i in part])


def _from(source: Source, model: Pipeline, gold: Sequence[Sentence]) -> list[Sentence]:
    """What the model makes of sentences, or of their text; it never sees their trees."""
    if source == "text":
        return model(raw_text(gold))
    if source == "gold":
        return list(model.trees(map(_without_tree, gold)))
    found = model.trees((Sentence.of(sentence.form) for sentence in gold), retag=True)
    return [Sentence(own.columns, old.comments, old.inserts) for own, old in zip(found, gold, strict=True)]


def _without_tree(sentence: Sentence) -> Sentence:
    nothing = ["_"] * len(sentence)
    return sentence.with_columns(head=nothing, deprel=nothing, deps=nothing)


_work: tuple[Sequence[Sentence], Config, Source]  # of this process


def _start(treebank: Sequence[Sentence], config: Config, source: Source) -> None:
    global _work
    _work = treebank, config, source


def _parse_fold(part: range) -> list[Sentence]:
    treebank, config, source = _work
    return _parsed(treebank, part, config, source)
