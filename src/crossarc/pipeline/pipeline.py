"""A parser, and what makes its input of raw text: all of one model file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crossarc.core import CrossarcError, Sentence
from crossarc.enhancing import Enhancer
from crossarc.models import Component, component_of, read_model, write_model
from crossarc.models.installed import naming_package
from crossarc.parsers.base import (
    Capability,
    Parsed,
    ParseOptions,
    Parser,
    Sentences,
    UnsupportedOption,
    batches,
    checked_sentences,
    trees_of,
)
from crossarc.parsers.registry import parser_from_model
from crossarc.pipeline.output import with_notes
from crossarc.pipeline.processes import in_processes
from crossarc.text import Lemmatizer, Segmenter, Tagger

__all__ = ["TEXT_COMPONENTS", "Pipeline", "load"]

# What a model may have beside its parser
TEXT_COMPONENTS: dict[str, type[Any]] = {
    "segmenter": Segmenter,
    "tagger": Tagger,
    "lemmatizer": Lemmatizer,
    "enhancer": Enhancer,
}

_BATCH = 64  # sentences
_TEXTS = 16  # that are parsed together


@dataclass(frozen=True, repr=False)
class Pipeline:
    """A model: a parser, and as much as it has of segmenter, tagger, lemmatizer and enhancer.

    >>> import crossarc
    >>> model = crossarc.load("en")
    >>> [sentence] = model("A hearing is scheduled.")
    >>> sentence.lemma
    ('a', 'hearing', 'be', 'schedule', '.')
    """

    parser: Parser
    segmenter: Segmenter | None = None
    tagger: Tagger | None = None
    lemmatizer: Lemmatizer | None = None
    enhancer: Enhancer | None = None
    name: str = ""
    about: dict[str, Any] = field(default_factory=dict)  # licence, attribution, scores ... of a public model
    quantized: bool = False  # whether its file has weights of one byte each

    def __call__(self, text: str, *, lines: bool = False, **options: Any) -> list[Sentence]:
        """The sentences of a text with tags, lemmas and trees, as ``crossarc parse`` writes them.

        With ``lines``, each line is a paragraph. The options are the fields of ``ParseOptions``: with
        ``confidence=True``, MISC has the probabilities of arcs; with ``k=3``, each sentence comes with its three best
        trees, one after the other. ``parse`` gives all that as numbers.

        >>> import crossarc
        >>> (sentence,) = crossarc.load("en")("A hearing is scheduled.", confidence=True)
        >>> sentence.misc[0]
        'ArcProb=...|RelProb=...'
        """
        if not isinstance(text, str):
            raise TypeError(
                f"a model is called with one text, a str, not {type(text).__name__}: "
                "several texts are for model.pipe(texts), sentences of words for model.trees(sentences)"
            )
        (found,) = self._parse_texts([text], lines, ParseOptions(**options))
        return found

    def pipe(
        self, texts: Iterable[str], *, jobs: int = 1, lines: bool = False, **options: Any
    ) -> Iterator[list[Sentence]]:
        """What a call of the model gives for each of many texts, in their order: faster for short ones.

        With ``jobs`` above 1, in so many processes, which start anew: a script must then have its main part below
        ``if __name__ == "__main__":``.

        >>> import crossarc
        >>> texts = ["A hearing is scheduled.", "Yes. No."]
        >>> [[sentence.text for sentence in found] for found in crossarc.load("en").pipe(texts)]
        [['A hearing is scheduled.'], ['Yes.', 'No.']]
        """
        if isinstance(texts, str):
            raise TypeError("model.pipe takes many texts: one is for model(text)")
        own = ParseOptions(**options)
        self.check(own)
        chunks = batches(texts, _TEXTS)
        if jobs > 1:
            return chain.from_iterable(self._in_processes(chunks, lines, own, jobs))
        return chain.from_iterable(self._parse_texts(chunk, lines, own) for chunk in chunks)

    def _parse_texts(self, texts: list[str], lines: bool, options: ParseOptions) -> list[list[Sentence]]:
        """The trees of each text."""
        segmented = [self.segment(text, lines=lines) for text in texts]
        parsed = self.parse(chain.from_iterable(segmented), options)
        trees = (with_notes(_without_error(found)) for found in parsed)
        return [list(chain.from_iterable(islice(trees, len(sentences)))) for sentences in segmented]

    def _in_processes(
        self, chunks: Iterator[list[str]], lines: bool, options: ParseOptions, jobs: int
    ) -> Iterator[list[list[Sentence]]]:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model.crossarc"
            self.save(path)
            yield from in_processes(_parse_chunk, chunks, jobs, start=_start, arguments=(path, lines, options))

    def segment(self, text: str, *, lines: bool = False, paragraph: int = 1, path: str = "<text>") -> list[Sentence]:
        """The sentences of a text, nothing but words; paragraphs are counted from the given number on."""
        if self.segmenter is None:
            raise CrossarcError(
                f"{self.name or 'this model'}: no segmenter, so it takes no raw text (see crossarc train --with)"
            )
        return self.segmenter.apply(text, lines=lines, paragraph=paragraph, path=path)

    def annotate(self, sentences: Sentences, *, retag: bool = False) -> list[Sentence]:
        """The sentences with tags and lemmas: where they are missing, or (``retag``) all anew.

        A model without tagger or lemmatizer leaves them as they are.
        """
        annotated = list(checked_sentences(sentences))
        tagger = self.tagger or self.parser.tagger
        if tagger is not None:
            chosen = [i for i, sentence in enumerate(annotated) if retag or _lacks_tags(sentence)]
            for i, tagged in zip(chosen, tagger.apply([annotated[i] for i in chosen]), strict=True):
                annotated[i] = tagged if retag else _completed(annotated[i], tagged)
        if self.lemmatizer is not None:
            chosen = [i for i, sentence in enumerate(annotated) if retag or _lacks_lemmas(sentence)]
            for i, sentence in zip(chosen, self.lemmatizer.apply([annotated[i] for i in chosen]), strict=True):
                annotated[i] = sentence
        return annotated

    def parse(
        self, sentences: str | Sentences, options: ParseOptions | None = None, *, retag: bool = False
    ) -> Iterator[Parsed]:
        """What becomes of each sentence, or each of a text, in their order, with tags and lemmas as by ``annotate``.

        All that the command line and the service can do is in the options; what the parser cannot do is refused.
        """
        options = options or ParseOptions()
        self.check(options, retag=retag)
        given = self.segment(sentences) if isinstance(sentences, str) else checked_sentences(sentences)
        annotated = (sentence for batch in batches(given, _BATCH) for sentence in self.annotate(batch, retag=retag))
        found = self.parser.parse(annotated, self._of_parser(options))
        return self._enhanced(found, options) if options.enhanced and self.enhancer is not None else found

    def check(self, options: ParseOptions, *, retag: bool = False) -> None:
        """Refuse what this model cannot do."""
        if retag and not self.finds_tags:
            raise UnsupportedOption(f"--retag: {self.name or 'this model'} has no tagger (see crossarc train --with)")
        if options.enhanced and self.enhancer is None and Capability.GRAPHS not in self.parser.capabilities:
            missing = "no enhancer, so it finds no enhanced dependencies (see crossarc train --with)"
            raise UnsupportedOption(f"--enhanced: {self.name or 'this model'} has {missing}")
        self.parser.check(self._of_parser(options))

    def _of_parser(self, options: ParseOptions) -> ParseOptions:
        """What is left for the parser to do."""
        return options if self.enhancer is None else replace(options, enhanced=False)

    def _enhanced(self, found: Iterable[Parsed], options: ParseOptions) -> Iterator[Parsed]:
        """What was parsed, with graphs made of the trees; what has no tree, or is too long for one, stays as it is."""
        assert self.enhancer is not None
        for batch in batches(found, _BATCH):
            trees = [tree for parsed in batch for tree in (parsed, *parsed.trees) if _has_tree(tree, options)]
            graphs = iter(self.enhancer.apply(tree.sentence for tree in trees))
            for parsed in batch:
                own = [
                    replace(tree, sentence=next(graphs)) if _has_tree(tree, options) else tree
                    for tree in (parsed, *parsed.trees)
                ]
                yield replace(own[0], trees=tuple(own[1:]))

    def trees(
        self, sentences: str | Sentences, options: ParseOptions | None = None, *, retag: bool = False
    ) -> Iterator[Sentence]:
        """The sentences with their trees; raises the error of the first that has none."""
        return trees_of(self.parse(sentences, options, retag=retag))

    @property
    def finds_tags(self) -> bool:
        """Whether it gives words their tags: by a tagger, or by the parser itself."""
        return self.tagger is not None or self.parser.tagger is not None

    @property
    def components(self) -> dict[str, Component]:
        """What it has, by name."""
        there = {"parser": self.parser, **{name: getattr(self, name) for name in TEXT_COMPONENTS}}
        return {name: component for name, component in there.items() if component is not None}

    def save(self, path: str | Path) -> None:
        """Write the model to one file."""
        write_model(path, self.components, about=self.about, quantize=self.quantized)

    def __repr__(self) -> str:
        return f"<Pipeline {self.name or self.parser.system}: {', '.join(self.components)}>"


_model: Pipeline  # of this process
_how: tuple[bool, ParseOptions]  # it parses texts


def _start(path: Path, lines: bool, options: ParseOptions) -> None:
    global _model, _how
    _model, _how = load(path), (lines, options)


def _parse_chunk(texts: list[str]) -> list[list[Sentence]]:
    return _model._parse_texts(texts, *_how)


def _has_tree(parsed: Parsed, options: ParseOptions) -> bool:
    too_long = options.max_length is not None and len(parsed.sentence) > options.max_length
    return parsed.error is None and not too_long


def _without_error(parsed: Parsed) -> Parsed:
    if parsed.error is not None:
        raise parsed.error
    return parsed


def load(model: str | Path) -> Pipeline:
    """The model in a file, or the installed one with that name (``crossarc.models.available``).

    Raises ``ModelError`` that says what is wrong with a file, and which package it is of.
    """
    with naming_package(model):
        found = read_model(model)
        text = {
            name: component_of(component, found.components[name], model)
            for name, component in TEXT_COMPONENTS.items()
            if name in found.components
        }
        parser = parser_from_model(found.components, model)
    return Pipeline(parser, **text, name=str(model), about=found.about, quantized=found.quantized)


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
