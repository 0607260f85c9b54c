"""Honest scores of a parser's output: the official ones to the last digit, and what lies behind them."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

from crossarc.core import Sentence
from crossarc.evaluation.alignment import Block, Span, aligned_blocks
from crossarc.evaluation.graphs import GraphScores
from crossarc.evaluation.score import Score
from crossarc.evaluation.words import ROOT, ScoredWord, scored_words

__all__ = [
    "ARC_LENGTHS",
    "OFFICIAL",
    "SENTENCE_LENGTHS",
    "AttachmentScores",
    "Evaluation",
    "evaluate",
    "evaluate_blocks",
]

OFFICIAL = [
    "Tokens",
    "Sentences",
    "Words",
    "UPOS",
    "XPOS",
    "UFeats",
    "AllTags",
    "Lemmas",
    "UAS",
    "LAS",
    "CLAS",
    "MLAS",
    "BLEX",
]  # in the order of the shared task
ARC_LENGTHS = ("from the root", "1", "2", "3-6", "7+")
SENTENCE_LENGTHS = ("1-10", "11-20", "21-30", "31-40", "41+")


@dataclass
class AttachmentScores:
    """Scores over some set of words, for example all, or all but punctuation."""

    uas: Score = field(default_factory=Score)
    las: Score = field(default_factory=Score)  # full labels
    las_universal: Score = field(default_factory=Score)  # labels up to the colon
    clas: Score = field(default_factory=Score)
    complete: Score = field(default_factory=Score)  # sentences whose heads are all right
    complete_labelled: Score = field(default_factory=Score)

    def as_dict(self) -> dict[str, Any]:
        return {name: score.as_dict() for name, score in vars(self).items()}


@dataclass
class Outcomes:
    """What happened to each gold word, for tests of significance: right head, right head and label."""

    head: bytearray = field(default_factory=bytearray)
    head_and_label: bytearray = field(default_factory=bytearray)
    punctuation: bytearray = field(default_factory=bytearray)
    sentence_lengths: array[int] = field(default_factory=lambda: array("q"))
    sentence_names: list[str] = field(default_factory=list)


@dataclass
class Evaluation:
    """Everything that ``crossarc evaluate`` shows. Rates are in 0..1 here, in per cent in ``as_dict``."""

    official: dict[str, Score] = field(default_factory=lambda: {name: Score() for name in OFFICIAL})
    all_words: AttachmentScores = field(default_factory=AttachmentScores)
    without_punctuation: AttachmentScores = field(default_factory=AttachmentScores)
    nonprojective_sentences: AttachmentScores = field(default_factory=AttachmentScores)  # "B" of MST05
    nonprojective_precision: Score = field(default_factory=Score)  # the system's non-projective arcs
    nonprojective_recall: Score = field(default_factory=Score)  # the gold file's
    by_label: defaultdict[str, Score] = field(default_factory=lambda: defaultdict(Score))
    by_arc_length: dict[str, Score] = field(default_factory=lambda: {name: Score() for name in ARC_LENGTHS})
    by_sentence_length: dict[str, AttachmentScores] = field(
        default_factory=lambda: {name: AttachmentScores() for name in SENTENCE_LENGTHS}
    )
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)  # (gold label, system label)
    graph: GraphScores = field(default_factory=GraphScores)
    outcomes: Outcomes = field(default_factory=Outcomes)

    @property
    def nonprojective_f1(self) -> float:
        precision, recall = self.nonprojective_precision.precision, self.nonprojective_recall.recall
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON: counts, and rates in per cent."""
        return {
            "official": {name: score.as_dict() for name, score in self.official.items()},
            "all_words": self.all_words.as_dict(),
            "without_punctuation": self.without_punctuation.as_dict(),
            "nonprojective_sentences": self.nonprojective_sentences.as_dict(),
            "nonprojective_arcs": {
                "gold": self.nonprojective_recall.gold,
                "system": self.nonprojective_precision.system,
                "precision": 100 * self.nonprojective_precision.precision,
                "recall": 100 * self.nonprojective_recall.recall,
                "f1": 100 * self.nonprojective_f1,
            },
            "by_label": {label: score.as_dict() for label, score in sorted(self.by_label.items())},
            "by_arc_length": {name: score.as_dict() for name, score in self.by_arc_length.items()},
            "by_sentence_length": {name: scores.as_dict() for name, scores in self.by_sentence_length.items()},
            "confusion": [
                {"gold": gold, "system": system, "count": count}
                for (gold, system), count in self.confusion.most_common()
            ],
            "graph": self.graph.as_dict(),
        }


