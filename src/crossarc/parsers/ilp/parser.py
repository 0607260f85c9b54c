"""The integer-program parser of Martins, Smith and Xing (2009).

Features, scores, decoder and learner, put together: the pruner, the scores of parts and the labels are those of a
linear scorer, with scores of arcs that are not projective beside them; trees are found by an integer program
(``crossarc.ilp``) or its relaxation; weights are learnt with the relaxation (``training``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from crossarc.core import Constraints, Sentence
from crossarc.features.weights import dequantized
from crossarc.learning.listener import DevScores
from crossarc.models import Tensors
from crossarc.models.schema import Kind
from crossarc.models.tensors import TensorKind
from crossarc.parsers.base import Capability, Parsed, ParseOptions, Parser
from crossarc.parsers.header import fields_of_linear, tensors_of_linear
from crossarc.parsers.ilp.config import IlpConfig
from crossarc.parsers.linear.integer_program import parsed_by_program
from crossarc.parsers.linear.parser import LinearParser
from crossarc.scorers.linear.scorer import LinearScorer

if TYPE_CHECKING:
    from crossarc.features.explain import Reason

__all__ = ["IlpParser"]


@dataclass(frozen=True, repr=False)
class IlpParser(Parser):
    """Trees by integer programs, exact with a certificate or relaxed.

    Attributes
    ----------
    config : IlpConfig
        How it was trained.
    linear : LinearParser
        Its scorer, with a search that does without programs.

    >>> Capability.RULES in IlpParser.capabilities, Capability.PROBABILITIES in IlpParser.capabilities
    (True, False)
    """

    config: IlpConfig
    linear: LinearParser

    system: ClassVar[str] = "ilp"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {
            Capability.RULES,
            Capability.PROGRAMS,
            Capability.MAX_CHILDREN,
            Capability.EXPLANATIONS,
            Capability.EPOCHS,
            Capability.PARALLEL_TRAINING,
        }
    )

    header_kinds: ClassVar[Mapping[str, Kind]] = fields_of_linear(IlpConfig)

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.linear.labels

    @property
    def dev(self) -> DevScores | None:  # type: ignore[override]
        return self.linear.dev

    @property
    def treebank(self) -> str:  # type: ignore[override]
        return self.linear.treebank

    def decode(self, sentences: Sequence[Sentence], constraints: Constraints, options: ParseOptions) -> list[Parsed]:
        program = {"kinds": self.config.kinds, "solver": self.config.solver}
        return [parsed_by_program(self.linear, sentence, constraints, options, **program) for sentence in sentences]

    def explain(self, sentence: Sentence, head: int, modifier: int) -> list[Reason]:
        from crossarc.parsers.ilp.explain import explain

        return explain(self, sentence, head, modifier)

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        header, tensors = self.linear.to_model()
        return {**header, **self.header()}, tensors

    @classmethod
    def tensor_kinds(cls, header: dict[str, Any]) -> Mapping[str, TensorKind]:
        return tensors_of_linear(header)

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> IlpParser:
        config = IlpConfig(**header["config"])
        tensors = {name: dequantized(tensor) for name, tensor in tensors.items()}
        scorer = LinearScorer.from_model(header, tensors, config.scorer)
        dev = header["dev"] and DevScores(**header["dev"])
        return cls(config, LinearParser(config.linear, scorer, dev, header["treebank"]))
