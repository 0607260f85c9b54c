"""A model card: what somebody should know of a model before using it, made from the model itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crossarc.parsers.base import Capability
from crossarc.pipeline.pipeline import Pipeline

__all__ = ["model_card"]


def model_card(name: str, pipeline: Pipeline, header: Mapping[str, Any]) -> str:
    """The card of a model, in Markdown: what it does, its scores, data, licence, size, speed and known limits.

    Parameters
    ----------
    name : str
        By which it is loaded.
    pipeline : Pipeline
        The model.
    header : mapping
        Its header and size, as by ``crossarc.models.describe_model``.
    """
    about = header["about"]
    sections = [
        f"# {about.get('language') or name}: a model for Crossarc",
        f"```sh\npip install crossarc-{name}   # or the folder, or the wheel\n"
        f"crossarc parse {'notes.txt' if pipeline.segmenter else 'words.conllu'} -m {name}\n```",
        f'In Python, `crossarc.load("{name}")`.',
        _table(pipeline, header),
        "## Scores",
        *_scores(pipeline, about),
        "## Data and licence",
        f"Learnt from: {about.get('treebank') or 'unknown'}.",
        about.get("attribution", ""),
        f"Licence of the model: {about['licence']}.",
        "## Known limits",
        "\n".join(f"- {limit}" for limit in _limits(pipeline)),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _table(pipeline: Pipeline, header: Mapping[str, Any]) -> str:
    """What it is, in a few rows."""
    speed = header["about"].get("words_per_second")
    rows = {
        "components": ", ".join(pipeline.components),
        "parser": f"{pipeline.parser.system}{', which finds tags, too' if pipeline.parser.tagger else ''}",
        "labels": len(pipeline.parser.labels),
        "size": f"{header['bytes'] / 1e6:.1f} MB{', weights of one byte each' if header['quantized'] else ''}",
        "made": f"{header['created']}, by Crossarc {header['version']}",
    }
    if speed:
        start = "raw text" if pipeline.segmenter else "words"
        rows["speed"] = f"about {speed:,.0f} words a second on one core, from {start} to CoNLL-U, where it was made"
    return "\n".join(["| | |", "| --- | --- |", *(f"| {title} | {value} |" for title, value in rows.items())])


def _scores(pipeline: Pipeline, about: Mapping[str, Any]) -> Iterator[str]:
    scores, dev = about.get("scores"), pipeline.parser.dev
    if scores:
        columns = list(dict.fromkeys(column for own in scores.values() for column in own))
        yield "On the test set, F1 in per cent by the official scorer of the CoNLL 2018 shared task:"
        head = [f"| from | {' | '.join(columns)} |", f"| --- |{' ---: |' * len(columns)}"]
        yield "\n".join(head + [_row(start, own, columns) for start, own in scores.items()])
    elif dev is not None:
        yield (
            f"On the dev set, which the best epoch was chosen on: UAS {100 * dev.uas:.2f}, LAS {100 * dev.las:.2f}. "
            "There are no scores on a test set."
        )
    else:
        yield "None were measured."


def _row(start: str, scores: Mapping[str, float], columns: list[str]) -> str:
    cells = (f"{scores[column]:.2f}" if column in scores else "" for column in columns)
    return f"| {start} | {' | '.join(cells)} |"


def _limits(pipeline: Pipeline) -> Iterator[str]:
    """What it cannot do, and where it will be worse than its scores say."""
    parser = pipeline.parser
    yield "It is for text like that of its data: on other kinds of text, it makes more errors than the scores say."
    if pipeline.segmenter is None:
        yield "It reads CoNLL-U, not raw text: it has no segmenter."
    if not pipeline.finds_tags:
        yield "It gives no tags: it needs words that have them, as good as those of its data."
    if pipeline.lemmatizer is None:
        yield "It gives no lemmas."
    if getattr(parser.config, "projective", None):
        yield "Its trees are projective: their arcs never cross."
    if Capability.GRAPHS not in parser.capabilities:
        yield "It gives trees, no graphs: DEPS stays as it is in the input."
    if not parser.knows_probabilities:
        yield "It knows no probabilities."
