"""What the enhancer sees of a word and a node that may be its head."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crossarc.enhancing.lexical import Sources, sources_of, words_of
from crossarc.enhancing.paths import Candidate
from crossarc.enhancing.tree_view import TreeView
from crossarc.features.hashing import hash_string
from crossarc.features.language import FeatureSet, Schema, Section
from crossarc.features.templates import Compiled, compile_templates
from crossarc.text.classifier import PADDING, Items

__all__ = ["ATTRIBUTES", "SCHEMA", "CandidateView", "compiled", "items_of"]

# The set of features says what these are
ATTRIBUTES = (
    "path", "mupos", "mlemma", "mpron", "mcase", "mmark", "mcc", "madv", "hupos", "hlemma", "hlabel", "glabel", "hkids",
    "hpass", "turn", "tupos", "order", "rel", "relcase", "mkids", "tkids", "hpunct",
)  # fmt: skip
SCHEMA = Schema("enhancer", {"arc": Section(attributes=ATTRIBUTES)}, required=("arc",))

_ARGUMENTS = ("nsubj", "csubj", "obj", "iobj", "ccomp", "xcomp", "expl", "obl", "cop", "mark", "advmod", "aux")
_PRONOUNS = ("Rel", "Int", "Int,Rel")  # values of PronType


class CandidateView:
    """What is asked of all candidates of a tree, found once for each word."""

    def __init__(self, tree: TreeView) -> None:
        self.tree = tree
        self._words: dict[int, Sources] = {}
        self._pronouns: dict[int, int] = {}

    def sources(self, candidate: Candidate) -> Sources:
        """The words that its label may have in it."""
        others = {"1": self.words(candidate.nodes[1])} if len(candidate.nodes) > 2 else {}
        if candidate.path[0].startswith("v") and (pronoun := self.relative_pronoun(candidate.nodes[1])):
            others["rel"] = self.words(pronoun)
        return sources_of(self.words(candidate.modifier), others)

    def words(self, word: int) -> Sources:
        if word not in self._words:
            self._words[word] = words_of(self.tree, word) if word else {}
        return self._words[word]

    def relative_pronoun(self, clause: int) -> int:
        """The first relative or interrogative pronoun in the upper part of a clause; 0 if there is none."""
        if clause not in self._pronouns:
            near = [clause, *self.tree.children[clause]]
            near += [below for child in self.tree.children[clause] for below in self.tree.children[child]]
            own = (word for word in sorted(near) if self.tree.morphology[word].get("PronType") in _PRONOUNS)
            self._pronouns[clause] = next(own, 0)
        return self._pronouns[clause]

    def attributes(self, candidate: Candidate) -> list[str]:
        """The values of ``ATTRIBUTES``."""
        tree, (m, h, path, nodes) = self.tree, candidate
        top = nodes[sum(step.startswith("^") for step in path)]
        own = self.words(m)
        pronoun = self.relative_pronoun(nodes[1]) if path[0].startswith("v") else 0
        above = tree.heads[h] if h else -1
        return [
            " ".join(path),
            *(tree.upos[m], tree.lemmas[m], tree.morphology[m].get("PronType", "")),
            *(own.get("case", ""), own.get("mark", ""), own.get("cc", ""), own.get("advmod", "")),
            *(tree.upos[h], tree.lemmas[h], tree.labels[h], tree.labels[above] if above >= 0 else ""),
            *(self._arguments(h), "pass" if any(tree.labels[c].endswith(":pass") for c in tree.children[h]) else ""),
            *(tree.lemmas[top], tree.upos[top], f"{m < top}{top < h}{m < h}"),
            *(tree.labels[pronoun] if pronoun else "", self.words(pronoun).get("case", "")),
            *(self._arguments(m), self._arguments(top), str(len(tree.with_relation(h, "punct")))),
        ]

    def _arguments(self, node: int) -> str:
        """The relations of a node's children that matter to its other arguments."""
        tree = self.tree
        return " ".join(sorted({tree.relations[child] for child in tree.children[node]}.intersection(_ARGUMENTS)))


def items_of(rows: Sequence[Sequence[str]]) -> Items:
    """Rows of attributes as the classifier takes them; nothing is around them."""
    hashed = np.zeros((len(rows) + 2 * PADDING, len(ATTRIBUTES)), dtype=np.uint64)
    for i, row in enumerate(rows, PADDING):
        hashed[i] = [hash_string(f"{name}={value}") for name, value in zip(ATTRIBUTES, row, strict=True)]
    return Items(hashed, np.arange(len(rows)))


def compiled(features: FeatureSet) -> Compiled:
    """The templates of a set of features, as the classifier takes them."""
    return compile_templates(SCHEMA.sections["arc"], features.templates["arc"])
