"""crossarc rank"""

from __future__ import annotations

from typing import Any

import click

from crossarc.cli.common import (
    FILES,
    input_option,
    json_option,
    load_with,
    model_option,
    print_json,
    print_table,
    read_for,
)
from crossarc.core import Sentence
from crossarc.io import write
from crossarc.parsers import Capability, Confidence, ParseOptions
from crossarc.pipeline.chunks import Input
from crossarc.pipeline.output import with_confidence
from crossarc.text import text_of

_NUMBER = 20  # sentences in the table
_SHOWN = 60  # characters of a sentence in the table


@click.command("rank")
@click.argument("file", type=FILES)
@model_option
@click.option("-n", "--number", type=click.IntRange(1), help="Sentences in the table.  [default: 20]")
@click.option("--per-word", is_flag=True, help="Rank by entropy for each word, so that long sentences are not first.")
@click.option("-o", "--output", type=FILES, help="Write all sentences there, parsed, in this order.")
@input_option
@json_option
def command(
    file: str,
    model: str,
    number: int | None,
    per_word: bool,
    output: str | None,
    read_as: Input | None,
    as_json: bool,
) -> None:
    """Sort the sentences of FILE, a treebank or raw text, by how unsure the parser is of them: what to annotate next.

    Entropy is that of the distribution over all trees of a sentence, in nats: 0 if one tree has all the probability,
    the logarithm of their number if all are equally likely. The table also has the log probability of the best tree
    and its least certain word. Missing tags and lemmas are filled in if the model has a tagger and a lemmatizer.
    """
    if output == "-" and (number or as_json):
        raise click.UsageError(f"{'--json' if as_json else '-n'} is for the table, which -o - leaves out")
    pipeline = load_with(Capability.DISTRIBUTION, model)
    parsed = pipeline.parse(read_for(pipeline, file, read_as), ParseOptions(confidence=True))
    found = [(one.sentence, one.confidence) for one in parsed if one.confidence is not None and len(one.sentence)]
    found.sort(key=lambda pair: -(pair[1].entropy or 0.0) / (len(pair[0]) if per_word else 1))
    if output:
        write((with_confidence(*pair) for pair in found), output)
    rows = [_data(*pair) for pair in found[: number or _NUMBER]]
    if as_json:
        print_json(rows)
    elif output != "-":
        header = ["sentence", "words", "entropy", "per word", "log p", "least certain", "text"]
        print_table([_cells(row) for row in rows], header=header, left=["text"])


def _data(sentence: Sentence, sure: Confidence) -> dict[str, Any]:
    assert sure.entropy is not None
    assert sure.log_probability is not None
    place, word = sentence.place(), int(sure.arcs[1:].argmin()) + 1
    return {
        "sent_id": sentence.sent_id,
        "file": place.path,
        "line": place.line,
        "text": sentence.metadata("text") or text_of([sentence]).strip(),
        "words": len(sentence),
        "entropy": round(sure.entropy, 4),
        "entropy_per_word": round(sure.entropy / len(sentence), 4),
        "log_probability": round(sure.log_probability, 4),
        "least_certain": {
            "word": word,
            "form": sentence.form[word - 1],
            "head": int(sentence.head[word - 1]),
            "label": sentence.deprel[word - 1],
            "probability": round(float(sure.arcs[word]), 4),
        },
    }


def _cells(row: dict[str, Any]) -> list[object]:
    least = row["least_certain"]
    numbers = [f"{row[name]:.4f}" for name in ("entropy", "entropy_per_word", "log_probability")]
    certain = f"{least['word']} {least['form']} ({least['probability']:.2f})"
    text = row["text"] if len(row["text"]) <= _SHOWN else row["text"][: _SHOWN - 1] + "…"
    return [row["sent_id"] or f"{row['file']}:{row['line']}", row["words"], *numbers, certain, text]
