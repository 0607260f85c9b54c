"""Several parsers as one: each scores arcs and labels in its own way, and the best tree is that of all scores.

A neural network and a linear model of larger parts make different errors; together they make fewer (Nivre & McDonald
2008 found that of two other kinds of parsers).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from crossarc.core import Constraints, Sentence
from crossarc.evaluation.calibration import Calibration
from crossarc.learning.listener import DevScores
from crossarc.models import ModelError, Tensors
from crossarc.models.schema import Kind, ListOf, Number, Record
from crossarc.models.tensors import TensorKind
from crossarc.parsers.base import Capability, SentenceTagger
from crossarc.parsers.combined.batch import CombinedBatch, MemberWeights
from crossarc.parsers.combined.config import CombinedConfig
from crossarc.parsers.header import CALIBRATION, fields_of_parser
from crossarc.parsers.scoring import ScoringParser
from crossarc.parsers.wrapping import INNER_HEADER, inner_contents, inner_kinds, inner_parsers

__all__ = ["CombinedParser"]

_MOST_MEMBERS = 64


@dataclass(frozen=True, repr=False)
class CombinedParser(ScoringParser):
    """Trees by the scores of several parsers: it takes the time of all of them.

    Attributes
    ----------
    config, labels, dev, treebank
        See ``Parser``.
    members : tuple of ScoringParser
        The parsers; all of them know the same labels.
    weights : MemberWeights
        What each of them counts.
    calibration : Calibration or None
        What makes probabilities of scores.
    """

    config: CombinedConfig
    members: tuple[ScoringParser, ...]
    weights: MemberWeights
    labels: tuple[str, ...]
    dev: DevScores | None
    treebank: str
    calibration: Calibration | None = None

    system: ClassVar[str] = "combined"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {Capability.K_BEST, Capability.PROBABILITIES, Capability.DISTRIBUTION, Capability.RULES}
    )

    def scored(self, sentences: Sequence[Sentence], constraints: Constraints) -> CombinedBatch:
        return CombinedBatch([member.scored(sentences, constraints) for member in self.members], self.weights)

    @property
    def tagger(self) -> SentenceTagger | None:
        return next((member.tagger for member in self.members if member.tagger is not None), None)

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        headers, tensors = inner_contents(_numbered(self.members))
        header = {
            **self.header(),
            "members": list(headers.values()),
            "weights": self.weights._asdict(),
            **({"temperatures": None} if self.calibration is None else self.calibration.to_header()),
        }
        return header, tensors

    header_kinds: ClassVar[Mapping[str, Kind]] = {
        **fields_of_parser(CombinedConfig),
        **CALIBRATION,
        "members": ListOf(INNER_HEADER, least=2, most=_MOST_MEMBERS),
        "weights": Record(dict.fromkeys(MemberWeights._fields, ListOf(Number(0, 1e6), least=2, most=_MOST_MEMBERS))),
    }
    optional_fields: ClassVar[Collection[str]] = ("curves",)

    @classmethod
    def tensor_kinds(cls, header: dict[str, Any]) -> Mapping[str, TensorKind]:
        for own in header["members"]:
            _refuse_others(own)
        return inner_kinds(_numbered(header["members"]), "members ")

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> CombinedParser:
        members: Any = tuple(inner_parsers(_numbered(header["members"]), tensors))
        labels = tuple(header["labels"])
        weights = MemberWeights(**{name: tuple(map(float, own)) for name, own in header["weights"].items()})
        if any(member.labels != labels for member in members):
            raise ModelError("parsers with different labels")
        if not len(weights.arcs) == len(weights.labels) == len(members):
            raise ModelError(f"{len(members)} parsers, but other numbers of weights")
        return cls(
            CombinedConfig(**header["config"]),
            members,
            weights,
            labels,
            header["dev"] and DevScores(**header["dev"]),
            header["treebank"],
            Calibration.from_header(header),
        )


def _numbered(members: Sequence[Any]) -> dict[str, Any]:
    """What there is of each member, by its number."""
    return {str(i): own for i, own in enumerate(members)}


def _refuse_others(header: dict[str, Any]) -> None:
    """A parser that does not score arcs, or is a combination itself, cannot be a member."""
    from crossarc.parsers.registry import class_of  # which knows this module

    kind = class_of(header)
    if kind is None or not issubclass(kind, ScoringParser) or issubclass(kind, CombinedParser):
        raise ModelError(f"a parser of system {header.get('system')} among several")
