"""A model as the service uses it: text or CoNLL-U in; trees, probabilities and alternatives out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, Place, Sentence
from crossarc.features.attributes import attributes_of
from crossarc.io import conllu
from crossarc.parsers import Parser, SpanningTreeParser
from crossarc.parsers.constraint_file import constraints_of_wishes
from crossarc.parsers.spanning_tree.probabilities import Analysis, analyse, label_probabilities
from crossarc.pipeline import load
from crossarc.server.formats import INPUTS, OUTPUTS, joined, normal, read_conllu, text_of, too_long
from crossarc.server.jobs import Description, Parse, Process, Refused, Wish

__all__ = ["Engine"]

_ALTERNATIVES = 5  # heads and labels that are named for each word
_UNLIKELY = 0.002  # such ones are not named


class Engine:
    """Does jobs with one model."""

    def __init__(self, model: str, max_length: int) -> None:
        self.pipeline = load(model)
        self.max_length = max_length

    @property
    def parser(self) -> Parser:
        return self.pipeline.parser

    @property
    def description(self) -> Description:
        parts = self.pipeline.parts
        has = {
            "tokenizer": "segmenter" in parts,
            "tagger": bool(parts.keys() & {"tagger", "lemmatizer"}),
            "parser": True,
        }
        about = self.pipeline.header
        attribution, licence = about.get("attribution", ""), about.get("licence", "")
        return Description(
            tuple(step for step, there in has.items() if there),
            self.parser.labels,
            self._knows_probabilities,
            isinstance(self.parser, SpanningTreeParser),
            attribution if licence in attribution else f"{attribution}, {licence}",
        )

    @property
    def _knows_probabilities(self) -> bool:
        return isinstance(self.parser, SpanningTreeParser) and self.parser.temperatures is not None

    def warm_up(self) -> None:
        """Do everything once, so that no request has to wait for kernels to compile."""
        sentence = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n2\tb\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
        self.parse(Parse("", sentence, "conllu"))
        if self.description.k_best:
            self.parse(Parse("", sentence, "conllu", 2, (Wish(1, 1, "Head=2"),)))
        if self.pipeline.segmenter is not None:
            self.parse(Parse("", "Words.", "text"))

    def process(self, job: Process) -> str:
        """The text with the steps done that are asked for, as UDPipe would do it."""
        if job.output not in OUTPUTS:
            raise Refused(400, f"Unknown output format '{job.output}'.")
        wanted = {step: getattr(job, step) not in (None, "none") for step in ("tokenizer", "tagger", "parser")}
        for step, is_wanted in wanted.items():
            if is_wanted and step not in self.description.steps:
                raise Refused(400, f"The required model does not contain a {step}!")
        sentences = self._tokenized(job) if wanted["tokenizer"] else self._read_for_udpipe(job)
        self._check_lengths(sentences)
        if wanted["tagger"]:
            sentences = self.pipeline.annotate(sentences, retag=True)
        if wanted["parser"]:
            # Words without tags are tagged for the parser alone, unless tags are asked for.
            trees = self.pipeline.parse(sentences)
            sentences = [
                sentence.with_columns(head=tree.head, deprel=tree.deprel, deps=tree.deps)
                for sentence, tree in zip(sentences, trees, strict=True)
            ]
        return "".join(map(OUTPUTS[job.output], sentences))

    def _read_for_udpipe(self, job: Process) -> list[Sentence]:
        if job.input == "generic_tokenizer" and self.pipeline.segmenter is not None:
            return self._tokenized(job)
        if job.input not in INPUTS:
            raise Refused(400, f"Unknown input format '{job.input}'.")
        return INPUTS[job.input](normal(job.data), self.max_length)

    def _tokenized(self, job: Process) -> list[Sentence]:
        """The sentences of a text; one for each line, if the tokenizer's options say that it is segmented already."""
        text = normal(job.data)
        if "presegmented" not in (job.tokenizer or "").split(";"):
            return self.pipeline.segment(text)
        lines = [line for line in text.split("\n") if line.strip()]
        return [joined(self.pipeline.segment(line), number) for number, line in enumerate(lines, 1)]

    def parse(self, job: Parse) -> list[dict[str, Any]]:
        """The sentences with their trees."""
        sentences = self._read(job)
        self._check_lengths(sentences)
        sentences = self.pipeline.annotate(sentences)
        constraints = self._constraints(sentences, job.wishes)
        if isinstance(self.parser, SpanningTreeParser):
            return self._analysed(self.parser, sentences, job.k, constraints)
        if job.k > 1:
            raise Refused(400, "this model knows only its best tree: k must be 1")
        return [
            _sentence_data(sentence, [_tree_data(self.parser.parse_sentence(sentence, constraints.get(i)))])
            for i, sentence in enumerate(sentences)
        ]

    def _read(self, job: Parse) -> list[Sentence]:
        text = normal(job.text)
        if job.format == "conllu":
            return read_conllu(text, self.max_length)
        if self.pipeline.segmenter is None:
            raise Refused(400, "this model has no tokenizer: it reads CoNLL-U, not text")
        return self.pipeline.segment(text)

    def _check_lengths(self, sentences: Sequence[Sentence]) -> None:
        for number, sentence in enumerate(sentences, 1):
            if len(sentence) > self.max_length:
                name = sentence.sent_id or str(number)
                raise too_long(len(sentence), self.max_length, sentence.line or None, name)

    def _constraints(self, sentences: Sequence[Sentence], wishes: Iterable[Wish]) -> dict[int, Constraints]:
        """Of each sentence that has some, counted from 0."""
        grouped: dict[int, list[tuple[int, str, Place]]] = {}
        for wish in wishes:
            if not 1 <= wish.sentence <= len(sentences):
                raise Refused(400, f"a constraint on sentence {wish.sentence} of {len(sentences)}")
            place = Place("", 0, sentences[wish.sentence - 1].sent_id or str(wish.sentence))
            grouped.setdefault(wish.sentence - 1, []).append((wish.word, wish.text, place))
        return {
            i: constraints_of_wishes(wished, len(sentences[i]), self.parser.labels) for i, wished in grouped.items()
        }

    def _analysed(
        self, parser: SpanningTreeParser, sentences: Sequence[Sentence], k: int, constraints: dict[int, Constraints]
    ) -> list[dict[str, Any]]:
        free = [sentence for i, sentence in enumerate(sentences) if i not in constraints]
        known = self._knows_probabilities
        of_free = iter(analyse(parser, free)) if known else None
        found = []
        for i, sentence in enumerate(sentences):
            wished = constraints.get(i)
            analysis = None
            if known:
                of_one = of_free if wished is None else analyse(parser, [sentence], constraints=wished)
                assert of_one is not None
                analysis = next(iter(of_one))
            found.append(_with_trees(parser, sentence, analysis, k, wished))
        return found


