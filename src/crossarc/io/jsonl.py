"""JSON Lines, for other programs: one object for each sentence. Only written."""

from __future__ import annotations

import json
from typing import Any

from crossarc.core import Row, Sentence

__all__ = ["format_sentence"]


def format_sentence(sentence: Sentence) -> str:
    """The line of a sentence, with all that CoNLL-U has: numbers are numbers, and what is unknown is null.

    >>> print(format_sentence(Sentence.of(["Go"], upos=["VERB"], head=["0"], feats=["Mood=Imp"])), end="")
    {"sent_id": null, "text": "Go", "comments": [], "words": [{"id": 1, "form": "Go", "lemma": null, "upos": "VERB",
    "xpos": null, "feats": {"Mood": "Imp"}, "head": 0, "deprel": null, "deps": null, "misc": {}}], "tokens": [],
    "empty_nodes": []}
    """
    tokens = [insert for insert in sentence.inserts if not insert.is_empty_node]
    data = {
        "sent_id": sentence.sent_id,
        "text": sentence.metadata("text") or " ".join(sentence.form),
        "comments": [comment.removeprefix("#").strip() for comment in sentence.comments],
        "words": [{"id": number, **_columns(word.row)} for number, word in enumerate(sentence, 1)],
        "tokens": [
            {"first": token.span[0], "last": token.span[-1], "form": token.row.form, "misc": _items(token.row.misc)}
            for token in tokens
        ],
        "empty_nodes": [
            {"id": insert.row.id, **_columns(insert.row)} for insert in sentence.inserts if insert.is_empty_node
        ],
    }
    return json.dumps(data, ensure_ascii=False) + "\n"


def _columns(row: Row) -> dict[str, Any]:
    """All columns but the first."""
    return {
        "form": row.form,
        "lemma": None if row.lemma == "_" != row.form else row.lemma,
        "upos": _known(row.upos),
        "xpos": _known(row.xpos),
        "feats": _items(row.feats),
        "head": None if row.head == "_" else int(row.head),
        "deprel": _known(row.deprel),
        "deps": _known(row.deps),
        "misc": _items(row.misc),
    }


def _known(value: str) -> str | None:
    return None if value == "_" else value


def _items(column: str) -> dict[str, str | None]:
    """FEATS or MISC, ``name=value|...``; null for what has no value."""
    if column == "_":
        return {}
    parts = (item.partition("=") for item in column.split("|"))
    return {name: value if equals else None for name, equals, value in parts}
