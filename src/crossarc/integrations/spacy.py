"""A component of spaCy pipelines: ``nlp.add_pipe("crossarc", config={"model": "en"})``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Token

from crossarc.core import CrossarcError, Sentence
from crossarc.integrations._spacy_docs import (
    Place,
    annotate,
    highest_word,
    places_of_tokens,
    retokenize,
    sentence_of,
)
from crossarc.parsers import Parsed, ParseOptions
from crossarc.pipeline import Pipeline, load
from crossarc.text.offsets import pieces_of

__all__ = ["CrossarcComponent", "make_component", "sentences_of"]

Cut = list[tuple[Sentence, list[Place]]]

_FILE = "model.crossarc"
_EXTENSIONS: dict[str, Any] = {"arc_probability": None, "label_probability": None, "words": []}

for _name, _default in _EXTENSIONS.items():
    Token.set_extension(_name, default=_default, force=True)


@Language.factory(
    "crossarc",
    assigns=["token.dep", "token.head", "token.is_sent_start", "token.pos", "token.tag", "token.lemma", "token.morph"],
    default_config={"model": "en", "tokens": "model", "confidence": True},
)
def make_component(nlp: Language, name: str, model: str, tokens: str, confidence: bool) -> CrossarcComponent:
    """What ``nlp.add_pipe`` calls."""
    return CrossarcComponent(model, tokens, confidence=confidence)


class CrossarcComponent:
    """Trees, tags, lemmas and sentence starts from a Crossarc model.

    Parameters
    ----------
    model : a built-in model, or the path of a model file; it is loaded when it is first needed
    tokens : "model" or "spacy"
        Who decides what the tokens are: the model, if it has a segmenter (the document is cut anew, in place), or
        whatever came before. In the latter case sentence starts that are set already are kept.
    confidence : bool
        Whether the probabilities of arcs go to ``Token._.arc_probability`` and ``Token._.label_probability``, if the
        model knows them.
    """

    def __init__(self, model: str = "en", tokens: str = "model", *, confidence: bool = True) -> None:
        if tokens not in ("model", "spacy"):
            raise CrossarcError(f'tokens is {tokens!r}: it must be "model" or "spacy"')
        self.model = model
        self.tokens = tokens
        self.confidence = confidence

    @cached_property
    def pipeline(self) -> Pipeline:
        """The model."""
        return load(self.model)

    @property
    def _options(self) -> ParseOptions:
        return ParseOptions(confidence=self.confidence and self.pipeline.parser.knows_probabilities)

    def __call__(self, doc: Doc) -> Doc:
        """Annotate a document, in place."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Annotate documents; the sentences of a batch are parsed together."""
        for docs in spacy.util.minibatch(stream, batch_size):
            cut = [self._cut(doc) for doc in docs]
            parsed = self.pipeline.parse((sentence for own in cut for sentence, _ in own), self._options)
            for doc, own in zip(docs, cut, strict=True):
                self._write(doc, [(next(parsed), places) for _, places in own])
                yield doc

    def _cut(self, doc: Doc) -> Cut:
        """The sentences of a document, and its tokens."""
        if self.pipeline.segmenter is not None and self.tokens == "model":
            return self._cut_by_model(doc)
        if not doc.has_annotation("SENT_START"):
            self._start_sentences(doc)
        return [cut for cut in (sentence_of(span, with_tree=False) for span in doc.sents) if len(cut[0])]

    def _cut_by_model(self, doc: Doc) -> Cut:
        sentences = self.pipeline.segment(doc.text)
        pieces = list(pieces_of(sentences, doc.text))
        retokenize(doc, (piece for own in pieces for piece in own))
        return [(sentence, places_of_tokens(doc, own)) for sentence, own in zip(sentences, pieces, strict=True)]

    def _start_sentences(self, doc: Doc) -> None:
        """Sentences begin with the tokens in which the model begins one; without a segmenter, there is only one."""
        sentences = [] if self.pipeline.segmenter is None else self.pipeline.segment(doc.text)
        waiting = [pieces[0].start for pieces in pieces_of(sentences, doc.text)]
        for token in doc:
            token.is_sent_start = not token.i
            while waiting and not token.is_space and waiting[0] < token.idx + len(token):
                waiting.pop(0)
                token.is_sent_start = True

    def _write(self, doc: Doc, found: Sequence[tuple[Parsed, list[Place]]]) -> None:
        for parsed, _ in found:
            if parsed.error is not None:
                raise parsed.error
        annotate(doc, [(parsed.sentence, places) for parsed, places in found])
        for parsed, places in found:
            for place in places:
                _extend(doc[place.token], parsed, place.words)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into a folder."""
        Path(path).mkdir(parents=True, exist_ok=True)
        self.pipeline.save(Path(path) / _FILE)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> CrossarcComponent:
        """Take the model of a folder."""
        self.__dict__["pipeline"] = load(Path(path) / _FILE)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model file."""
        with TemporaryDirectory() as folder:
            self.to_disk(folder)
            return (Path(folder) / _FILE).read_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> CrossarcComponent:
        """Take the model of a file's bytes."""
        with TemporaryDirectory() as folder:
            (Path(folder) / _FILE).write_bytes(data)
            return self.from_disk(folder)

    def __getstate__(self) -> dict[str, Any]:
        """For processes: they load the model themselves."""
        return {"model": self.model, "tokens": self.tokens, "confidence": self.confidence, "data": self.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        data = state.pop("data")
        self.__dict__.update(state)
        self.from_bytes(data)


def _extend(token: Token, parsed: Parsed, words: range) -> None:
    """What spaCy has no place for: probabilities, and the words of a multiword token."""
    sentence = parsed.sentence
    word = highest_word(sentence, words)
    if parsed.confidence is not None:
        token._.arc_probability = float(parsed.confidence.arcs[word])
        token._.label_probability = float(parsed.confidence.labels[word])
    if len(words) > 1:
        token._.words = [list(sentence[i].row[1:]) for i in words]


def sentences_of(doc: Doc) -> list[Sentence]:
    """The sentences of a document that spaCy, or anything in its pipeline, has parsed.

    >>> nlp = spacy.blank("en")
    >>> doc = Doc(nlp.vocab, ["She", "left"], heads=[1, 1], deps=["nsubj", "root"])
    >>> print(*sentences_of(doc))
    1  She   2  nsubj
    2  left  0  root
    """
    spans = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
    return [sentence for sentence, _ in map(sentence_of, spans) if len(sentence)]