def evaluate(gold: Iterable[Sentence], system: Iterable[Sentence]) -> Evaluation:
    """Compare the trees of a system with the gold ones.

    Both must have the same characters; where they are split into words or sentences differently, words are aligned as
    in the CoNLL 2018 shared task. Both may be streams: memory stays flat.

    >>> from crossarc.core import Sentence
    >>> gold = Sentence.of(["a", "b"]).with_tree([-1, 2, 0], ["_", "x", "root"])
    >>> system = gold.with_tree([-1, 0, 1])
    >>> evaluate([gold], [system]).all_words.uas.f1
    0.0
    """
    result = Evaluation()
    for block in aligned_blocks(gold, system):
        _Comparison(block).add_to(result)
    return result


def evaluate_blocks(gold: Iterable[Sentence], system: Iterable[Sentence]) -> Iterator[Evaluation]:
    """What ``evaluate`` adds up: an evaluation of each sentence, or of several that are split in another way."""
    for block in aligned_blocks(gold, system):
        result = Evaluation()
        _Comparison(block).add_to(result)
        yield result


class _Comparison:
    """The words of a block side by side."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.gold = scored_words(block.gold)
        self.system = scored_words(block.system)
        self.pairs = [(self.gold[g], self.system[s]) for g, s in block.pairs]
        self.gold_of = {ROOT: ROOT} | {s: g for g, s in block.pairs}
        self.right_head = [self.gold_of.get(s.head) == g.head for g, s in self.pairs]
        self.right_label = [
            right and g.label == s.label for right, (g, s) in zip(self.right_head, self.pairs, strict=True)
        ]
        self.right_relation = [
            right and g.relation == s.relation for right, (g, s) in zip(self.right_head, self.pairs, strict=True)
        ]

    def add_to(self, result: Evaluation) -> None:
        self._add_official(result.official)
        everything = _Selection(self, set(range(len(self.block.gold.sentences))))
        everything.add_to(result.all_words)
        everything.without_punctuation().add_to(result.without_punctuation)
        nonprojective = {word.sentence for word in self.gold if word.is_nonprojective}
        if nonprojective:
            _Selection(self, nonprojective).add_to(result.nonprojective_sentences)
        for index, sentence in enumerate(self.block.gold.sentences):
            _Selection(self, {index}).add_to(result.by_sentence_length[_sentence_length(len(sentence))])
        self._add_nonprojective(result.nonprojective_precision, result.nonprojective_recall)
        self._add_labels(result)
        self._add_outcomes(result.outcomes)
        result.graph.add(self.block.gold.sentences, self.block.system.sentences, self.gold_of)

    def _add_official(self, scores: dict[str, Score]) -> None:
        _add_spans(scores["Tokens"], self.block.gold.token_spans, self.block.system.token_spans)
        _add_spans(scores["Sentences"], self.block.gold.sentence_spans, self.block.system.sentence_spans)
        upos = [g.upos == s.upos for g, s in self.pairs]
        xpos = [g.xpos == s.xpos for g, s in self.pairs]
        features = [g.features == s.features for g, s in self.pairs]
        lemma = [g.lemma in ("_", s.lemma) for g, s in self.pairs]
        function_words = self._same_function_words()
        relation = self.right_relation
        for name, right in {
            "Words": [True] * len(self.pairs),
            "UPOS": upos,
            "XPOS": xpos,
            "UFeats": features,
            "AllTags": [all(tags) for tags in zip(upos, xpos, features, strict=True)],
            "Lemmas": lemma,
            "UAS": self.right_head,
            "LAS": relation,
        }.items():
            _add(scores[name], len(self.gold), len(self.system), right)
        gold_content = sum(word.is_content for word in self.gold)
        system_content = sum(word.is_content for word in self.system)
        is_content = [g.is_content for g, _ in self.pairs]
        for name, conditions in {
            "CLAS": (relation,),
            "MLAS": (relation, upos, features, function_words),
            "BLEX": (relation, lemma),
        }.items():
            right = [all(c) for c, chosen in zip(zip(*conditions, strict=True), is_content, strict=True) if chosen]
            _add(scores[name], gold_content, system_content, right)

    def _same_function_words(self) -> list[bool]:
        """For each pair, whether the function words that depend on it are the same, with the same tags."""
        gold: defaultdict[int, list[tuple[object, ...]]] = defaultdict(list)
        system: defaultdict[int, list[tuple[object, ...]]] = defaultdict(list)
        for i, word in enumerate(self.gold):
            if word.is_function:
                gold[word.head].append((i, word.relation, word.upos, word.features))
        for i, word in enumerate(self.system):
            if word.is_function:
                system[word.head].append((self.gold_of.get(i), word.relation, word.upos, word.features))
        return [gold.get(g) == system.get(s) for g, s in self.block.pairs]

    def _add_nonprojective(self, precision: Score, recall: Score) -> None:
        precision.system += sum(word.is_nonprojective for word in self.system)
        recall.gold += sum(word.is_nonprojective for word in self.gold)
        for right, (g, s) in zip(self.right_head, self.pairs, strict=True):
            precision.correct += right and s.is_nonprojective
            recall.correct += right and g.is_nonprojective

    def _add_labels(self, result: Evaluation) -> None:
        for word in self.gold:
            result.by_label[word.label].gold += 1
            result.by_arc_length[_arc_length(word.arc_length)].gold += 1
        for word in self.system:
            result.by_label[word.label].system += 1
            result.by_arc_length[_arc_length(word.arc_length)].system += 1
        result.confusion.update((g.label, s.label) for g, s in self.pairs)
        for head, label, (g, _) in zip(self.right_head, self.right_label, self.pairs, strict=True):
            result.by_label[g.label].aligned += 1
            result.by_label[g.label].correct += label
            result.by_arc_length[_arc_length(g.arc_length)].aligned += 1
            result.by_arc_length[_arc_length(g.arc_length)].correct += head

    def _add_outcomes(self, outcomes: Outcomes) -> None:
        head, head_and_label = bytearray(len(self.gold)), bytearray(len(self.gold))
        for (g, _), right_head, right_label in zip(self.block.pairs, self.right_head, self.right_label, strict=True):
            head[g], head_and_label[g] = right_head, right_label
        outcomes.head += head
        outcomes.head_and_label += head_and_label
        outcomes.punctuation += bytes(word.is_punctuation for word in self.gold)
        for sentence in self.block.gold.sentences:
            outcomes.sentence_lengths.append(len(sentence))
            outcomes.sentence_names.append(sentence.sent_id or f"line {sentence.line}")


class _Selection:
    """Some gold sentences of a block, with or without their punctuation, and what the system made of them."""

    def __init__(self, comparison: _Comparison, sentences: set[int], punctuation: bool = True) -> None:
        self.comparison = comparison
        self.sentences = sentences
        self.punctuation = punctuation

    def without_punctuation(self) -> _Selection:
        return _Selection(self.comparison, self.sentences, punctuation=False)

    def add_to(self, scores: AttachmentScores) -> None:
        comparison = self.comparison
        gold = [word for word in comparison.gold if self._has(word)]
        system = [word for i, word in enumerate(comparison.system) if self._has(self._counterpart(i))]
        chosen = [self._has(g) for g, _ in comparison.pairs]
        for score, right in (
            (scores.uas, comparison.right_head),
            (scores.las, comparison.right_label),
            (scores.las_universal, comparison.right_relation),
        ):
            _add(score, len(gold), len(system), list(compress(right, chosen)))
        content = [g.is_content and c for c, (g, _) in zip(chosen, comparison.pairs, strict=True)]
        _add(
            scores.clas,
            sum(word.is_content for word in gold),
            sum(word.is_content for word in system),
            list(compress(comparison.right_relation, content)),
        )
        self._add_complete(scores.complete, gold, list(compress(comparison.right_head, chosen)), chosen)
        self._add_complete(scores.complete_labelled, gold, list(compress(comparison.right_label, chosen)), chosen)

    def _add_complete(self, score: Score, gold: list[ScoredWord], right: list[bool], chosen: list[bool]) -> None:
        """Sentences of the same extent in both files whose words are all right."""
        block = self.comparison.block
        wrong = Counter(word.sentence for word in gold)
        wrong.subtract(
            g.sentence for r, (g, _) in zip(right, compress(self.comparison.pairs, chosen), strict=True) if r
        )
        same_extent = set(block.system.sentence_spans)
        score.gold += len(self.sentences)
        score.system += len(self.sentences)
        score.aligned += len(self.sentences)
        score.correct += sum(
            not wrong[sentence] and block.gold.sentence_spans[sentence] in same_extent for sentence in self.sentences
        )

    def _has(self, word: ScoredWord) -> bool:
        return word.sentence in self.sentences and (self.punctuation or not word.is_punctuation)

    def _counterpart(self, i: int) -> ScoredWord:
        """The gold word of a system word; one that has none is taken to the gold sentence that it starts in."""
        gold = self.comparison.gold_of.get(i)
        if gold is not None:
            return self.comparison.gold[gold]
        start = self.comparison.block.system.words[i].start
        sentence = bisect_right(self.comparison.block.gold.sentence_spans, (start, sys.maxsize)) - 1
        return self.comparison.system[i]._replace(sentence=sentence)


def _add(score: Score, gold: int, system: int, right: list[bool]) -> None:
    score.gold += gold
    score.system += system
    score.aligned += len(right)
    score.correct += sum(right)


def _add_spans(score: Score, gold: list[Span], system: list[Span]) -> None:
    _add(score, len(gold), len(system), [True] * _common(gold, system))


def _common(gold: list[Span], system: list[Span]) -> int:
    return len(gold) if gold == system else (Counter(gold) & Counter(system)).total()


def _arc_length(length: int) -> str:
    if length <= 2:
        return ARC_LENGTHS[length]
    return "3-6" if length <= 6 else "7+"


def _sentence_length(words: int) -> str:
    return SENTENCE_LENGTHS[min((words - 1) // 10, 4)]
