"""Trees as the dictionaries that displaCy draws, spaCy's or that of a web page; no library is needed."""

from __future__ import annotations

from typing import Any

from crossarc.core import CrossarcError, Sentence

__all__ = ["drawing_of", "sentence_of"]


def drawing_of(sentence: Sentence) -> dict[str, Any]:
    """Words and arcs, for ``displacy.render(..., style="dep", manual=True)``. The root has no arc there.

    >>> s = Sentence.of(["She", "left"], upos=["PRON", "VERB"]).with_tree([-1, 2, 0], ["_", "nsubj", "root"])
    >>> drawing_of(s)["arcs"]
    [{'start': 0, 'end': 1, 'label': 'nsubj', 'dir': 'left'}]
    """
    words = [{"text": word.form, "tag": word.upos, "lemma": word.lemma} for word in sentence]
    arcs = [_arc(word.id - 1, word.head.id - 1, word.deprel) for word in sentence if word.head is not None]
    return {"words": words, "arcs": arcs, "settings": {}}


def _arc(word: int, head: int, label: str) -> dict[str, Any]:
    return {
        "start": min(word, head),
        "end": max(word, head),
        "label": label,
        "dir": "left" if word < head else "right",
    }


def sentence_of(drawing: dict[str, Any]) -> Sentence:
    """The sentence of such a drawing: words without an arc are roots.

    Raises ``CrossarcError`` for a word with two heads, and for arcs between words that are not there.
    """
    words = drawing["words"]
    heads, labels = [-1, *[0] * len(words)], ["_", *["root"] * len(words)]
    for arc in drawing["arcs"]:
        start, end = arc["start"] + 1, arc["end"] + 1
        word, head = (start, end) if arc["dir"] == "left" else (end, start)
        if not (1 <= start < end <= len(words)) or heads[word]:
            raise CrossarcError(f"no arc of a tree over {len(words)} words: {arc}")
        heads[word], labels[word] = head, arc["label"]
    columns = {
        "upos": [word.get("tag") or "_" for word in words],
        "lemma": [word.get("lemma") or "_" for word in words],
    }
    return Sentence.of([word["text"] for word in words], **columns).with_tree(heads, labels)
