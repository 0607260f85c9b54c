"""crossarc lm"""

from __future__ import annotations

from itertools import tee
from math import exp, log
from typing import Any

import click
import numpy as np

from crossarc.cli.common import FILES, json_option, load_with, print_json, print_table, progress
from crossarc.core import CrossarcError
from crossarc.io import read
from crossarc.parsers import Capability
from crossarc.parsers.generative.ngram import NGram


@click.command("lm")
@click.argument("file", type=FILES)
@click.option("-m", "--model", required=True, type=click.Path(), help="Made by crossarc train --system generative.")
@click.option(
    "--ngram",
    type=FILES,
    metavar="FILE",
    help="Sentences to learn an n-gram model from, which the model is then interpolated with (needs NLTK).",
)
@click.option("--order", type=click.IntRange(1), default=3, show_default=True, help="The n of the n-gram model.")
@click.option(
    "--weight",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    help="Of MODEL, beside the n-gram model.",
)
@json_option
def command(file: str, model: str, ngram: str | None, order: int, weight: float, as_json: bool) -> None:
    """How probable the sentences of FILE are by MODEL, a language model over all their trees.

    For each sentence log p(x | n), to base e: its length n is given; by a model that was trained with --stop, log p(x).
    Then the perplexity for each word. With --ngram, p(x) is WEIGHT times that of MODEL plus 1 - WEIGHT times that of
    an n-gram model of the same symbols.
    """
    parser: Any = load_with(Capability.LANGUAGE_MODEL, model).parser
    other = _ngram(parser, ngram, order) if ngram else None
    found: list[dict[str, Any]] = []
    sentences, again = tee(progress(read(file), file))
    for sentence, log_p in zip(again, parser.log_probabilities(sentences), strict=True):
        if other is not None:
            theirs = other.log_probability(parser.symbols.encode(sentence)[0])
            log_p = float(np.logaddexp(log(weight) + log_p, log(1 - weight) + theirs))
        found.append({"sentence": sentence.sent_id, "words": len(sentence), "log_p": log_p})
    _print(parser, found, as_json)


def _ngram(parser: Any, file: str, order: int) -> NGram:
    if parser.config.stop and not parser.config.projective:
        raise CrossarcError("a model with --stop and --nonprojective is one of unordered words: not with --ngram")
    sentences = (parser.symbols.encode(sentence)[0] for sentence in read(file))
    return NGram(sentences, len(parser.symbols), order=order, ends=parser.config.stop)


def _print(parser: Any, found: list[dict[str, Any]], as_json: bool) -> None:
    words, log_p = sum(one["words"] for one in found), sum(one["log_p"] for one in found)
    if not words:
        raise CrossarcError("no words, and so no perplexity")
    total = {"words": words, "log_p": log_p, "perplexity": exp(-log_p / words)}
    if as_json:
        print_json({"symbols": parser.config.symbols, "stop": parser.config.stop, **total, "sentences": found})
        return
    rows = [(one["sentence"] or f"({i})", one["words"], one["log_p"]) for i, one in enumerate(found, 1)]
    name = "log p(x)" if parser.config.stop else "log p(x | n)"
    print_table([*rows, ("all", words, log_p)], header=("sentence", "words", name))
    click.echo(f"perplexity {total['perplexity']:.3f} for each word, as {parser.config.symbols}")
