"""Words in their context by a pretrained transformer, with an LSTM on top of it.

The LSTM sees what the transformer says of each word beside embeddings of the word itself: capitals and affixes, which
the pieces of many transformers do not show, and tags if they are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.scorers.neural.lstm import LstmEncoder, LstmSizes
from crossarc.scorers.neural.transformer import TransformerEncoder, TransformerSizes
from crossarc.scorers.neural.vocabulary import Inputs
from crossarc.scorers.neural.wordpieces import Pieces

__all__ = ["StackedEncoder", "StackedInputs", "StackedSizes"]


class StackedSizes(NamedTuple):
    """How large the parts of the encoder are."""

    pretrained: TransformerSizes
    context: LstmSizes

    @property
    def states(self) -> int:
        """Numbers for each node."""
        return self.context.states

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every parameter."""
        parts = {"pretrained": self.pretrained.shapes, "context": self.context.shapes}
        return {f"{part}.{name}": shape for part, shapes in parts.items() for name, shape in shapes.items()}


class StackedInputs(NamedTuple):
    """What each of the two looks at."""

    pieces: Pieces
    words: Inputs

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the nodes of each sentence begin."""
        return self.words.starts


class StackedEncoder:
    """The encoder without torch."""

    def __init__(self, pretrained: TransformerEncoder, context: LstmEncoder) -> None:
        self.sizes = StackedSizes(pretrained.sizes, context.sizes)
        self.pretrained, self.context = pretrained, context

    def inputs(self, sentences: Sequence[Sentence]) -> StackedInputs:
        """What it looks at of the sentences."""
        return StackedInputs(self.pretrained.inputs(sentences), self.context.inputs(sentences))

    def encode(self, inputs: StackedInputs) -> NDArray[np.float32]:
        """[i, :]: the nodes of sentences in their context."""
        return self.context.encode(inputs.words, self.pretrained.encode(inputs.pieces))
