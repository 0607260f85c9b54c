"""Pseudo-projective parsing (Nivre & Nilsson 2005): a projective parser whose labels tell which arcs were lifted.

It can be of any system. Arcs are put back after parsing, and nobody sees an encoded label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from crossarc.core import Constraints, InputError, Sentence, UnsupportedConstraint
from crossarc.io.problems import tree_problems
from crossarc.learning.listener import DevScores
from crossarc.models import ModelError, Tensors
from crossarc.models.schema import Kind, Record, Whole
from crossarc.models.tensors import TensorKind
from crossarc.parsers.base import Capability, Parsed, ParseOptions, Parser, UnsupportedOption
from crossarc.parsers.header import fields_of_parser
from crossarc.parsers.pseudo_projective.config import PseudoProjectiveConfig
from crossarc.parsers.pseudo_projective.encoding import (
    Encoding,
    decoded_label,
    deprojectivised,
    is_encoded,
    projectivised,
)
from crossarc.parsers.wrapping import INNER_HEADER, Wrapper, inner_contents, inner_kinds, inner_parsers

if TYPE_CHECKING:
    from crossarc.features.explain import Reason

__all__ = ["Coverage", "PseudoProjectiveParser", "coverage_of", "decoded_labels", "encoded", "restored"]


class Coverage(NamedTuple):
    """How much of the crossing arcs of trees an encoding can say."""

    arcs: int  # of all trees
    lifted: int  # so that no arcs cross
    restored: int  # of these, those that the labels lead back to where they were


def encoded(sentence: Sentence, encoding: Encoding) -> Sentence:
    """The sentence with a projective tree; ``InputError`` for heads that are no tree, and for labels with our marks."""
    for word, message in tree_problems(sentence):
        raise InputError(message, sentence.place(word))
    for word, label in enumerate(sentence.deprel, 1):
        if is_encoded(label):
            raise InputError(f"the label {label} looks like one of pseudo-projective parsing", sentence.place(word))
    return sentence.with_tree(*projectivised(sentence.heads.tolist(), ["_", *sentence.deprel], encoding))


def restored(sentence: Sentence, encoding: Encoding) -> Sentence:
    """The sentence with the tree that its labels tell of."""
    if not any(map(is_encoded, sentence.deprel)):
        return sentence
    return sentence.with_tree(*deprojectivised(sentence.heads.tolist(), ["_", *sentence.deprel], encoding))


def coverage_of(gold: Iterable[Sentence], projective: Iterable[Sentence], encoding: Encoding) -> Coverage:
    """Of trees, and the same as ``encoded``."""
    arcs = lifted = found = 0
    for tree, other in zip(gold, projective, strict=True):
        moved = [old != new for old, new in zip(tree.head, other.head, strict=True)]
        right = map(str.__eq__, tree.head, restored(other, encoding).head)
        arcs, lifted = arcs + len(tree), lifted + sum(moved)
        found += sum(was_moved and is_right for was_moved, is_right in zip(moved, right, strict=True))
    return Coverage(arcs, lifted, found)


def decoded_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Those that trees have after parsing."""
    return tuple(sorted(set(map(decoded_label, labels))))


@dataclass(frozen=True, repr=False)
class PseudoProjectiveParser(Wrapper):
    """A projective parser, and its trees with the arcs where the labels say.

    Constraints on arcs and labels are refused: what they are about is only known after parsing.

    >>> from crossarc.parsers import CovingtonConfig, train
    >>> from crossarc.testing import random_treebank
    >>> treebank = list(random_treebank(30, seed=1, nonprojectivity=0.5))
    >>> parser = train(treebank, CovingtonConfig(epochs=1, hash_bits=16), pseudo_projective="head")
    >>> parser.coverage.lifted > 0
    True
    """

    config: PseudoProjectiveConfig
    parser: Parser
    coverage: Coverage  # of the treebank
    labels: tuple[str, ...]
    dev: DevScores | None
    treebank: str

    system: ClassVar[str] = "pseudo-projective"
    kept: ClassVar[frozenset[Capability]] = frozenset({Capability.EXPLANATIONS})

    def decode(self, sentences: Sequence[Sentence], constraints: Constraints, options: ParseOptions) -> list[Parsed]:
        shape = Constraints(projective=constraints.projective, single_root=constraints.single_root)
        if constraints != shape:
            raise UnsupportedConstraint("a pseudo-projective parser knows where arcs are after parsing: no constraints")
        found = self.parser.decode(sentences, shape, options)
        return [replace(parsed, sentence=self._restored(parsed.sentence, shape)) for parsed in found]

    def _restored(self, sentence: Sentence, constraints: Constraints) -> Sentence:
        if constraints.projective:  # all arcs stay where they are
            return sentence.with_columns(deprel=list(map(decoded_label, sentence.deprel)))
        return restored(sentence, self.config.encoding)

    def check(self, options: ParseOptions) -> None:
        for _, name in options.asked():
            raise UnsupportedOption(f"{name}: not with a pseudo-projective model, which knows one tree of a sentence")

    def explain(self, sentence: Sentence, head: int, modifier: int) -> list[Reason]:
        """Why the projective parser chose the arc that this one was made of; an arc of no tree is taken as it is."""
        lifted = encoded(sentence, self.config.encoding)
        own = int(lifted.heads[modifier]) if head == sentence.heads[modifier] else head
        return self.parser.explain(lifted, own, modifier)

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        headers, tensors = inner_contents({"parser": self.parser})
        return {**self.header(), "coverage": self.coverage._asdict(), **headers}, tensors

    header_kinds: ClassVar[Mapping[str, Kind]] = {
        **fields_of_parser(PseudoProjectiveConfig),
        "coverage": Record(dict.fromkeys(Coverage._fields, Whole(high=1 << 40))),
        "parser": INNER_HEADER,
    }

    @classmethod
    def tensor_kinds(cls, header: dict[str, Any]) -> Mapping[str, TensorKind]:
        return inner_kinds({"parser": header["parser"]})

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> PseudoProjectiveParser:
        (parser,) = inner_parsers({"parser": header["parser"]}, tensors)
        labels = tuple(header["labels"])
        if labels != decoded_labels(parser.labels) or any(map(is_encoded, labels)):
            raise ModelError("labels that are not those of its projective parser")
        return cls(
            PseudoProjectiveConfig(**header["config"]),
            parser,
            Coverage(**{name: header["coverage"][name] for name in Coverage._fields}),
            labels,
            header["dev"] and DevScores(**header["dev"]),
            header["treebank"],
        )
