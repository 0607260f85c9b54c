"""A model as the service uses it: text or CoNLL-U in; trees, probabilities and alternatives out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, Sentence
from crossarc.io import conllu
from crossarc.parsers import Capability, Parsed, ParseOptions, Parser
from crossarc.parsers.constraint_file import WordConstraint, to_constraints
from crossarc.pipeline import load
from crossarc.server.formats import INPUTS, OUTPUTS, joined, normal, read_conllu, text_of, too_long
from crossarc.server.jobs import Description, Limits, Parse, Process, RequestError, SentenceConstraint
from crossarc.server.judging import judged_arcs

__all__ = ["Handler"]

_ALTERNATIVES = 5  # heads and labels that are named for each word
_UNLIKELY = 0.002  # such ones are not named
_LETTERS = 10  # of a word, at most on average
_LONG = 100  # words: a sentence of so many takes twice as long for each word


class Handler:
    """Answers requests with one model."""

    def __init__(self, model: str, max_length: int, max_words: int = Limits.words) -> None:
        self.pipeline = load(model)
        self.max_length = max_length
        self.max_words = max_words

    @property
    def parser(self) -> Parser:
        return self.pipeline.parser

    @property
    def description(self) -> Description:
        components = self.pipeline.components
        has = {
            "tokenizer": "segmenter" in components,
            "tagger": self.pipeline.finds_tags or "lemmatizer" in components,
            "parser": True,
        }
        about = self.pipeline.about
        attribution, licence = about.get("attribution", ""), about.get("licence", "")
        return Description(
            tuple(step for step, there in has.items() if there),
            self.parser.labels,
            self._knows_probabilities,
            Capability.K_BEST in self.parser.capabilities,
            attribution if licence in attribution else ", ".join(filter(None, (attribution, licence))),
            about.get("language", ""),
        )

    @property
    def _knows_probabilities(self) -> bool:
        return Capability.DISTRIBUTION in self.parser.capabilities and self.parser.knows_probabilities

    def warm_up(self) -> None:
        """Do everything once, so that no request has to wait for kernels to compile."""
        sentence = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n2\tb\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
        self.parse(Parse("", sentence, "conllu"))
        if self.description.k_best:
            self.parse(Parse("", sentence, "conllu", 2, (SentenceConstraint(1, WordConstraint(1, heads=(2,))),)))
        if self.pipeline.segmenter is not None:
            self.parse(Parse("", "Words.", "text"))

    def process(self, job: Process) -> str:
        """The text with the steps done that are asked for, as UDPipe would do it."""
        if job.output not in OUTPUTS:
            raise RequestError(400, f"Unknown output format '{job.output}'.")
        wanted = {step: getattr(job, step) not in (None, "none") for step in ("tokenizer", "tagger", "parser")}
        for step, is_wanted in wanted.items():
            if is_wanted and step not in self.description.steps:
                raise RequestError(400, f"The required model does not contain a {step}!")
        sentences = self._tokenized(job) if wanted["tokenizer"] else self._read_for_udpipe(job)
        self._check_work(sentences)
        if wanted["tagger"]:
            sentences = self.pipeline.annotate(sentences, retag=True)
        if wanted["parser"]:
            # Words without tags are tagged for the parser alone, unless tags are asked for.
            trees = self.pipeline.trees(sentences)
            sentences = [
                sentence.with_columns(head=tree.head, deprel=tree.deprel, deps=tree.deps)
                for sentence, tree in zip(sentences, trees, strict=True)
            ]
        return "".join(map(OUTPUTS[job.output], sentences))

    def _read_for_udpipe(self, job: Process) -> list[Sentence]:
        if job.input == "generic_tokenizer" and self.pipeline.segmenter is not None:
            return self._tokenized(job)
        if job.input not in INPUTS:
            raise RequestError(400, f"Unknown input format '{job.input}'.")
        return INPUTS[job.input](normal(job.data), self.max_length)

    def _tokenized(self, job: Process) -> list[Sentence]:
        """The sentences of a text; one for each line, if the tokenizer's options say that it is segmented already."""
        text = normal(job.data)
        if "presegmented" not in (job.tokenizer or "").split(";"):
            return self._segmented(text)
        lines = [line for line in text.split("\n") if line.strip()]
        return [joined(self.pipeline.segment(line), number) for number, line in enumerate(lines, 1)]

    def parse(self, job: Parse) -> list[dict[str, Any]]:
        """The sentences with their trees."""
        if job.k > 1 and not self.description.k_best:
            raise RequestError(400, "this model knows only its best tree: k must be 1")
        sentences = self._read(job)
        self._check_work(sentences, job.k)
        constraints = self._constraints(sentences, job.constraints)
        options = ParseOptions(k=job.k, confidence=self._knows_probabilities)
        free = self.pipeline.parse((s for i, s in enumerate(sentences) if i not in constraints), options)
        found = []
        for i, sentence in enumerate(sentences):
            own = constraints.get(i)
            some = free if own is None else self.pipeline.parse([sentence], replace(options, constraints=own))
            parsed = next(some)
            if parsed.error is not None:
                raise RequestError(400, parsed.error.message, None, sentence.sent_id or str(i + 1))
            found.append(self._sentence_data(parsed))
        if job.judge and self._knows_probabilities:
            for data, given in zip(found, judged_arcs(self.pipeline, sentences), strict=True):
                data["given"] = given
        return found

    def _read(self, job: Parse) -> list[Sentence]:
        text = normal(job.text)
        if job.format == "conllu":
            return read_conllu(text, self.max_length)
        if self.pipeline.segmenter is None:
            raise RequestError(400, "this model has no tokenizer: it reads CoNLL-U, not text")
        return self._segmented(text)

    def _segmented(self, text: str) -> list[Sentence]:
        """The sentences of a text that is not too long to be parsed in time."""
        most = _LETTERS * self.max_words
        if len(text) > most:
            raise RequestError(413, f"a text may have at most {most:,} characters: send less at a time")
        return self.pipeline.segment(text)

    def _check_work(self, sentences: Sequence[Sentence], k: int = 1) -> None:
        """Refuse what cannot be done in time: the k best trees take k times as long, long sentences more than that."""
        self._check_lengths(sentences)
        work = sum(len(sentence) * (k + len(sentence) // _LONG) for sentence in sentences)
        if work > self.max_words:
            words = sum(map(len, sentences))
            counted = f"{words:,} words with k = {k} count as {work:,}, and at most {self.max_words:,} are allowed"
            raise RequestError(413, f"{counted}: ask for less at a time")

    def _check_lengths(self, sentences: Sequence[Sentence]) -> None:
        for number, sentence in enumerate(sentences, 1):
            if len(sentence) > self.max_length:
                name = sentence.sent_id or str(number)
                raise too_long(len(sentence), self.max_length, sentence.line or None, name)

    def _constraints(
        self, sentences: Sequence[Sentence], constraints: Iterable[SentenceConstraint]
    ) -> dict[int, Constraints]:
        """Of each sentence that has some, counted from 0."""
        grouped: dict[int, list[WordConstraint]] = {}
        for number, own in constraints:
            if not 1 <= number <= len(sentences):
                raise RequestError(400, f"a constraint on sentence {number} of {len(sentences)}")
            place = sentences[number - 1].place(own.word) if 1 <= own.word <= len(sentences[number - 1]) else own.place
            name = sentences[number - 1].sent_id or str(number)
            grouped.setdefault(number - 1, []).append(own._replace(place=replace(place, line=0, sent_id=name)))
        return {i: to_constraints(own, len(sentences[i]), self.parser.labels) for i, own in grouped.items()}

    def _sentence_data(self, parsed: Parsed) -> dict[str, Any]:
        sentence = parsed.sentence
        columns = zip(sentence.form, sentence.lemma, sentence.upos, sentence.xpos, sentence.feats, strict=True)
        sure = parsed.confidence
        marginals = None if sure is None else sure.marginals
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
            "entropy": None if sure is None else _short(sure.entropy),
            "heads": None if marginals is None else [_likely(column) for column in marginals.T[1:]],
            "given": None,
            "trees": [self._tree_data(tree) for tree in parsed.trees or (parsed,)],
        }

    def _tree_data(self, tree: Parsed) -> dict[str, Any]:
        arcs: list[dict[str, Any]] = [
            {
                "head": None if head == "_" else int(head),
                "label": label,
                "probability": None,
                "labelled": None,
                "labels": None,
            }
            for head, label in zip(tree.sentence.head, tree.sentence.deprel, strict=True)
        ]
        if tree.confidence is not None and tree.confidence.label_shares is not None:
            for word, arc in enumerate(arcs, 1):
                arc["probability"] = _short(tree.confidence.arcs[word])
                arc["labelled"] = _short(tree.confidence.labels[word])
                shares = _likely(tree.confidence.label_shares[word])
                arc["labels"] = [[self.parser.labels[label], share] for label, share in shares]
        return {
            "probability": _short(tree.probability),
            "score": _short(tree.score),
            "arcs": arcs,
            "conllu": conllu.format_sentence(tree.sentence),
        }


def _likely(probabilities: NDArray[np.float64]) -> list[tuple[int, float | None]]:
    """The most probable of them, with their indices."""
    best = np.argsort(-probabilities, kind="stable")[:_ALTERNATIVES].tolist()
    return [(i, _short(probabilities[i])) for i in best if probabilities[i] >= _UNLIKELY]


def _short(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.6g}")
