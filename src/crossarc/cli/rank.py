"""crossarc rank"""

from __future__ import annotations

import click

from crossarc.cli.common import FILES, json_option, load_with, print_json, print_table, progress
from crossarc.core import Sentence
from crossarc.io import read, write
from crossarc.parsers import Capability, Confidence, ParseOptions
from crossarc.pipeline.output import with_confidence


@click.command("rank")
@click.argument("file", type=FILES)
@click.option("-m", "--model", required=True, type=click.Path(), help="A model made by crossarc train.")
@click.option("-n", "--number", type=click.IntRange(1), default=20, show_default=True, help="Sentences in the table.")
@click.option("--per-word", is_flag=True, help="Rank by entropy for each word, so that long sentences are not first.")
@click.option("-o", "--output", type=FILES, help="Write all sentences there, parsed, in this order.")
@json_option
def command(file: str, model: str, number: int, per_word: bool, output: str | None, as_json: bool) -> None:
    """Sort the sentences of FILE by how unsure the parser is of them: what to annotate next.

    Entropy is that of all trees of a sentence, in nats: 0 if only one is likely, the logarithm of their number if all
    are alike. Beside it stand the log probability of the best tree and its least certain word. Missing tags and lemmas
    are filled in if the model has a tagger and a lemmatiser.
    """
    pipeline = load_with(Capability.DISTRIBUTION, model)
    parsed = pipeline.parse(progress(read(file), file), ParseOptions(confidence=True))
    found = [(one.sentence, one.confidence) for one in parsed if one.confidence is not None and len(one.sentence)]
    found.sort(key=lambda pair: -(pair[1].entropy or 0.0) / (len(pair[0]) if per_word else 1))
    if output:
        write((with_confidence(*pair) for pair in found), output)
    rows = [_row(*pair) for pair in found[:number]]
    if as_json:
        print_json(rows)
    elif not output or output != "-":
        print_table([list(row.values()) for row in rows], header=list(rows[0]) if rows else ["sentence"])


def _row(sentence: Sentence, sure: Confidence) -> dict[str, object]:
    assert sure.entropy is not None
    assert sure.log_probability is not None
    word = int(sure.arcs[1:].argmin()) + 1
    return {
        "sentence": sentence.sent_id or str(sentence.place()),
        "words": len(sentence),
        "entropy": round(sure.entropy, 4),
        "per word": round(sure.entropy / len(sentence), 4),
        "log p": round(sure.log_probability, 4),
        "least certain": f"{word} {sentence.form[word - 1]} ({sure.arcs[word]:.2f})",
    }
