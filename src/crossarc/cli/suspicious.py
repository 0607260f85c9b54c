"""crossarc suspicious"""

from __future__ import annotations

import click

from crossarc.cli.common import FILES, json_option, load_with, print_json, print_table, progress, read_trees
from crossarc.core import CrossarcError, Sentence
from crossarc.io import read
from crossarc.parsers import Capability
from crossarc.parsers.suspicious import Suspect, cross_validated_suspects, suspects


@click.command("suspicious")
@click.argument("gold", type=FILES)
@click.option("-m", "--model", type=click.Path(), help="A model that was not trained on GOLD.")
@click.option(
    "--folds",
    type=click.IntRange(2),
    help="Without a model: train on all but one part of GOLD and judge that part, for each of so many parts.",
)
@click.option("-n", "--number", type=click.IntRange(1), default=50, show_default=True, help="Arcs to list.")
@json_option
def command(gold: str, model: str | None, folds: int | None, number: int, as_json: bool) -> None:
    """List the arcs of GOLD that are least likely: annotation errors come first.

    Give a model (of crossarc train) that has not seen GOLD, or let --folds 5 train some by cross-validation, which
    takes as many trainings of --learner crf. Missing tags and lemmas are filled in if the model has a tagger and a
    lemmatiser.
    """
    if (model is None) == (folds is None):
        raise click.UsageError("give either --model or --folds")
    if model is not None:
        pipeline = load_with(Capability.DISTRIBUTION, model)
        found = suspects(pipeline.parser, progress(pipeline.annotate(read(gold)), gold))
    else:
        assert folds is not None
        trees = list(read_trees(gold))
        if len(trees) < folds:
            raise CrossarcError(f"{gold}: {len(trees)} sentences cannot be parted in {folds}")
        found = cross_validated_suspects(
            trees, folds, watch=lambda fold: click.echo(f"crossarc: part {fold} of {folds} judged", err=True)
        )
    rows = [_row(suspect) for suspect in found[:number]]
    if as_json:
        print_json(rows)
    else:
        print_table([list(row.values()) for row in rows], header=list(rows[0]) if rows else ["place"])


def _row(suspect: Suspect) -> dict[str, object]:
    sentence, word = suspect.sentence, suspect.word
    parsed = f"{_node(sentence, suspect.parsed_head)} {suspect.parsed_label} ({suspect.parsed_probability:.2f})"
    return {
        "place": str(sentence.place(word)),
        "word": _node(sentence, word),
        "head": f"{_node(sentence, int(sentence.head[word - 1]))} {sentence.deprel[word - 1]}",
        "probability": f"{suspect.probability:.2g}",
        "the parser's head": parsed,
    }


def _node(sentence: Sentence, node: int) -> str:
    return f"{node} {sentence.form[node - 1]}" if node else "0 root"
