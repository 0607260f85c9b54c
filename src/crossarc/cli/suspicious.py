"""crossarc suspicious"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from crossarc.cli.common import FILES, json_option, load_with, print_json, print_table, read_sentences
from crossarc.cli.messages import log
from crossarc.core import CrossarcError, Sentence
from crossarc.parsers import Capability
from crossarc.parsers.suspicious import KINDS, Kind, Suspect, check_heads, cross_validated_suspects, suspects
from crossarc.trees.shape import is_tree


@click.command("suspicious")
@click.argument("gold", type=FILES)
@click.option("-m", "--model", type=click.Path(), help="A model that was not trained on GOLD.")
@click.option(
    "--folds",
    type=click.IntRange(2),
    help="Without a model: train on all but one part of GOLD and judge that part, for each of so many parts.",
)
@click.option(
    "--only",
    type=click.Choice(KINDS),
    multiple=True,
    help="Look at heads, labels or tags only; may be given twice.  [default: all of them]",
)
@click.option("-n", "--number", type=click.IntRange(1), default=50, show_default=True, help="Words to list.")
@json_option
def command(gold: str, model: str | None, folds: int | None, only: Sequence[Kind], number: int, as_json: bool) -> None:
    """List the words of GOLD whose head, label or tag is least likely: annotation errors come first.

    A label is judged given its head; tags (UPOS) if the model has a tagger. Give a model that was not trained on GOLD,
    or let --folds 5 train five of them (with --learner crf) by cross-validation. Missing tags and lemmas are filled in
    if the model has a tagger and a lemmatizer.
    """
    if (model is None) == (folds is None):
        raise click.UsageError("give either --model or --folds")
    kinds = only or KINDS
    if model is not None:
        found = _by_model(gold, model, kinds, asked=bool(only))
    else:
        assert folds is not None
        found = _by_folds(gold, folds, kinds)
    listed = found[:number]
    if as_json:
        print_json([_fields(suspect) for suspect in listed])
    else:
        header = ["place", "word", "head", "unlikely", "probability", "the parser's head"]
        print_table([_row(suspect) for suspect in listed], header=header)


def _by_model(gold: str, model: str, kinds: Sequence[Kind], *, asked: bool) -> list[Suspect]:
    from crossarc.text.tag_probabilities import upos_probabilities

    pipeline = load_with(Capability.DISTRIBUTION, model)
    sentences = list(read_sentences(gold))
    tags = None
    if "tag" in kinds and pipeline.tagger is not None:
        tags = upos_probabilities(pipeline.tagger, sentences) if sentences else []
    elif asked and "tag" in kinds:
        raise CrossarcError(f"{model}: no tagger, so it cannot judge tags (see crossarc train --with)")
    return suspects(pipeline.parser, pipeline.annotate(sentences), kinds=kinds, tags=tags)


def _by_folds(gold: str, folds: int, kinds: Sequence[Kind]) -> list[Suspect]:
    if list(kinds) == ["tag"]:
        raise click.UsageError("--only tag needs a model with a tagger")
    sentences = list(read_sentences(gold))
    check_heads(sentences)
    cyclic = sum(not is_tree(sentence.heads) for sentence in sentences)
    if len(sentences) - cyclic < folds:
        raise CrossarcError(f"{gold}: {len(sentences) - cyclic} sentences cannot be split into {folds} parts")
    if cyclic:
        count = "1 sentence has a cycle" if cyclic == 1 else f"{cyclic} sentences have cycles"
        log.info("%s: judged, but not learnt from", count)

    def watch(fold: int) -> None:
        log.info("part %d of %d judged", fold, folds)

    return cross_validated_suspects(sentences, folds, kinds=kinds, watch=watch)


def _fields(suspect: Suspect) -> dict[str, Any]:
    sentence, word = suspect.sentence, suspect.word
    place = sentence.place(word)
    return {
        "sent_id": sentence.sent_id,
        "file": place.path,
        "line": place.line,
        "word": word,
        "form": sentence.form[word - 1],
        "tag": sentence.upos[word - 1],
        "head": int(sentence.head[word - 1]),
        "label": sentence.deprel[word - 1],
        "unlikely": suspect.kind,
        "probability": suspect.probability,
        "parsed_head": suspect.parsed_head,
        "parsed_label": suspect.parsed_label,
        "parsed_probability": suspect.parsed_probability,
    }


def _row(suspect: Suspect) -> list[object]:
    sentence, word = suspect.sentence, suspect.word
    tag = f" {sentence.upos[word - 1]}" if suspect.kind == "tag" else ""
    return [
        str(sentence.place(word)),
        _node(sentence, word) + tag,
        f"{_node(sentence, int(sentence.head[word - 1]))} {sentence.deprel[word - 1]}",
        suspect.kind,
        f"{suspect.probability:.2g}",
        f"{_node(sentence, suspect.parsed_head)} {suspect.parsed_label} ({suspect.parsed_probability:.2f})",
    ]


def _node(sentence: Sentence, node: int) -> str:
    return f"{node} {sentence.form[node - 1]}" if node else "0 root"
