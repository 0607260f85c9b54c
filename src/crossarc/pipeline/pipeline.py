"""A parser, and what makes its input of raw text: all of one model file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from crossarc.core import CrossarcError, Sentence
from crossarc.models import builtin
from crossarc.models.file import load_model, load_parts, read_header, save_model
from crossarc.parsers import Parser
from crossarc.parsers import load as load_parser
from crossarc.text import Lemmatizer, Segmenter, Tagger

__all__ = ["Pipeline", "load", "models"]

_BATCH = 64  # sentences
_ABOUT = "about"  # of the header: what a model's maker says of it
_COMPACT = "compact"


@dataclass(frozen=True)
class Pipeline:
    """A model: a parser, and as much as it has of segmenter, tagger and lemmatiser."""

    parser: Parser
    segmenter: Segmenter | None = None
    tagger: Tagger | None = None
    lemmatizer: Lemmatizer | None = None
    name: str = ""
    header: dict[str, Any] = field(default_factory=dict)  # licence, attribution, scores ... of a built-in model
    compact: bool = False  # whether its file has rounded weights

    def __call__(self, text: str, *, lines: bool = False) -> list[Sentence]:
        """The sentences of a text with tags, lemmas and trees; with ``lines``, each line is a paragraph."""
        return list(self.parse(self.segment(text, lines=lines)))

    def segment(self, text: str, *, lines: bool = False, paragraph: int = 1, path: str = "<text>") -> list[Sentence]:
        """The sentences of a text, nothing but words; paragraphs are counted from the given number on."""
        if self.segmenter is None:
            raise CrossarcError(
                f"{self.name or 'this model'}: no segmenter, so it takes no raw text (see crossarc train --with)"
            )
        return self.segmenter.apply(text, lines=lines, paragraph=paragraph, path=path)

    def annotate(self, sentences: Iterable[Sentence], *, retag: bool = False) -> list[Sentence]:
        """The sentences with tags and lemmas: where they are missing, or (``retag``) all anew.

        A model without tagger or lemmatiser leaves them as they are.
        """
        annotated = list(sentences)
        if self.tagger is not None:
            chosen = [i for i, sentence in enumerate(annotated) if retag or _lacks_tags(sentence)]
            for i, tagged in zip(chosen, self.tagger.apply([annotated[i] for i in chosen]), strict=True):
                annotated[i] = tagged if retag else _completed(annotated[i], tagged)
        if self.lemmatizer is not None:
            chosen = [i for i, sentence in enumerate(annotated) if retag or _lacks_lemmas(sentence)]
            for i, sentence in zip(chosen, self.lemmatizer.apply([annotated[i] for i in chosen]), strict=True):
                annotated[i] = sentence
        return annotated

    def parse(self, sentences: Iterable[Sentence], *, retag: bool = False) -> Iterator[Sentence]:
        """The sentences with trees, and with tags and lemmas as by ``annotate``."""
        remaining = iter(sentences)
        while batch := list(islice(remaining, _BATCH)):
            yield from self.parser.parse(self.annotate(batch, retag=retag))

    @property
    def parts(self) -> dict[str, Segmenter | Tagger | Lemmatizer]:
        """What it has beside the parser, by name."""
        parts = {"segmenter": self.segmenter, "tagger": self.tagger, "lemmatizer": self.lemmatizer}
        return {name: part for name, part in parts.items() if part is not None}

    def save(self, path: str | Path) -> None:
        """Write the model to one file."""
        self.parser.save(path)
        if self.parts or self.header or self.compact:
            header, tensors = load_model(path, compact=True)
            found = {name: part.to_model() for name, part in self.parts.items()}
            headers = {name: own for name, (own, _) in found.items()}
            extra = {_ABOUT: self.header, _COMPACT: self.compact, "parts": headers}
            parts = {name: own for name, (_, own) in found.items()}
            save_model(path, header | extra, tensors, parts=parts, compact=self.compact)


def load(model: str | Path) -> Pipeline:
    """The model in a file, or the built-in one with that name.

    Raises ``ModelError`` that says what is wrong with a file.
    """
    parser, header, parts = load_parser(model), read_header(model), load_parts(model)
    return Pipeline(
        parser,
        Segmenter.from_model(header["parts"]["segmenter"], parts["segmenter"]) if "segmenter" in parts else None,
        Tagger.from_model(header["parts"]["tagger"], parts["tagger"]) if "tagger" in parts else None,
        Lemmatizer.from_model(header["parts"]["lemmatizer"], parts["lemmatizer"]) if "lemmatizer" in parts else None,
        str(model),
        header.get(_ABOUT, {}),
        header.get(_COMPACT, False),
    )


def models() -> dict[str, dict[str, Any]]:
    """The built-in models by name: licence, attribution, scores, parts, path and size of each."""
    found = {}
    for name in builtin.names():
        path = builtin.file_of(name)
        header = read_header(path)
        own = {"system": header["system"], "parts": header.get("parts", [])}
        found[name] = {**header.get(_ABOUT, {}), **own, "path": str(path), "bytes": path.stat().st_size}
    return found


def _lacks_tags(sentence: Sentence) -> bool:
    return "_" in sentence.upos or any(set(column) == {"_"} for column in (sentence.xpos, sentence.feats))


def _lacks_lemmas(sentence: Sentence) -> bool:
    return set(sentence.lemma) == {"_"}


def _completed(sentence: Sentence, tagged: Sentence) -> Sentence:
    """The sentence with the missing tags of the tagged one.

    XPOS and FEATS count as missing where there are none in the whole sentence: a word may have none. They are taken
    over where the tagger agrees with the given UPOS.
    """
    if all(set(column) == {"_"} for column in (sentence.upos, sentence.xpos, sentence.feats)):
        return tagged
    agreed = [given in ("_", found) for given, found in zip(sentence.upos, tagged.upos, strict=True)]
    upos = [found if same else given for given, found, same in zip(sentence.upos, tagged.upos, agreed, strict=True)]
    columns = {"upos": upos}
    for name in ("xpos", "feats"):
        given, found = getattr(sentence, name), getattr(tagged, name)
        if set(given) == {"_"}:
            columns[name] = [new if same else old for old, new, same in zip(given, found, agreed, strict=True)]
    return sentence.with_columns(**columns)
