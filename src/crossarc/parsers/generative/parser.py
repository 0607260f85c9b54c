"""The generative model of McDonald & Satta (2007), §4.4: a tree is drawn, then every head chooses its modifiers.

p(x, T | n) = β ∏ p(label, word | head, direction, distance), where β is one by the number of trees over n words, and
p(x | n) = β Z is a language model: Z is the sum over all trees, by the Matrix-Tree theorem or the inside-outside
algorithm. The distributions come from counts or from EM (``generative_training``).

With ``stop``, heads also decide whether to have another modifier, and the tree is no longer given: p(x, T) is the
product over all decisions. If arcs must not cross, this is the model of Klein & Manning (2004): a head decides on
either side, and knows whether it has a modifier there yet. Otherwise a head decides for both sides alike, which is a
distribution over trees of unordered words (McDonald & Satta 2007, §4.4).

References
----------
Ryan McDonald and Giorgio Satta (2007), *On the Complexity of Non-Projective Data-Driven Dependency Parsing*. IWPT.
Dan Klein and Christopher Manning (2004), *Corpus-Based Induction of Syntactic Structure*. ACL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from math import lgamma, log
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, NoTreeError, Sentence, Tree
from crossarc.features.weights import dequantized
from crossarc.learning.back_off import BackOff, Level
from crossarc.learning.listener import DevScores
from crossarc.models import Tensors
from crossarc.parsers.base import Capability, Parsed, ParseOptions, Parser
from crossarc.parsers.generative._inside_outside import sums_with_stops
from crossarc.parsers.generative.config import Condition, GenerativeConfig
from crossarc.parsers.generative.vocabulary import Nodes, Symbols
from crossarc.trees import best_trees, log_partitions_and_marginals
from crossarc.trees._input import masked

__all__ = [
    "GO_ON",
    "N_DISTANCES",
    "STOP",
    "Arcs",
    "Factors",
    "GenerativeParser",
    "Sums",
    "Weights",
    "all_arcs",
    "arcs_between",
    "contexts_of_label",
    "contexts_of_stop",
    "contexts_of_symbol",
    "contexts_of_tag",
    "log_beta",
    "log_number_of_trees",
    "sums",
    "with_stops",
]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
LogStop = Callable[[int, int], tuple[Floats, Floats]]  # direction, has a modifier -> log p(GO_ON), log p(STOP) of nodes

_BATCH = 30_000  # arcs that are looked at together
_FARTHEST = np.array([1, 2, 3, 6, 10])  # the largest distance of each bin but the last
_BINS = 8  # room for them
N_DISTANCES = 2 * _BINS
GO_ON, STOP = 0, 1


class Arcs(NamedTuple):
    """What the model sees of arcs. Symbols and tags of heads count the root as one more."""

    head: Ints
    head_tag: Ints
    modifier: Ints
    modifier_tag: Ints
    direction: Ints  # 1 if the modifier is to the left; 0 from the root, or if that is no condition
    distance: Ints  # direction and bin of the distance


class Factors(NamedTuple):
    """The distributions of the model.

    A supervised model chooses the tag of the modifier, then its symbol, then the label; a model from EM chooses
    the symbol at once, and has but one label.
    """

    tag: BackOff
    symbol: BackOff
    label: BackOff
    stop: BackOff

    def log_p(self, arcs: Arcs, symbols: Symbols) -> Floats:
        """log p(modifier | head, direction, distance), over all labels."""
        if not self.tag.levels:
            choice = self.symbol.of([arcs.head * N_DISTANCES + arcs.distance], arcs.modifier, 1.0 / len(symbols))
        else:
            tag = self.tag.of(contexts_of_tag(arcs), arcs.modifier_tag, 1.0 / len(symbols.tags))
            alike = 1.0 / symbols.per_tag[arcs.modifier_tag]
            choice = tag * self.symbol.of(contexts_of_symbol(arcs, symbols), arcs.modifier, alike)
        log_p: Floats = np.log(choice)
        return log_p

    def p_label(self, arcs: Arcs, symbols: Symbols) -> Floats:
        """p(label | head, modifier, direction, distance): shape (arcs, labels)."""
        if not self.label.levels:
            return np.full((len(arcs.head), self.label.n_outcomes), 1.0 / self.label.n_outcomes)
        return self.label.given(contexts_of_label(arcs, symbols))

    def log_stop(self, nodes: Nodes, direction: int, has: int) -> tuple[Floats, Floats]:
        """log p(GO_ON) and log p(STOP) of each node in a direction, when it has a modifier there or not."""
        contexts = contexts_of_stop(nodes.symbols, nodes.tags, direction, has)
        go_on, stop = self.stop.given(contexts[-len(self.stop.levels) :]).T
        return np.log(go_on), np.log(stop)


def contexts_of_tag(arcs: Arcs) -> list[Ints]:
    """From the most general to the most specific, as for all factors."""
    return [
        arcs.direction,
        arcs.head_tag * 2 + arcs.direction,
        arcs.head_tag * N_DISTANCES + arcs.distance,
        arcs.head * 2 + arcs.direction,
        arcs.head * N_DISTANCES + arcs.distance,
    ]


def contexts_of_symbol(arcs: Arcs, symbols: Symbols) -> list[Ints]:
    tags = arcs.modifier_tag * (len(symbols.tags) + 1) + arcs.head_tag
    return [
        arcs.modifier_tag,
        tags * 2 + arcs.direction,
        (arcs.modifier_tag * (len(symbols) + 1) + arcs.head) * 2 + arcs.direction,
    ]


def contexts_of_label(arcs: Arcs, symbols: Symbols) -> list[Ints]:
    tags = arcs.modifier_tag * (len(symbols.tags) + 1) + arcs.head_tag
    return [
        tags * 2 + arcs.direction,
        tags * N_DISTANCES + arcs.distance,
        (arcs.modifier * (len(symbols.tags) + 1) + arcs.head_tag) * 2 + arcs.direction,
        (arcs.modifier * (len(symbols) + 1) + arcs.head) * 2 + arcs.direction,
    ]


def contexts_of_stop(symbols: Ints, tags: Ints, direction: Ints | int, has: Ints | int) -> list[Ints]:
    """The most specific one is all that a model from EM has."""
    return [
        np.zeros_like(tags) + 2 * direction + has,
        4 * tags + 2 * direction + has,
        4 * symbols + 2 * direction + has,
    ]


def arcs_between(nodes: Nodes, heads: Ints, modifiers: Ints, condition: Condition | None) -> Arcs:
    """The arcs from heads to modifiers, which are places among the nodes."""
    places, distances = nodes.positions[heads], nodes.positions[modifiers] - nodes.positions[heads]
    of_words = (places > 0) & (condition != "head")
    direction = np.where(of_words, distances < 0, False).astype(np.int64)
    far = np.searchsorted(_FARTHEST, np.abs(distances))
    bins = np.where(of_words, far, 0) if condition == "distance" else 0
    is_word = nodes.positions[modifiers] > 0  # there is no arc to the root, and nothing to see there
    return Arcs(
        nodes.symbols[heads],
        nodes.tags[heads],
        np.where(is_word, nodes.symbols[modifiers], 0),
        np.where(is_word, nodes.tags[modifiers], 0),
        direction,
        direction * _BINS + bins,
    )


@lru_cache(maxsize=128)
def _grid(size: int) -> tuple[Ints, Ints]:
    nodes = np.arange(size)
    return np.repeat(nodes, size), np.tile(nodes, size)


def all_arcs(nodes: Nodes) -> tuple[Ints, Ints]:
    """Heads and modifiers of all arcs of all sentences, those of each as a square."""
    sizes = np.diff(nodes.starts)
    grids = [_grid(size) for size in sizes.tolist()]
    shift = np.repeat(nodes.starts[:-1], sizes**2)
    heads = np.concatenate([head for head, _ in grids]) + shift
    return heads, np.concatenate([modifier for _, modifier in grids]) + shift


class Weights(NamedTuple):
    """Their product over the decisions of a tree is its probability together with the words; logarithms."""

    arcs: Floats  # those of each sentence as a square, one after the other
    first: Floats | None  # [node, direction]: what the first modifier adds there, and every other one
    other: Floats | None
    shared: Floats  # of each sentence: what all its trees have


class Sums(NamedTuple):
    """Sums over the trees of sentences."""

    log_p: Floats  # of each sentence
    arcs: Floats  # probabilities, in the order of the weights
    first: Floats  # [node, direction]: the probability of having a modifier there; empty if nothing depends on it


def sums(sizes: Sequence[int], weights: Weights, shape: Constraints) -> Sums:
    """Over all trees of sentences with so many nodes. Raises ``NoTreeError`` if one has none."""
    starts = list(accumulate([size * size for size in sizes], initial=0))
    if weights.first is None or weights.other is None:
        log_z, arcs = log_partitions_and_marginals(
            squares(weights.arcs, sizes), single_root=shape.single_root, projective=shape.projective
        )
        return Sums(log_z + weights.shared, np.concatenate([square.ravel() for square in arcs]), np.zeros((0, 2)))
    log_z, arcs_out, first = np.empty(len(sizes)), np.empty_like(weights.arcs), np.empty_like(weights.first)
    nodes = np.array(list(accumulate(sizes, initial=0)))
    sums_with_stops(weights.arcs, np.array(starts), nodes, weights.first, weights.other, log_z, arcs_out, first)
    if log_z.min(initial=0.0) == -np.inf:
        raise NoTreeError("there is no tree that the model or the constraints allow")
    return Sums(log_z + weights.shared, arcs_out, first)


def squares(flat: NDArray[np.float64], sizes: Sequence[int]) -> list[Floats]:
    """The array of each sentence, as a view: [head, modifier], with the further dimensions of ``flat``."""
    starts = accumulate([size * size for size in sizes], initial=0)
    return [
        flat[first:last].reshape(size, size, *flat.shape[1:])
        for (first, last), size in zip(pairwise(starts), sizes, strict=True)
    ]


def log_beta(sizes: Sequence[int], shape: Constraints) -> Floats:
    """log p(T | n) of sentences with so many nodes, when all trees are alike."""
    flags = {"single_root": shape.single_root, "projective": shape.projective}
    return np.array([-log_number_of_trees(size - 1, **flags) for size in sizes])


def log_number_of_trees(n: int, *, single_root: bool, projective: bool) -> float:
    """log of the number of trees over n words.

    >>> [round(np.exp(log_number_of_trees(n, single_root=False, projective=False))) for n in range(5)]
    [1, 1, 3, 16, 125]
    """
    if n <= 1:
        return 0.0
    if projective:  # the number of ternary trees, and of those with one child of the root
        top, bottom, by = (3 * n - 2, n - 1, n) if single_root else (3 * n, n, 2 * n + 1)
        return lgamma(top + 1) - lgamma(bottom + 1) - lgamma(top - bottom + 1) - log(by)
    return (n - 1) * log(n if single_root else n + 1)


@dataclass(frozen=True, repr=False)
class GenerativeParser(Parser):
    """A generative model. Its trees are those with the most arcs and labels that are expected to be right (min-risk).

    Sums over the trees of n words take O(n³) time, with many words of context as with one.

    >>> from crossarc.parsers import GenerativeConfig, train
    >>> from crossarc.testing import random_treebank
    >>> treebank = list(random_treebank(30, seed=1))
    >>> model = train(treebank, GenerativeConfig())
    >>> all(log_p < 0 for log_p in model.log_probabilities(treebank[:3]))
    True
    """

    config: GenerativeConfig
    labels: tuple[str, ...]
    symbols: Symbols
    factors: Factors
    dev: DevScores | None = None
    treebank: str = ""  # a checksum of what it was trained on
    objective: float | None = None  # of EM: the log-likelihood of the treebank, times the prior

    system: ClassVar[str] = "generative"
    capabilities: ClassVar[frozenset[Capability]] = frozenset({Capability.LANGUAGE_MODEL, Capability.EPOCHS})

    def decode(self, sentences: Sequence[Sentence], constraints: Constraints, options: ParseOptions) -> list[Parsed]:
        """Probabilities are those among the trees with the required arcs."""
        shape = replace(
            constraints,
            single_root=constraints.single_root or self._shape.single_root,
            projective=constraints.projective or self._shape.projective,
        )
        trees: list[Sentence] = []
        for batch in _batches(sentences):
            nodes = self.symbols.nodes(batch)
            weights = self.weights(nodes)
            if constraints != Constraints():
                on_arcs = replace(shape, required_labels={}, forbidden_labels=frozenset())
                size = len(batch[0]) + 1
                weights = weights._replace(arcs=masked(weights.arcs.reshape(size, size), on_arcs).reshape(-1))
            expected = self._expected_right(nodes, weights, shape)
            trees += map(self._with_tree, batch, best_trees(expected, constraints=shape))
        return list(map(Parsed, trees))

    def log_probabilities(self, sentences: Iterable[Sentence]) -> Iterator[float]:
        """log p(x | n) of each sentence's symbols; with ``stop``, log p(x)."""
        for batch in _batches(sentences):
            nodes = self.symbols.nodes(batch)
            yield from sums(nodes.sizes, self.weights(nodes), self._shape).log_p.tolist()

    def weights(self, nodes: Nodes) -> Weights:
        """The logarithms of all probabilities that trees of the sentences are made of."""
        heads, modifiers = all_arcs(nodes)
        arcs = self.factors.log_p(arcs_between(nodes, heads, modifiers, self.config.condition), self.symbols)
        if self.config.stop:
            log_stop = partial(self.factors.log_stop, nodes)
            return with_stops(arcs, heads, nodes, log_stop, projective=self.config.projective)
        return Weights(arcs, None, None, log_beta(nodes.sizes, self._shape))

    @property
    def _shape(self) -> Constraints:
        return Constraints(single_root=bool(self.config.single_root), projective=self.config.projective)

    def _expected_right(self, nodes: Nodes, weights: Weights, shape: Constraints) -> list[Floats]:
        """The probability of each arc with each label."""
        labels = self.factors.p_label(arcs_between(nodes, *all_arcs(nodes), self.config.condition), self.symbols)
        return squares(sums(nodes.sizes, weights, shape).arcs[:, None] * labels, nodes.sizes)

    def _with_tree(self, sentence: Sentence, tree: Tree) -> Sentence:
        assert tree.labels is not None
        return self.with_labels(sentence, tree.heads, tree.labels)

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        tensors: dict[str, NDArray[Any]] = {}
        for name, factor in self.factors._asdict().items():
            for i, level in enumerate(factor.levels):
                tensors |= {f"{name}.{i}.{part}": array for part, array in vars(level).items()}
        factors = {name: (f.n_outcomes, len(f.levels)) for name, f in self.factors._asdict().items()}
        own = {"tags": self.symbols.tags, "words": self.symbols.words, "factors": factors, "objective": self.objective}
        return {**self.header(), **own}, tensors

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> GenerativeParser:
        tensors = {name: dequantized(tensor) for name, tensor in tensors.items()}
        config = GenerativeConfig(**header["config"])
        factors = {}
        for name, (n_outcomes, n_levels) in header["factors"].items():
            levels = [
                Level(*(tensors[f"{name}.{i}.{part}"] for part in ("contexts", "kept", "cells", "shares")))
                for i in range(n_levels)
            ]
            factors[name] = BackOff(n_outcomes, tuple(levels))
        words = tuple((tag, word) for tag, word in header["words"])
        return cls(
            config,
            tuple(header["labels"]),
            Symbols(config.symbols or "", tuple(header["tags"]), words),
            Factors(**factors),
            header["dev"] and DevScores(**header["dev"]),
            header["treebank"],
            header["objective"],
        )


