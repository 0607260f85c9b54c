"""The neural parser: a network scores arcs, labels and tags; trees come from the exact inference of ``trees``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from crossarc.core import Constraints, Sentence
from crossarc.evaluation.calibration import Calibration
from crossarc.learning.listener import DevScores
from crossarc.models import Tensors
from crossarc.models.schema import Anything, Kind, MapOf, OneOf
from crossarc.models.tensors import TensorKind
from crossarc.parsers.base import Capability
from crossarc.parsers.header import CALIBRATION, LABELS, fields_of_parser
from crossarc.parsers.neural.batch import NeuralBatch
from crossarc.parsers.neural.config import NeuralConfig
from crossarc.parsers.neural.network_file import encoder_header, network_from_model, tensors_of_network
from crossarc.parsers.scoring import ScoringParser
from crossarc.scorers.neural.network import TAGS, Encoded, Network

__all__ = ["NeuralParser"]


@dataclass(frozen=True, repr=False)
class NeuralParser(ScoringParser):
    """Trees by the scores that a network gives to arcs in their context: O(n²) after the network.

    Attributes
    ----------
    config, labels, dev, treebank
        See ``Parser``.
    network : Network
        What scores arcs, labels and tags.
    tags : dict of tuples of str
        The values of each column that the network fills in; empty unless ``config.tags`` is "own".
    calibration : Calibration or None
        What makes probabilities of scores; None: they are not fitted yet.
    """

    config: NeuralConfig
    network: Network
    labels: tuple[str, ...]
    tags: dict[str, tuple[str, ...]]
    dev: DevScores | None
    treebank: str
    calibration: Calibration | None = None
    _last: _LastBatch = field(default_factory=lambda: _LastBatch(), compare=False)

    system: ClassVar[str] = "neural"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {
            Capability.K_BEST,
            Capability.PROBABILITIES,
            Capability.DISTRIBUTION,
            Capability.RULES,
            Capability.EPOCHS,
        }
    )

    header_kinds: ClassVar[Mapping[str, Kind]] = {
        **fields_of_parser(NeuralConfig),
        **CALIBRATION,
        "tags": MapOf(LABELS, keys=OneOf(TAGS)),
        "encoder": MapOf(Anything()),  # ``network_file`` knows more of it
    }
    optional_fields: ClassVar[Collection[str]] = ("curves",)

    def scored(self, sentences: Sequence[Sentence], constraints: Constraints) -> NeuralBatch:
        return NeuralBatch(self, self.encoded(sentences), constraints)

    def encoded(self, sentences: Sequence[Sentence]) -> Encoded:
        """The sentences as the network sees them; tags and trees of the same words are found one after the other."""
        if not self.tags:
            return self.network.encode(sentences)
        if not self._last.is_of(sentences):
            self._last.keep(sentences, self.network.encode(sentences))
        assert self._last.encoded is not None
        return self._last.encoded

    @property
    def tagger(self) -> NeuralParser | None:
        return self if self.tags else None

    def apply(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """The sentences with the tags that the network finds best."""
        if not sentences:
            return []
        encoded = self.encoded(sentences)
        starts = encoded.starts.tolist()
        best = {column: scores.argmax(axis=1) for column, scores in self.network.tag_scores(encoded).items()}
        return [
            sentence.with_columns(
                **{column: [self.tags[column][tag] for tag in own[i + 1 : j].tolist()] for column, own in best.items()}
            )
            for sentence, i, j in zip(sentences, starts, starts[1:], strict=False)
        ]

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        header = {
            **self.header(),
            "tags": self.tags,
            "encoder": encoder_header(self.network.encoder),
            **({"temperatures": None} if self.calibration is None else self.calibration.to_header()),
        }
        # one row of numbers each: then they can take one byte each (``models.write_model``)
        return header, {name: np.ravel(weights) for name, weights in self.network.weights.items()}

    @classmethod
    def tensor_kinds(cls, header: dict[str, Any]) -> Mapping[str, TensorKind]:
        return tensors_of_network(NeuralConfig(**header["config"]), header)

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> NeuralParser:
        config = NeuralConfig(**header["config"])
        labels = tuple(header["labels"])
        tags = {column: tuple(values) for column, values in header["tags"].items()}
        return cls(
            config,
            network_from_model(config, len(labels), tags, header["encoder"], tensors),
            labels,
            tags,
            header["dev"] and DevScores(**header["dev"]),
            header["treebank"],
            Calibration.from_header(header),
        )


class _LastBatch:
    """The sentences that were encoded last: those that have just been tagged are parsed next."""

    def __init__(self) -> None:
        self._forms: list[tuple[str, ...]] = []
        self.encoded: Encoded | None = None

    def is_of(self, sentences: Sequence[Sentence]) -> bool:
        return len(sentences) == len(self._forms) and all(
            sentence.form is form for sentence, form in zip(sentences, self._forms, strict=True)
        )

    def keep(self, sentences: Sequence[Sentence], encoded: Encoded) -> None:
        self._forms, self.encoded = [sentence.form for sentence in sentences], encoded
