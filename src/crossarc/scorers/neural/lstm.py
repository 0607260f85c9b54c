"""Words in their context by a bidirectional LSTM over the embeddings of their attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.scorers.neural._lstm import lstm_cells
from crossarc.scorers.neural.vocabulary import AVERAGED, NOTHING, Inputs, Vocabulary

__all__ = ["DIRECTIONS", "LstmEncoder", "LstmSizes", "Packing", "run_lstm", "steps"]

Floats = NDArray[np.float32]

DIRECTIONS = ("rightward", "leftward")


class LstmSizes(NamedTuple):
    """How large the parts of the encoder are."""

    tables: Mapping[str, int]  # rows of the embeddings of each group of attributes
    embedding: int
    hidden: int  # units of each direction
    layers: int
    beside: int = 0  # numbers for each node that come from another encoder

    @property
    def states(self) -> int:
        """Numbers for each node."""
        return 2 * self.hidden

    @property
    def width(self) -> int:
        """Numbers for each node that the first layer sees."""
        return len(self.tables) * self.embedding + self.beside

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every parameter."""
        found: dict[str, tuple[int, ...]] = {
            f"embed.{group}.weight": (rows, self.embedding) for group, rows in self.tables.items()
        }
        for layer in range(self.layers):
            width = self.states if layer else self.width
            for direction in DIRECTIONS:
                name = f"lstm.{layer}.{direction}"
                found[f"{name}.input"], found[f"{name}.state"] = (
                    (4 * self.hidden, width),
                    (4 * self.hidden, self.hidden),
                )
                found[f"{name}.bias"] = (4 * self.hidden,)
        return found


class Packing(NamedTuple):
    """Sentences side by side, the longest first: step t has the nodes t of all sentences that are so long."""

    nodes: NDArray[np.int64]  # step after step
    counts: list[int]  # how many nodes each step has

    @classmethod
    def of(cls, starts: NDArray[np.int64]) -> Packing:
        """Of the sentences whose nodes ``starts[b]`` to ``starts[b + 1]`` are."""
        sizes = np.diff(starts)
        order = np.argsort(-sizes, kind="stable")
        first, sizes = starts[:-1][order], sizes[order]
        counts = [int(np.searchsorted(-sizes, -t)) for t in range(int(sizes[0]))] if len(sizes) else []
        steps = [first[:count] + t for t, count in enumerate(counts)]
        return cls(np.concatenate(steps) if steps else np.zeros(0, np.int64), counts)


class LstmEncoder:
    """The encoder without torch. ``weights`` have the shapes of its sizes."""

    def __init__(self, sizes: LstmSizes, vocabulary: Vocabulary, weights: Mapping[str, Floats]) -> None:
        self.sizes, self.vocabulary, self.weights = sizes, vocabulary, weights

    @cached_property
    def _lstms(self) -> list[list[tuple[Floats, Floats, Floats]]]:
        """Of each layer and direction: the weights of inputs and of states, transposed, and the biases."""
        return [
            [
                (
                    np.ascontiguousarray(self.weights[f"lstm.{layer}.{direction}.input"].T),
                    np.ascontiguousarray(self.weights[f"lstm.{layer}.{direction}.state"].T),
                    self.weights[f"lstm.{layer}.{direction}.bias"],
                )
                for direction in DIRECTIONS
            ]
            for layer in range(self.sizes.layers)
        ]

    def inputs(self, sentences: Sequence[Sentence]) -> Inputs:
        """What it looks at of the sentences."""
        return self.vocabulary.inputs(sentences)

    def encode(self, inputs: Inputs, beside: Floats | None = None) -> Floats:
        """[i, :]: the nodes of sentences in their context; ``beside`` is what another encoder says of each node."""
        packing = Packing.of(inputs.starts)
        first, *others = self._lstms
        sums = self._sums_of_words(inputs, packing, beside)
        found = np.concatenate(
            [run_lstm(sums[i], packing.counts, again, i) for i, (_, again, _) in enumerate(first)], 1
        )
        for layer in others:
            both = [
                run_lstm(found @ into + bias, packing.counts, again, i) for i, (into, again, bias) in enumerate(layer)
            ]
            found = np.concatenate(both, axis=1)
        states = np.empty_like(found)
        states[packing.nodes] = found
        return states

    def _sums_of_words(self, inputs: Inputs, packing: Packing, beside: Floats | None) -> list[Floats]:
        """What the inputs of the first layer add to the sums of its gates; once for each word, where words repeat."""
        embedded, words, sums = self.embed(inputs), inputs.words[packing.nodes], []
        for into, _, bias in self._lstms[0]:
            own = (embedded @ into[: embedded.shape[1]] + bias)[words]
            if beside is not None:
                own += beside[packing.nodes] @ into[embedded.shape[1] :]
            sums.append(own)
        return sums

    def embed(self, inputs: Inputs) -> Floats:
        """The words without their context: sums or means of embeddings, group beside group."""
        groups = []
        for group, rows in inputs.rows.items():
            table = self.weights[f"embed.{group}.weight"]
            total = table[rows[:, 0]]
            for column in range(1, rows.shape[1]):
                total += table[rows[:, column]]
            if group in AVERAGED:
                total /= np.maximum((rows != NOTHING).sum(axis=1, keepdims=True), 1).astype(np.float32)
            groups.append(total)
        return np.concatenate(groups, axis=1)


def steps(counts: Sequence[int], backward: int) -> Iterator[tuple[int, int]]:
    """The first node and the end of each step of a packing."""
    ends = np.cumsum(counts).tolist()
    both = list(zip([0, *ends], ends, strict=False))
    return reversed(both) if backward else iter(both)


def run_lstm(gates: Floats, counts: Sequence[int], again: Floats, backward: int, cells: Floats | None = None) -> Floats:
    """The states of one direction of an LSTM, of all steps.

    ``gates`` has what the inputs add to the sums of the gates; it is replaced by the gates. ``again`` are the weights
    of states, transposed. The cells after each step are written to ``cells``, if they are wanted.
    """
    size = len(again)
    out = np.empty((len(gates), size), np.float32)
    cell, state = np.zeros((2, max(counts, default=0), size), np.float32)
    added = np.empty((len(cell), 4 * size), np.float32)
    for i, j in steps(counts, backward):
        gates[i:j] += np.dot(state[: j - i], again, out=added[: j - i])
        lstm_cells(gates[i:j], cell[: j - i], state[: j - i], out[i:j])
        if cells is not None:
            cells[i:j] = cell[: j - i]
    return out