def _batches(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    batch: list[Sentence] = []
    arcs = 0
    for sentence in sentences:
        batch.append(sentence)
        arcs += (len(sentence) + 1) ** 2
        if arcs >= _BATCH:
            yield batch
            batch, arcs = [], 0
    if batch:
        yield batch


def with_stops(arcs: Floats, heads: Ints, nodes: Nodes, log_stop: LogStop, *, projective: bool) -> Weights:
    """The weights of arcs together with those of the decisions to go on and to stop.

    A head first stops everywhere (shared); each modifier takes that back as far as needed. The root has one modifier
    and decides nothing.
    """
    words = (nodes.positions > 0).astype(np.float64)
    if not projective:
        go_on, stop = log_stop(0, 0)
        return Weights(arcs + (words * go_on)[heads], None, None, np.add.reduceat(words * stop, nodes.starts[:-1]))
    first, other = np.empty((len(words), 2)), np.empty((len(words), 2))
    shared = np.zeros(len(words))
    for direction in (0, 1):
        go_on, stop = log_stop(direction, 0)
        go_on_again, stop_later = log_stop(direction, 1)
        first[:, direction] = words * (go_on + stop_later - stop)
        other[:, direction] = words * go_on_again
        shared += words * stop
    return Weights(arcs, first, other, np.add.reduceat(shared, nodes.starts[:-1]))
