"""What segmenter, tagger and lemmatizer have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, Self

from crossarc.core import Sentence

__all__ = ["Component", "Header", "Progress", "Tensors"]

Header = dict[str, Any]  # goes to the header of a model file as JSON
Tensors = dict[str, Any]  # arrays by name, and ``crossarc.features.weights.Quantized``


class Progress(Protocol):
    """Whoever watches a training; a ``TrainingListener`` does."""

    def learnt(self, stage: str, words: int) -> None:
        """So many more words have been learnt from."""


class Component(Protocol):
    """A part of a pipeline: learnt from a treebank, kept in a model file. ``apply`` does what it is for."""

    name: ClassVar[str]

    @classmethod
    def train(cls, sentences: Sequence[Sentence], *, seed: int = 1, listener: Progress | None = None) -> Self:
        """Learn from a treebank."""

    def to_model(self) -> tuple[Header, Tensors]:
        """What a model file keeps."""

    @classmethod
    def from_model(cls, header: Header, tensors: Tensors) -> Self:
        """What ``to_model`` was called on."""