def _with_trees(
    parser: SpanningTreeParser, sentence: Sentence, analysis: Analysis | None, k: int, wished: Constraints | None
) -> dict[str, Any]:
    if k == 1 and analysis is not None:
        probability = math.exp(analysis.log_probability)
        return _sentence_data(sentence, [_tree_data(analysis.sentence, parser, analysis, probability)], analysis)
    trees = [
        _tree_data(tree.sentence, parser, analysis, tree.probability, tree.score)
        for tree in parser.k_best(sentence, k, wished)
    ]
    return _sentence_data(sentence, trees, analysis)


def _sentence_data(sentence: Sentence, trees: list[dict[str, Any]], analysis: Analysis | None = None) -> dict[str, Any]:
    columns = zip(sentence.form, sentence.lemma, sentence.upos, sentence.xpos, sentence.feats, strict=True)
    return {
        "sent_id": sentence.sent_id,
        "text": text_of(sentence),
        "words": [
            {"form": form, "lemma": lemma, "upos": upos, "xpos": xpos, "feats": feats}
            for form, lemma, upos, xpos, feats in columns
        ],
        "tokens": [
            {"first": insert.span[0], "last": insert.span[-1], "form": insert.row.form}
            for insert in sentence.inserts
            if not insert.is_empty_node
        ],
        "entropy": None if analysis is None else _short(analysis.entropy),
        "heads": None if analysis is None else [_likely(column) for column in analysis.marginals.T[1:]],
        "trees": trees,
    }


def _tree_data(
    tree: Sentence,
    parser: SpanningTreeParser | None = None,
    analysis: Analysis | None = None,
    probability: float | None = None,
    score: float | None = None,
) -> dict[str, Any]:
    arcs: list[dict[str, Any]] = [
        {"head": None if head == "_" else int(head), "label": label, "probability": None, "labels": None}
        for head, label in zip(tree.head, tree.deprel, strict=True)
    ]
    if parser is not None and analysis is not None:
        shares = label_probabilities(parser, attributes_of([tree]), tree.heads)
        for word, arc in enumerate(arcs, 1):
            arc["probability"] = _short(float(analysis.marginals[arc["head"], word]))
            arc["labels"] = [[parser.labels[label], share] for label, share in _likely(shares[word])]
    return {
        "probability": None if probability is None else _short(probability),
        "score": None if score is None else _short(score),
        "arcs": arcs,
        "conllu": conllu.format_sentence(tree),
    }


def _likely(probabilities: NDArray[np.float64]) -> list[tuple[int, float]]:
    """The most probable of them, with their indices."""
    best = np.argsort(-probabilities, kind="stable")[:_ALTERNATIVES].tolist()
    return [(i, _short(float(probabilities[i]))) for i in best if probabilities[i] >= _UNLIKELY]


def _short(number: float) -> float:
    return float(f"{number:.6g}")
