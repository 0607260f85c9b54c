"""Precision and recall over the arcs of dependency graphs (the DEPS column), where a word may have several heads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from crossarc.core import Sentence
from crossarc.evaluation.deps import arcs_of_deps
from crossarc.evaluation.enhancements import ENHANCEMENTS, BasicTree, EnhancementScore
from crossarc.evaluation.score import Score

__all__ = ["GraphScores", "tree_as_graph"]

# A word is its index in the block of sentences; an empty node its sentence and id; the root is the string "0".
Node = int | tuple[int, str] | str

_WORD = re.compile(r"[0-9]{1,9}")


class GraphArc(NamedTuple):
    """An arc of a graph, as DEPS has it."""

    head: Node
    modifier: Node
    label: str
    is_extra: bool  # not the arc of the basic tree, whatever its label
    enhancement: str  # its kind, one of ``ENHANCEMENTS``

    @property
    def is_between_words(self) -> bool:
        """Whether none of its ends is an empty node."""
        return not (isinstance(self.head, tuple) or isinstance(self.modifier, tuple))


@dataclass
class GraphScores:
    """Over all arcs of DEPS, and over the extra ones alone: those whose head is not the word's HEAD.

    ELAS and EULAS are those of the official scorer: arcs from and to empty nodes do not count, EULAS looks at labels up
    to the colon, and an arc that stands twice counts twice.
    """

    elas: Score = field(default_factory=Score)
    eulas: Score = field(default_factory=Score)
    labelled: Score = field(default_factory=Score)
    unlabelled: Score = field(default_factory=Score)
    extra_labelled: Score = field(default_factory=Score)
    extra_unlabelled: Score = field(default_factory=Score)
    by_enhancement: dict[str, EnhancementScore] = field(
        default_factory=lambda: {name: EnhancementScore() for name in ENHANCEMENTS}
    )

    @property
    def overall(self) -> dict[str, Score]:
        """All but those by enhancement, by name."""
        return {name: score for name, score in vars(self).items() if name != "by_enhancement"}

    def as_dict(self) -> dict[str, Any]:
        by_enhancement = {name: score.as_dict() for name, score in self.by_enhancement.items()}
        return {name: score.as_dict() for name, score in self.overall.items()} | {"by_enhancement": by_enhancement}

    def add(self, gold: list[Sentence], system: list[Sentence], gold_of: Mapping[int, int]) -> None:
        """Count the arcs of a block of sentences; ``gold_of`` gives the gold word of a system word."""
        gold_arcs = list(_graph_arcs(gold))
        system_arcs = [
            arc._replace(head=_gold_node(arc.head, gold_of), modifier=_gold_node(arc.modifier, gold_of))
            for arc in _graph_arcs(system)
        ]
        gold_extra = [arc for arc in gold_arcs if arc.is_extra]
        system_extra = [arc for arc in system_arcs if arc.is_extra]
        _add_arcs(self.unlabelled, self.labelled, gold_arcs, system_arcs)
        _add_arcs(self.extra_unlabelled, self.extra_labelled, gold_extra, system_extra)
        _add_official(self.elas, gold_arcs, system_arcs, str)
        _add_official(self.eulas, gold_arcs, system_arcs, _universal)
        self._add_enhancements(gold_arcs, system_arcs)

    def _add_enhancements(self, gold: list[GraphArc], system: list[GraphArc]) -> None:
        gold_kinds = {arc[:3]: arc.enhancement for arc in gold}
        system_kinds = {arc[:3]: arc.enhancement for arc in system}
        for arc, kind in gold_kinds.items():
            self.by_enhancement[kind].gold += 1
            self.by_enhancement[kind].found += arc in system_kinds
        for arc, kind in system_kinds.items():
            self.by_enhancement[kind].system += 1
            self.by_enhancement[kind].right += arc in gold_kinds


def _add_official(score: Score, gold: list[GraphArc], system: list[GraphArc], shown: Callable[[str], str]) -> None:
    """As ``udeval`` counts: every pair of arcs that are the same is right."""
    gold_counts, system_counts = (
        Counter((arc.head, arc.modifier, shown(arc.label)) for arc in arcs if arc.is_between_words)
        for arcs in (gold, system)
    )
    score.gold += gold_counts.total()
    score.aligned += gold_counts.total()
    score.system += system_counts.total()
    score.correct += sum(count * system_counts[arc] for arc, count in gold_counts.items())


def _universal(label: str) -> str:
    """A label without subtypes; of a collapsed empty node, all labels of the path."""
    return ">".join(step.partition(":")[0] for step in label.split(">"))


def _add_arcs(unlabelled: Score, labelled: Score, gold: list[GraphArc], system: list[GraphArc]) -> None:
    for score, size in ((unlabelled, 2), (labelled, 3)):
        gold_set = {arc[:size] for arc in gold}
        system_set = {arc[:size] for arc in system}
        score.gold += len(gold_set)
        score.aligned += len(gold_set)
        score.system += len(system_set)
        score.correct += len(gold_set & system_set)


def _graph_arcs(sentences: list[Sentence]) -> Iterator[GraphArc]:
    offset = 0
    for index, sentence in enumerate(sentences):
        tree = BasicTree(sentence)
        for word, deps in enumerate(sentence.deps):
            for head, label in arcs_of_deps(deps):
                node, is_extra = _node(head, index, offset), head != sentence.head[word]
                yield GraphArc(node, offset + word, label, is_extra, tree.enhancement(word + 1, head, label))
        for insert in sentence.inserts:
            if insert.is_empty_node:
                for head, label in arcs_of_deps(insert.row.deps):
                    node = _node(head, index, offset)
                    yield GraphArc(node, (index, insert.row.id), label, True, "empty nodes")
        offset += len(sentence)


def tree_as_graph(sentence: Sentence) -> Sentence:
    """The sentence with the arcs of its tree in DEPS, if there is nothing.

    >>> tree_as_graph(Sentence.of(["a", "b"]).with_tree([-1, 2, 0], ["_", "x", "root"])).deps
    ('2:x', '0:root')
    """
    if any(deps != "_" for deps in sentence.deps):
        return sentence
    return sentence.with_columns(deps=[f"{h}:{label}" for h, label in zip(sentence.head, sentence.deprel, strict=True)])


def _node(id_: str, sentence: int, offset: int) -> Node:
    if id_ == "0":
        return id_
    return offset + int(id_) - 1 if _WORD.fullmatch(id_) else (sentence, id_)


def _gold_node(node: Node, gold_of: Mapping[int, int]) -> Node:
    """A system word without a gold word is nobody's node: it keeps a number that no gold word has."""
    return gold_of.get(node, -2 - node) if isinstance(node, int) else node
