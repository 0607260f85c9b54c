"""What a treebank looks like: Table 1 of Nivre (2007), and how its trees cross."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from crossarc.core import Sentence
from crossarc.trees import shape

__all__ = ["TreebankStatistics", "treebank_statistics"]


@dataclass
class TreebankStatistics:
    """Counts over a treebank. The names in comments are the columns of Nivre's table."""

    words: int = 0  # Tok
    sentences: int = 0  # Sen
    lemmas: set[str] = field(default_factory=set)  # Lem: whether there are any
    upos: set[str] = field(default_factory=set)  # CPoS
    xpos: set[str] = field(default_factory=set)  # PoS
    features: set[str] = field(default_factory=set)  # MSF, split into atoms
    labels: set[str] = field(default_factory=set)  # Dep
    nonprojective_arcs: int = 0  # NPT
    degrees: Counter[int] = field(default_factory=Counter)  # sentences of each degree
    gap_degrees: Counter[int] = field(default_factory=Counter)
    ill_nested: int = 0
    roots: Counter[int] = field(default_factory=Counter)  # sentences with that many children of node 0
    several_heads: int = 0  # words with more than one head in DEPS
    multiword_tokens: int = 0
    empty_nodes: int = 0

    @property
    def words_per_sentence(self) -> float:  # T/S
        return self.words / self.sentences if self.sentences else 0.0

    @property
    def nonprojective_sentences(self) -> int:  # NPS; a tree is projective if and only if its degree is 0
        return self.sentences - self.degrees[0]

    def add(self, sentence: Sentence) -> None:
        heads = sentence.heads
        self.words += len(sentence)
        self.sentences += 1
        self.lemmas.update(sentence.lemma)
        self.upos.update(sentence.upos)
        self.xpos.update(sentence.xpos)
        self.labels.update(sentence.deprel)
        for feats in sentence.feats:
            self.features.update(feats.split("|"))
        degree = shape.degree(heads)
        self.degrees[degree] += 1
        self.gap_degrees[shape.gap_degree(heads) if degree else 0] += 1
        if degree:
            self.nonprojective_arcs += int(shape.nonprojective_arcs(heads).sum())
            self.ill_nested += not shape.is_well_nested(heads)
        self.roots[sentence.head.count("0")] += 1
        self.several_heads += sum(len(set(_graph_heads(deps))) > 1 for deps in sentence.deps)
        empty_nodes = sum(insert.is_empty_node for insert in sentence.inserts)
        self.empty_nodes += empty_nodes
        self.multiword_tokens += len(sentence.inserts) - empty_nodes

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON; shares are in per cent."""
        return {
            "words": self.words,
            "sentences": self.sentences,
            "words_per_sentence": self.words_per_sentence,
            "has_lemmas": bool(self.lemmas - {"_"}),
            "upos_tags": len(self.upos - {"_"}),
            "xpos_tags": len(self.xpos - {"_"}),
            "features": len(self.features - {"_"}),
            "labels": len(self.labels - {"_"}),
            "nonprojective_arcs": self.nonprojective_arcs,
            "nonprojective_arcs_percent": _percent(self.nonprojective_arcs, self.words),
            "nonprojective_sentences": self.nonprojective_sentences,
            "nonprojective_sentences_percent": _percent(self.nonprojective_sentences, self.sentences),
            "degrees": dict(sorted(self.degrees.items())),
            "gap_degrees": dict(sorted(self.gap_degrees.items())),
            "ill_nested": self.ill_nested,
            "well_nested_percent": _percent(self.sentences - self.ill_nested, self.sentences),
            "roots": dict(sorted(self.roots.items())),
            "words_with_several_heads": self.several_heads,
            "words_with_several_heads_percent": _percent(self.several_heads, self.words),
            "multiword_tokens": self.multiword_tokens,
            "empty_nodes": self.empty_nodes,
        }


def treebank_statistics(sentences: Iterable[Sentence]) -> TreebankStatistics:
    """Count over a stream of trees.

    >>> tree = Sentence.of(["a", "b", "c"]).with_tree([-1, 3, 0, 2])
    >>> treebank_statistics([tree]).degrees
    Counter({1: 1})
    """
    statistics = TreebankStatistics()
    for sentence in sentences:
        statistics.add(sentence)
    return statistics


def _graph_heads(deps: str) -> list[str]:
    return [item.partition(":")[0] for item in deps.split("|")] if deps != "_" else []


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
