"""The network that scores arcs, labels and tags, without torch: matrix products by BLAS, the rest in kernels.

An encoder sees each word in its context. Arcs are scored by a biaffine form of head and modifier (Dozat & Manning
2017), divided by the square root of its size, and by their distance. Labels are scored for the arcs that were chosen.
``torch_network`` is the same network for training; its parameters have the same names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from crossarc.core import CrossarcError, Sentence
from crossarc.scorers.neural.one_thread import on_one_thread

__all__ = [
    "MAX_DISTANCE",
    "TAGS",
    "Encoded",
    "Encoder",
    "Network",
    "Sizes",
    "checked_weights",
    "distance_bins",
    "weights_of",
]

Floats = NDArray[np.float32]
Own = TypeVar("Own")

MAX_DISTANCE = 16  # longer arcs count as being so long
TAGS = ("upos", "xpos", "feats")  # the columns that it can fill in
_ENDS = ("head", "modifier")
_ARCS_AT_ONCE = 2048  # whose labels are scored: each takes some thousands of numbers


class Encoder(Protocol):
    """What sees words in their context: ``lstm.LstmEncoder``, ``stacked.StackedEncoder``."""

    def inputs(self, sentences: Sequence[Sentence]) -> Any:
        """What it looks at of sentences; ``starts`` are those of the nodes of each."""

    def encode(self, inputs: Any) -> Floats:
        """[i, :]: the nodes of all sentences, one after the other."""


class Sizes(NamedTuple):
    """How large the parts are that score what the encoder sees."""

    states: int  # numbers for each node that the encoder gives
    arc: int  # units for heads and modifiers
    label: int
    labels: int  # how many labels there are
    tags: Mapping[str, int]  # how many tags there are in each column that is to be filled in

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every parameter."""
        found: dict[str, tuple[int, ...]] = {}
        layers = {f"{part}.{end}": size for part, size in (("arc", self.arc), ("label", self.label)) for end in _ENDS}
        if self.tags:
            layers["tags.hidden"] = self.states // 2
        for name, size in layers.items():
            found[f"{name}.weight"], found[f"{name}.bias"] = (size, self.states), (size,)
        found["arc.form"], found["arc.head_alone"] = (self.arc, self.arc), (self.arc,)
        found["arc.distance"] = (2 * MAX_DISTANCE + 2,)
        found["label.form"] = (self.labels, self.label + 1, self.label + 1)
        for column, count in self.tags.items():
            found[f"tags.{column}.weight"], found[f"tags.{column}.bias"] = (count, self.states // 2), (count,)
        return found


def checked_weights(weights: Mapping[str, Floats], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Floats]:
    """The weights with these names, in these shapes; ``ValueError`` says what does not fit."""
    found = {}
    for name, shape in shapes.items():
        if name not in weights:
            raise ValueError(f"{name} is missing")
        own = weights[name]
        if own.dtype != np.float32 or own.size != np.prod(shape):
            raise ValueError(f"{name} has shape {own.shape} and type {own.dtype}, not {shape} and float32")
        if not np.isfinite(own).all():
            raise ValueError(f"{name} has a number that is not finite")
        found[name] = own.reshape(shape)
    return found


def weights_of(part: str, weights: Mapping[str, Own]) -> dict[str, Own]:
    """Those of one part of a network, by their names in it."""
    prefix = f"{part}."
    return {name.removeprefix(prefix): own for name, own in weights.items() if name.startswith(prefix)}


class Encoded(NamedTuple):
    """The nodes of a batch of sentences as the encoder sees them."""

    states: Floats  # [i, :]
    starts: NDArray[np.int64]  # sentence b has the nodes starts[b] to starts[b + 1]


class Network:
    """An encoder, and what makes scores of what it sees. ``weights`` have the shapes of ``Sizes``."""

    def __init__(self, encoder: Encoder, weights: Mapping[str, Floats]) -> None:
        self.encoder, self.weights = encoder, weights

    @on_one_thread
    def encode(self, sentences: Sequence[Sentence]) -> Encoded:
        """The nodes of sentences in their context."""
        inputs = self.encoder.inputs(sentences)
        return Encoded(self.encoder.encode(inputs), inputs.starts)

    @on_one_thread
    def arc_scores(self, encoded: Encoded) -> list[NDArray[np.float64]]:
        """``[h, m]`` of each sentence."""
        heads, modifiers = self._hidden("arc.head", encoded.states), self._hidden("arc.modifier", encoded.states)
        forms = modifiers @ self.weights["arc.form"] / np.float32(np.sqrt(heads.shape[1]))
        alone = heads @ self.weights["arc.head_alone"]
        by_distance = self.weights["arc.distance"]
        found = []
        for i, j in zip(encoded.starts[:-1].tolist(), encoded.starts[1:].tolist(), strict=True):
            scores = heads[i:j] @ forms[i:j].T
            scores += alone[i:j, np.newaxis]
            scores += by_distance[distance_bins(j - i)]
            found.append(_finite(scores).astype(np.float64))
        return found

    @on_one_thread
    def label_scores(self, encoded: Encoded, heads: NDArray[np.int64], words: NDArray[np.int64]) -> Floats:
        """``[i, l]``: of each label of the arcs from these nodes to these nodes (numbers in the batch)."""
        form = self.weights["label.form"]  # [l, modifier, head]
        n_labels, size, _ = form.shape
        by_modifier = form.transpose(1, 0, 2).reshape(size, -1)
        of_heads = _with_one(self._hidden("label.head", encoded.states))
        of_modifiers = _with_one(self._hidden("label.modifier", encoded.states))
        scores = np.empty((len(heads), n_labels), np.float32)
        for i in range(0, len(heads), _ARCS_AT_ONCE):
            own = slice(i, i + _ARCS_AT_ONCE)
            halves = (of_modifiers[words[own]] @ by_modifier).reshape(-1, n_labels, size)
            scores[own] = np.matmul(halves, of_heads[heads[own], :, np.newaxis])[:, :, 0]
        return _finite(scores)

    @on_one_thread
    def tag_scores(self, encoded: Encoded) -> dict[str, Floats]:
        """``[i, t]``: of each tag of each node, by columns."""
        hidden = self._hidden("tags.hidden", encoded.states)
        return {
            column: hidden @ self.weights[f"tags.{column}.weight"].T + self.weights[f"tags.{column}.bias"]
            for column in TAGS
            if f"tags.{column}.weight" in self.weights
        }

    def _hidden(self, name: str, states: Floats) -> Floats:
        """A layer with leaky rectifiers."""
        found: Floats = states @ self.weights[f"{name}.weight"].T
        found += self.weights[f"{name}.bias"]
        np.maximum(found, np.float32(0.1) * found, out=found)
        return found


def _finite(scores: Floats) -> Floats:
    """The scores; what is done with them has no use for others."""
    if not np.isfinite(scores).all():
        raise CrossarcError("the network gives scores that are no finite numbers: its weights are too large")
    return scores


def distance_bins(size: int) -> NDArray[np.int64]:
    """``[h, m]``: which entry of ``arc.distance`` is that of the arc; the last is for arcs from the root."""
    nodes = np.arange(size)
    bins: NDArray[np.int64] = nodes[np.newaxis, :] - nodes[:, np.newaxis]
    bins = bins.clip(-MAX_DISTANCE, MAX_DISTANCE) + MAX_DISTANCE
    bins[0] = 2 * MAX_DISTANCE + 1
    return bins


def _with_one(vectors: Floats) -> Floats:
    """The vectors with a 1 at their end: a bilinear form of them has linear parts."""
    return np.concatenate([vectors, np.ones((len(vectors), 1), np.float32)], axis=1)
