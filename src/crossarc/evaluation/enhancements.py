"""The kinds of arcs in an enhanced graph, told by where they stand in the tree of the same file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crossarc.core import Sentence

__all__ = ["ENHANCEMENTS", "BasicTree", "EnhancementScore"]

ENHANCEMENTS = {
    "tree": "arcs of the tree, with its labels",
    "labels": "arcs of the tree with another label: obl:with",
    "conjoined heads": "conjuncts with the head of the first one",
    "shared modifiers": "modifiers of conjuncts that depend on the first one in the tree",
    "control": "subjects of an xcomp",
    "relative clauses": "antecedents that depend on their own relative clause",
    "ref": "relative pronouns that depend on their antecedent",
    "empty nodes": "arcs to, from and, if they are collapsed, through empty nodes",
    "other": "all others",
}


@dataclass(slots=True)
class EnhancementScore:
    """Precision over the system's arcs of a kind, recall over the gold ones: the two trees may differ."""

    gold: int = 0
    found: int = 0  # of these, in the system's graph
    system: int = 0
    right: int = 0  # of these, in the gold graph

    @property
    def precision(self) -> float:
        return self.right / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        return self.found / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Counts, and rates in per cent."""
        rates = {"precision": 100 * self.precision, "recall": 100 * self.recall, "f1": 100 * self.f1}
        return {"gold": self.gold, "found": self.found, "system": self.system, "right": self.right, **rates}


class BasicTree:
    """The tree of a sentence, as far as it tells enhancements from one another."""

    def __init__(self, sentence: Sentence) -> None:
        self._heads = sentence.head
        self._labels = sentence.deprel

    def enhancement(self, word: int, head: str, label: str) -> str:
        """The kind of an arc to word 1..n."""
        if not self._is_node(head) or ">" in label:
            return "empty nodes"
        if head == self._heads[word - 1]:
            return "tree" if label == self._labels[word - 1] else "labels"
        if label == "ref":
            return "ref"
        relation = self._relation(int(head))
        if label.endswith(":xsubj") or (relation == "xcomp" and label.startswith(("nsubj", "csubj"))):
            return "control"
        if self._is_below(int(head), word):
            return "relative clauses"
        if self._relation(word) == "conj":
            return "conjoined heads"
        return "shared modifiers" if relation == "conj" else "other"

    def _is_node(self, head: str) -> bool:
        return head.isdecimal() and int(head) <= len(self._heads)

    def _relation(self, node: int) -> str:
        return self._labels[node - 1].partition(":")[0] if node else ""

    def _is_below(self, node: int, word: int) -> bool:
        for _ in self._heads:  # there may be a cycle
            if node in (0, word) or self._heads[node - 1] == "_":
                break
            node = int(self._heads[node - 1])
        return node == word
