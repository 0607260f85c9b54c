"""Precision and recall over the arcs of dependency graphs (the DEPS column), where a word may have several heads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from crossarc.core import Sentence
from crossarc.evaluation.score import Score

__all__ = ["GraphScores", "arcs_of_deps", "tree_as_graph"]

# A word is its index in the block of sentences; an empty node its sentence and id; the root is the string "0".
Node = int | tuple[int, str] | str

_WORD = re.compile(r"[0-9]{1,9}")


class GraphArc(NamedTuple):
    head: Node
    modifier: Node
    label: str
    is_extra: bool  # not the arc of the basic tree, whatever its label


@dataclass
class GraphScores:
    """Over all arcs of DEPS, and over the extra ones alone: those whose head is not the word's HEAD."""

    labelled: Score = field(default_factory=Score)
    unlabelled: Score = field(default_factory=Score)
    extra_labelled: Score = field(default_factory=Score)
    extra_unlabelled: Score = field(default_factory=Score)

    def as_dict(self) -> dict[str, Any]:
        return {name: score.as_dict() for name, score in vars(self).items()}

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
        for word, deps in enumerate(sentence.deps):
            for head, label in arcs_of_deps(deps):
                yield GraphArc(_node(head, index, offset), offset + word, label, head != sentence.head[word])
        for insert in sentence.inserts:
            if insert.is_empty_node:
                for head, label in arcs_of_deps(insert.row.deps):
                    yield GraphArc(_node(head, index, offset), (index, insert.row.id), label, True)
        offset += len(sentence)


def arcs_of_deps(deps: str) -> Iterator[tuple[str, str]]:
    """Heads and labels in the DEPS column of a word."""
    if deps != "_":
        for item in deps.split("|"):
            head, _, label = item.partition(":")  # labels may hold colons too
            yield head, label


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
