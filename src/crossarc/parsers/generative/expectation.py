"""The E-step of EM on the sentences of a shard, whatever process it is in.

A treebank is cut into shards of so many arcs. A shard knows which of all choices of modifiers can occur in it, so that
what it sends is no larger than itself, whatever the number of different words.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints
from crossarc.parsers.generative.config import GenerativeConfig
from crossarc.parsers.generative.parser import (
    GO_ON,
    N_BINS,
    N_SIDES,
    STOP,
    Sums,
    Weights,
    all_arcs,
    arcs_between,
    log_beta,
    sums,
    with_stops,
    with_unordered_stops,
)
from crossarc.parsers.generative.vocabulary import Nodes

__all__ = ["Counts", "Cut", "Expectation", "Shard", "Start", "cut_treebank", "total"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Start = Literal["harmonic", "uniform", "random"]

_ARCS = 500_000  # of a shard: what is summed over together


class Counts(NamedTuple):
    """Expected counts."""

    choices: Floats  # of each choice that can occur
    stops: Floats  # [symbol, direction, bin of the reach, GO_ON or STOP]


class Shard(NamedTuple):
    """Sentences that are summed over together."""

    nodes: Nodes
    places: Ints  # among all choices, of those that can occur here
    choices: NDArray[np.int32]  # [arc, bin]: its place among these; their number where there is none


class Cut(NamedTuple):
    """A treebank in shards."""

    nodes: Nodes  # of all sentences
    shards: list[Shard]
    choices: Ints  # all that can occur: context * number of symbols + symbol
    n_arcs: int


def cut_treebank(nodes: Nodes, config: GenerativeConfig, n_symbols: int) -> Cut:
    """Cut a treebank into shards of about ``_ARCS`` arcs, and find out what can occur."""
    n_arcs = np.append(0, np.cumsum(np.diff(nodes.starts) ** 2))
    cuts = np.unique(np.append(np.searchsorted(n_arcs, np.arange(0, n_arcs[-1], _ARCS)), len(nodes.sizes)))
    parts = [nodes.of_sentences(first, last) for first, last in pairwise(cuts.tolist())]
    seen = [np.unique(_choices_of(part, config, n_symbols)) for part in parts]
    choices = np.unique(np.concatenate(seen))
    choices = choices[choices >= 0]
    shards = []
    for part, own in zip(parts, seen, strict=True):
        keys, own = _choices_of(part, config, n_symbols), own[own >= 0]
        places = np.where(keys < 0, len(own), np.searchsorted(own, keys))
        shards.append(Shard(part, np.searchsorted(choices, own), places.astype(np.int32)))
    return Cut(nodes, shards, choices, int(n_arcs[-1]))


def _choices_of(nodes: Nodes, config: GenerativeConfig, n_symbols: int) -> Ints:
    """[arc, bin]: the choice of its modifier; -1 where there is none."""
    heads, modifiers = all_arcs(nodes)
    arcs = arcs_between(nodes, heads, modifiers, config.condition)
    is_arc = (heads != modifiers) & (nodes.positions[modifiers] > 0)
    sides, possible = arcs.side[:, None], is_arc[:, None]
    if _by_reach(config):
        assert arcs.bin is not None
        sides = (arcs.direction * N_BINS)[:, None] + np.arange(N_BINS)
        possible = possible & (arcs.bin[:, None] >= np.arange(N_BINS))
    contexts = arcs.head[:, None] * N_SIDES + sides
    return np.where(possible, contexts * n_symbols + arcs.modifier[:, None], -1)


def _by_reach(config: GenerativeConfig) -> bool:
    """Whether choices depend on how far the head reaches already."""
    return config.stop and config.projective and config.condition == "distance"


class Expected(NamedTuple):
    """What is expected in a shard."""

    log_likelihood: float
    places: Ints  # of its choices among all
    choices: Floats  # how often each is expected
    stops: Floats  # as in ``Counts``


@dataclass(frozen=True)
class Expectation:
    """How often each choice and decision is expected in the sentences of a shard, by a model."""

    config: GenerativeConfig
    log_choices: Floats | Start  # log p of each choice, or a way to begin without probabilities
    log_decisions: Floats  # as ``Counts.stops``

    def __call__(self, shard: Shard) -> Expected:
        found = sums(shard.nodes.sizes, self._weights(shard), self._shape)
        arcs = found.arcs if _by_reach(self.config) else found.arcs.sum(axis=1, keepdims=True)
        choices = total(shard.choices.ravel(), arcs.ravel(), len(shard.places) + 1)
        stops = np.zeros(self.log_decisions.shape)
        if self.config.stop:
            self._add_decisions(shard.nodes, found, stops)
        return Expected(float(found.log_p.sum()), shard.places, choices[:-1], stops)

    @property
    def _shape(self) -> Constraints:
        return Constraints(single_root=bool(self.config.single_root), projective=self.config.projective)

    def _weights(self, shard: Shard) -> Weights:
        nodes, choices = shard.nodes, self._choices(shard)
        if not self.config.stop:
            return Weights(choices, log_beta(nodes.sizes, self._shape))
        heads, modifiers = all_arcs(nodes)
        symbols = np.where(nodes.positions > 0, nodes.symbols, 0)  # the root decides nothing

        def log_stop(direction: int, bin: int) -> tuple[Floats, Floats]:
            go_on, stop = self.log_decisions[symbols, direction, bin].T
            return go_on, stop

        if self.config.projective:
            return with_stops(choices, heads, modifiers, nodes, log_stop, self.config.condition)
        return with_unordered_stops(choices[:, 0], heads, nodes, log_stop)

    def _choices(self, shard: Shard) -> Floats:
        """[arc, bin]: log p of the choice."""
        if not isinstance(self.log_choices, str):
            own: Floats = np.append(self.log_choices[shard.places], 0.0)[shard.choices]
            return own
        if self.log_choices == "uniform":
            return np.zeros((len(shard.choices), 1))
        heads, modifiers = all_arcs(shard.nodes)  # near heads are likelier
        from_words = shard.nodes.positions[heads] > 0
        return np.where(from_words, -np.log(np.maximum(np.abs(heads - modifiers), 1)), 0.0)[:, None]

    def _add_decisions(self, nodes: Nodes, found: Sums, stops: Floats) -> None:
        """Add how often words are expected to go on and to stop."""
        heads, modifiers = all_arcs(nodes)
        n_nodes, (n_symbols, n_directions, n_bins, _) = len(nodes.symbols), stops.shape
        sides = heads * n_directions + ((modifiers < heads) & (n_directions == 2))
        words = nodes.positions > 0
        for bin in range(n_bins):
            go_on = total(sides, found.arcs[:, bin], n_nodes * n_directions).reshape(n_nodes, n_directions)
            stop = np.ones((n_nodes, 1)) if found.stops is None else found.stops[:, :, bin]
            for direction in range(n_directions):
                for outcome, expected in ((GO_ON, go_on), (STOP, stop)):
                    amounts = expected[words, direction]
                    stops[:, direction, bin, outcome] += total(nodes.symbols[words], amounts, n_symbols)


def total(places: Ints | NDArray[np.int32], amounts: Floats, size: int) -> Floats:
    """What falls on each place."""
    return np.bincount(places, amounts, minlength=size).astype(np.float64, copy=False)
