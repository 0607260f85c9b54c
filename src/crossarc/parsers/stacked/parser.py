"""Stacked parsers (Nivre & McDonald 2008; Martins, Das, Smith & Xing 2008): one parser's trees are features of another.

The guide parses a sentence first. What it finds is in MISC while the other parser works (``features.guides``), whose
feature set has templates that look there. Two parsers that work differently make different errors: the second learns
when to believe the first.

References
----------
Joakim Nivre and Ryan McDonald (2008), *Integrating Graph-Based and Transition-Based Dependency Parsers*. ACL.
André Martins, Dipanjan Das, Noah Smith and Eric Xing (2008), *Stacking Dependency Parsers*. EMNLP.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from crossarc.core import Constraints, Sentence
from crossarc.features.guides import with_guide
from crossarc.learning.listener import DevScores
from crossarc.models import ModelError, Tensors
from crossarc.models.schema import Kind
from crossarc.models.tensors import TensorKind
from crossarc.parsers.base import Judged, Parsed, ParseOptions, Parser, batches
from crossarc.parsers.header import fields_of_parser
from crossarc.parsers.stacked.config import StackedConfig
from crossarc.parsers.wrapping import INNER_HEADER, Wrapper, inner_contents, inner_kinds, inner_parsers

if TYPE_CHECKING:
    from crossarc.features.explain import Reason

__all__ = ["StackedParser", "guided"]

_BATCH = 64  # sentences


def guided(sentences: Sequence[Sentence], guide: Parser) -> list[Sentence]:
    """The sentences with what the guide says of them."""
    return [
        with_guide(sentence, parsed.sentence)
        for sentence, parsed in zip(sentences, guide.parse(sentences), strict=True)
    ]


def _without_guide(parsed: Parsed, sentence: Sentence) -> Parsed:
    """What was found, with MISC as it came."""
    trees = tuple(_without_guide(tree, sentence) for tree in parsed.trees)
    return replace(parsed, sentence=parsed.sentence.with_columns(misc=sentence.misc), trees=trees)


@dataclass(frozen=True, repr=False)
class StackedParser(Wrapper):
    """A parser and its guide: it can do what the parser can do, in the time of both.

    >>> from crossarc.parsers import CovingtonConfig, train
    >>> from crossarc.testing import random_treebank
    >>> treebank = list(random_treebank(30, seed=1))
    >>> parser = train(treebank, CovingtonConfig(epochs=1, hash_bits=16), stack="generative")
    >>> parser.parser.config.features, parser.guide.system
    ('default+guide', 'generative')
    """

    config: StackedConfig
    parser: Parser
    guide: Parser
    labels: tuple[str, ...]
    dev: DevScores | None
    treebank: str

    system: ClassVar[str] = "stacked"

    def check(self, options: ParseOptions) -> None:
        self.parser.check(options)

    def decode(self, sentences: Sequence[Sentence], constraints: Constraints, options: ParseOptions) -> list[Parsed]:
        found = self.parser.decode(guided(sentences, self.guide), constraints, options)
        return list(map(_without_guide, found, sentences))

    @property
    def knows_probabilities(self) -> bool:
        return self.parser.knows_probabilities

    def calibrated(self, gold: Sequence[Sentence]) -> StackedParser:
        return replace(self, parser=self.parser.calibrated(guided(gold, self.guide)))

    def judge(self, sentences: Iterable[Sentence]) -> Iterator[Judged]:
        for batch in batches(sentences, _BATCH):
            for sentence, found in zip(batch, self.parser.judge(guided(batch, self.guide)), strict=True):
                yield found._replace(parsed=_without_guide(found.parsed, sentence))

    def explain(self, sentence: Sentence, head: int, modifier: int) -> list[Reason]:
        return self.parser.explain(guided([sentence], self.guide)[0], head, modifier)

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        headers, tensors = inner_contents({"parser": self.parser, "guide": self.guide})
        return {**self.header(), **headers}, tensors

    header_kinds: ClassVar[Mapping[str, Kind]] = {
        **fields_of_parser(StackedConfig),
        "parser": INNER_HEADER,
        "guide": INNER_HEADER,
    }

    @classmethod
    def tensor_kinds(cls, header: dict[str, Any]) -> Mapping[str, TensorKind]:
        return inner_kinds({name: header[name] for name in ("parser", "guide")})

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> StackedParser:
        parser, guide = inner_parsers({name: header[name] for name in ("parser", "guide")}, tensors)
        if parser.labels != tuple(header["labels"]):
            raise ModelError("labels that are not those of its parser")
        dev = header["dev"] and DevScores(**header["dev"])
        return cls(StackedConfig(**header["config"]), parser, guide, parser.labels, dev, header["treebank"])
