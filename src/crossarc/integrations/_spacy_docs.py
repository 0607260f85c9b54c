"""Trees written into spaCy's documents, and sentences read from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy import attrs
from spacy.parts_of_speech import IDS
from spacy.symbols import SPACE

from crossarc.core import Sentence
from crossarc.text.offsets import Piece

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

__all__ = ["Place", "annotate", "highest_word", "places_of_tokens", "retokenize", "sentence_of"]

_COLUMNS = [attrs.HEAD, attrs.DEP, attrs.POS, attrs.TAG, attrs.LEMMA, attrs.MORPH]


class Place(NamedTuple):
    """A token of a document and the words of a sentence that it stands for."""

    token: int
    words: range


def sentence_of(span: Span, *, with_tree: bool = True) -> tuple[Sentence, list[Place]]:
    """The words of a span, which are its tokens but for white space, and where they stand.

    Arcs that leave the span are unknown. The label ROOT of spaCy's own parsers is root, as in all treebanks.
    """
    tokens = [token for token in span if not token.is_space]
    number = {token.i: word for word, token in enumerate(tokens, 1)}
    columns = {"misc": ["_" if token.whitespace_ else "SpaceAfter=No" for token in tokens]}
    if with_tree:
        columns |= {
            "lemma": [token.lemma_ or "_" for token in tokens],
            "upos": [token.pos_ or "_" for token in tokens],
            "xpos": [token.tag_ or "_" for token in tokens],
            "feats": [str(token.morph) or "_" for token in tokens],
            "head": ["0" if t.head == t else str(number.get(t.head.i, "_")) if t.has_head() else "_" for t in tokens],
            "deprel": ["root" if token.dep_ == "ROOT" else token.dep_ or "_" for token in tokens],
        }
    places = [Place(token.i, range(word, word + 1)) for word, token in enumerate(tokens, 1)]
    return Sentence.of([token.text for token in tokens], **columns), places


def retokenize(doc: Doc, pieces: Iterable[Piece]) -> None:
    """Cut the document, in place, so that each piece is a token. White space between them stays as it is."""
    pieces = list(pieces)
    edges = {edge for piece in pieces for edge in piece[:2]}
    with doc.retokenize() as retokenizer:
        for token in doc:
            cuts = [0, *(i for i in range(1, len(token)) if token.idx + i in edges), len(token)]
            if len(cuts) > 2:
                parts = [token.text[a:b] for a, b in pairwise(cuts)]
                retokenizer.split(token, parts, heads=[(token, 0)] * len(parts))
    with doc.retokenize() as retokenizer:
        for piece in pieces:
            span = doc.char_span(piece.start, piece.end)
            if len(span) > 1:
                retokenizer.merge(span)


def places_of_tokens(doc: Doc, pieces: Sequence[Piece]) -> list[Place]:
    """Which tokens the pieces are, after ``retokenize``."""
    at = {token.idx: token.i for token in doc}
    return [Place(at[piece.start], piece.words) for piece in pieces]


def annotate(doc: Doc, found: Sequence[tuple[Sentence, Sequence[Place]]]) -> None:
    """Write trees, tags, lemmas and sentence starts into the document."""
    values = doc.to_array(_COLUMNS).reshape(len(doc), len(_COLUMNS))
    starts = np.full(len(doc), -1, dtype=np.int64)
    starts[:1] = 1
    for number, (sentence, places) in enumerate(found):
        for place, row in zip(places, _rows(doc, sentence, places), strict=True):
            values[place.token] = row
        if number:  # white space before the first sentence is a part of it
            starts[places[0].token] = 1
    _attach_space(doc, values)
    doc.from_array(_COLUMNS, values)
    doc.from_array([attrs.SENT_START], starts.astype(np.uint64).reshape(-1, 1))


def _rows(doc: Doc, sentence: Sentence, places: Sequence[Place]) -> list[list[int]]:
    token_of = {word: place.token for place in places for word in place.words}
    add = doc.vocab.strings.add
    rows = []
    for place in places:
        word = sentence[highest_word(sentence, place.words)]
        head = 0 if word.head is None else token_of[word.head.id] - place.token
        lemma = " ".join(sentence.lemma[i - 1] for i in place.words)
        feats = sentence.feats[word.id - 1]
        rows.append(
            [
                head & 0xFFFFFFFFFFFFFFFF,
                add(_known(word.deprel)),
                IDS.get(word.upos, 0),
                add(_known(word.xpos)),
                add(lemma if set(lemma) - set("_ ") else ""),
                doc.vocab.morphology.add(_known(feats)),
            ]
        )
    return rows


def highest_word(sentence: Sentence, words: range) -> int:
    """The first of the words whose head is none of them: what a multiword token is in the tree."""
    return next((word for word in words if int(sentence.heads[word]) not in words), words[0])


def _known(value: str) -> str:
    return "" if value == "_" else value


def _attach_space(doc: Doc, values: NDArray[np.uint64]) -> None:
    """White space hangs on the token before it, as in spaCy's own trees; at the start of a document, on the next."""
    for token in doc:
        if token.is_space:
            head = -1 if token.i else int(len(doc) > 1)
            pos, tag = int(SPACE), doc.vocab.strings.add("_SP")
            lemma, none = doc.vocab.strings.add(token.text), doc.vocab.morphology.add("")
            values[token.i] = [head & 0xFFFFFFFFFFFFFFFF, doc.vocab.strings.add("dep"), pos, tag, lemma, none]
