"""crossarc lm"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import tee
from math import exp
from typing import Any, NamedTuple

import click

from crossarc.cli.common import FILES, input_option, json_option, load_with, print_json, print_table, read_for
from crossarc.core import CrossarcError, Sentence
from crossarc.io import read
from crossarc.parsers import Capability
from crossarc.parsers.base import batches
from crossarc.parsers.generative.ngram import NGram, fitted_weight, mixed
from crossarc.pipeline import Pipeline
from crossarc.pipeline.chunks import Input

_ORDER = 3  # of the n-gram model
_BATCH = 64  # sentences that are tagged together


class Scored(NamedTuple):
    """The sentences of a file, and how probable they are."""

    names: list[str | None]
    words: list[int]
    ours: list[float]  # log-probabilities by the model
    theirs: list[float]  # by the n-gram model; empty if there is none

    def perplexity(self, log_p: list[float]) -> float:
        return exp(-sum(log_p) / sum(self.words))


@click.command("lm")
@click.argument("file", type=FILES)
@click.option("-m", "--model", required=True, type=click.Path(), help="Made by crossarc train --system generative.")
@click.option(
    "--ngram",
    type=FILES,
    metavar="FILE",
    help="Sentences to learn an n-gram model from, which the model is then interpolated with (needs NLTK).",
)
@click.option("--order", type=click.IntRange(1), help="With --ngram: the n of the n-gram model.  [default: 3]")
@click.option(
    "--dev", type=FILES, metavar="FILE", help="With --ngram: sentences that the weight of MODEL is fitted on."
)
@click.option(
    "--weight",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="With --ngram, instead of --dev: the weight of MODEL.",
)
@input_option
@json_option
def command(
    file: str,
    model: str,
    ngram: str | None,
    order: int | None,
    dev: str | None,
    weight: float | None,
    read_as: Input | None,
    as_json: bool,
) -> None:
    """The probability of the sentences of FILE under MODEL, a language model that sums over all their trees.

    Prints log p(x | n) for each sentence (natural logarithm; the length n is given), or log p(x) if the model was
    trained with --stop; then the perplexity per word. With --ngram, p(x) is w times that of MODEL plus 1 - w times that
    of an n-gram model of the same symbols; w is the weight under which the sentences of --dev are most probable, so
    that the mixture is no worse there than either of its parts.
    """
    if ngram and (dev is None) == (weight is None):
        raise click.UsageError("--ngram needs either --dev FILE, to fit the weight on, or --weight")
    of_ngrams = {"--dev": dev, "--weight": weight, "--order": order}
    if not ngram and (given := [name for name, value in of_ngrams.items() if value is not None]):
        raise click.UsageError(f"{given[0]} has no effect here: only with --ngram")
    order = order or _ORDER
    pipeline = load_with(Capability.LANGUAGE_MODEL, model)
    parser: Any = pipeline.parser
    parser.log_probabilities([])  # refuses models that have none
    other = _ngram(parser, ngram, order) if ngram else None
    if dev:
        fitting = _scored(pipeline, other, dev)
        weight = fitted_weight(fitting.ours, fitting.theirs)
    _print(parser, _scored(pipeline, other, file, read_as), order, weight, as_json)


def _annotated(pipeline: Pipeline, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """The sentences with tags, where they have none and the model has a tagger."""
    return (sentence for batch in batches(sentences, _BATCH) for sentence in pipeline.annotate(batch))


def _ngram(parser: Any, file: str, order: int) -> NGram:
    sentences = (parser.symbols.encode(sentence)[0] for sentence in read(file))
    return NGram(sentences, len(parser.symbols), order=order, ends=parser.config.stop)


def _scored(pipeline: Pipeline, other: NGram | None, file: str, read_as: Input | None = None) -> Scored:
    parser: Any = pipeline.parser
    found = Scored([], [], [], [])
    sentences, again = tee(_annotated(pipeline, read_for(pipeline, file, read_as)))
    for sentence, log_p in zip(again, parser.log_probabilities(sentences), strict=True):
        found.names.append(sentence.sent_id)
        found.words.append(len(sentence))
        found.ours.append(log_p)
        if other is not None:
            found.theirs.append(other.log_probability(parser.symbols.encode(sentence)[0]))
    if not sum(found.words):
        raise CrossarcError(f"{file}: no words, and so no perplexity")
    return found


def _print(parser: Any, found: Scored, order: int, weight: float | None, as_json: bool) -> None:
    log_p = found.ours if weight is None else mixed(found.ours, found.theirs, weight)
    total: dict[str, Any] = {"words": sum(found.words), "log_p": sum(log_p), "perplexity": found.perplexity(log_p)}
    if weight is not None:
        parts = {"model": found.perplexity(found.ours), "ngram": found.perplexity(found.theirs)}
        total |= {"weight": weight, "perplexity_of_parts": parts}
    sentences = list(zip(found.names, found.words, log_p, strict=True))
    if as_json:
        rows = [dict(zip(("sentence", "words", "log_p"), sentence, strict=True)) for sentence in sentences]
        print_json({"symbols": parser.config.symbols, "stop": parser.config.stop, **total, "sentences": rows})
        return
    named = [(name or f"({i})", *rest) for i, (name, *rest) in enumerate(sentences, 1)]
    header = ("sentence", "words", "log p(x)" if parser.config.stop else "log p(x | n)")
    print_table([*named, ("all", total["words"], total["log_p"])], header=header)
    click.echo(f"perplexity {total['perplexity']:.3f} for each word, as {parser.config.symbols}")
    if weight is not None:
        ours, theirs = f"{weight:.3f} of the model ({parts['model']:.3f})", f"{1 - weight:.3f} of {order}-grams"
        click.echo(f"mixed: {ours}, {theirs} ({parts['ngram']:.3f})")
