"""A tree as the enhancer looks at it: children by head, relations without subtypes, function words as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from crossarc.core import Sentence

__all__ = ["TreeView"]

_PARTS = ("fixed", "goeswith", "flat")  # relations of the further words of an expression


class TreeView:
    """Node 0 is the root, as everywhere."""

    def __init__(self, sentence: Sentence) -> None:
        self.sentence = sentence
        self.heads: list[int] = sentence.heads.tolist()
        self.children = sentence.children
        self.labels = ("<root>", *sentence.deprel)
        self.relations = [label.partition(":")[0] for label in self.labels]
        self.forms = ("<root>", *map(str.lower, sentence.form))
        self.lemmas = ("<root>", *(word.lower() if word != "_" else form.lower() for word, form in _words(sentence)))
        self.upos = ("<root>", *sentence.upos)

    def __len__(self) -> int:
        return len(self.sentence)

    @cached_property
    def morphology(self) -> list[dict[str, str]]:
        """The features of each node by name."""
        return [{}, *(dict(item.split("=", 1) for item in f.split("|") if "=" in item) for f in self.sentence.feats)]

    def with_relation(self, node: int, *relations: str) -> list[int]:
        """The children with one of these relations, whatever their subtypes."""
        return [child for child in self.children[node] if self.relations[child] in relations]

    def expression(self, words: Sequence[int], texts: Sequence[str]) -> str:
        """Function words, with the rest of fixed expressions, as labels have them: ``because_of``."""
        return "_".join(texts[part] for word in words for part in self._parts(word))

    def _parts(self, word: int) -> list[int]:
        """The words of an expression, in their order."""
        found = [word]
        for part in found:
            found += self.with_relation(part, *_PARTS)
        return sorted(found)

    def conjunctions(self, node: int) -> list[int]:
        """The coordinating conjunctions of a conjunct: its own, or those of the next conjunct that has some."""
        own = self.with_relation(node, "cc")
        if own or self.relations[node] != "conj":
            return own
        later = (other for other in self.with_relation(self.heads[node], "conj") if other > node)
        return next(filter(None, (self.with_relation(other, "cc") for other in later)), own)


def _words(sentence: Sentence) -> Iterator[tuple[str, str]]:
    return zip(sentence.lemma, sentence.form, strict=True)
