"""A model as the service uses it: text or CoNLL-U in; trees, probabilities and alternatives out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, Place, Sentence
from crossarc.io import conllu
from crossarc.parsers import Parser, SpanningTreeParser, load
from crossarc.parsers.probabilities import Analysis, analyse, label_probabilities
from crossarc.parsers.wishes import constraints_of_wishes
from crossarc.scoring.attributes import attributes_of
from crossarc.server.formats import INPUTS, OUTPUTS, normal, read_conllu, text_of, too_long
from crossarc.server.jobs import Description, Parse, Process, Refused, Wish

__all__ = ["Engine"]

_ALTERNATIVES = 5  # heads and labels that are named for each word
_UNLIKELY = 0.002  # such ones are not named


class Engine:
    """Does jobs with one model."""

    def __init__(self, path: str, max_length: int) -> None:
        self.parser: Parser = load(path)
        self.max_length = max_length

    @property
    def description(self) -> Description:
        spanning_tree = isinstance(self.parser, SpanningTreeParser)
        return Description(("parser",), self.parser.labels, self._knows_probabilities, spanning_tree, "")

    @property
    def _knows_probabilities(self) -> bool:
        return isinstance(self.parser, SpanningTreeParser) and self.parser.temperatures is not None

    def warm_up(self) -> None:
        """Do everything once, so that no request has to wait for kernels to compile."""
        sentence = "1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n2\tb\t_\tX\t_\t_\t_\t_\t_\t_\n\n"
        self.parse(Parse("", sentence, "conllu"))
        if self.description.k_best:
            self.parse(Parse("", sentence, "conllu", 2, (Wish(1, 1, "Head=2"),)))

    def process(self, job: Process) -> str:
        """The text with the steps done that are asked for, as UDPipe would do it."""
        if job.output not in OUTPUTS:
            raise Refused(400, f"Unknown output format '{job.output}'.")
        for step in ("tokenizer", "tagger", "parser"):
            if getattr(job, step) not in (None, "none") and step not in self.description.steps:
                raise Refused(400, f"The required model does not contain a {step}!")
        sentences = self._read_for_udpipe(job)
        self._check_lengths(sentences)
        if job.parser not in (None, "none"):
            sentences = list(self.parser.parse(sentences))
        return "".join(map(OUTPUTS[job.output], sentences))

    def _read_for_udpipe(self, job: Process) -> list[Sentence]:
        if job.input not in INPUTS:
            raise Refused(400, f"Unknown input format '{job.input}'.")
        return INPUTS[job.input](normal(job.data), self.max_length)

    def parse(self, job: Parse) -> list[dict[str, Any]]:
        """The sentences with their trees."""
        sentences = self._read(job)
        self._check_lengths(sentences)
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
        if job.format == "text":
            raise Refused(400, "this model has no tokenizer: it reads CoNLL-U, not text")
        return read_conllu(normal(job.text), self.max_length)

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
