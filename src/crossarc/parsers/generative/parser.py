"""The generative model of McDonald & Satta (2007), §4.4: a tree is drawn, then every head chooses its modifiers.

p(x, T | n) = β ∏ p(label, word | head, direction, distance), where β is one by the number of trees over n words, and
p(x | n) = β Z is a language model: Z is the sum over all trees, by the Matrix-Tree theorem or the inside-outside
algorithm. The distributions come from counts or from EM (``generative_training``).

With ``stop``, heads also decide whether to have another modifier, and the tree is no longer given: p(x, T) is the
product over all decisions. If arcs must not cross, this is the model of Klein & Manning (2004): a head decides on
either side, and knows whether it has a modifier there yet, or how many words its modifiers and their descendants there
are (its reach). Otherwise a head decides for both sides alike, which is no model of sentences: it says nothing about
the order of words (McDonald & Satta 2007, §4.4).

References
----------
Ryan McDonald and Giorgio Satta (2007), *On the Complexity of Non-Projective Data-Driven Dependency Parsing*. IWPT.
Dan Klein and Christopher Manning (2004), *Corpus-Based Induction of Syntactic Structure*. ACL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from math import lgamma, log
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, CrossarcError, NoTreeError, Sentence, Tree
from crossarc.learning.back_off import BackOff, Level
from crossarc.learning.listener import DevScores
from crossarc.models import ModelError, Tensors
from crossarc.models.schema import Kind, ListOf, Maybe, Number, Record, Row, Text, Whole
from crossarc.models.tensors import Array, TensorKind
from crossarc.parsers.base import Capability, Parsed, ParseOptions, Parser
from crossarc.parsers.generative._inside_outside import sums_with_stops
from crossarc.parsers.generative.config import Condition, GenerativeConfig
from crossarc.parsers.generative.vocabulary import Nodes, Symbols
from crossarc.parsers.header import fields_of_parser
from crossarc.trees import best_trees, log_partitions_and_marginals
from crossarc.trees._input import masked

__all__ = [
    "GO_ON",
    "N_BINS",
    "N_SIDES",
    "STOP",
    "Arcs",
    "Factors",
    "GenerativeParser",
    "Sums",
    "Weights",
    "all_arcs",
    "arcs_between",
    "bins_of_reaches",
    "contexts_of_label",
    "contexts_of_stop",
    "contexts_of_symbol",
    "contexts_of_tag",
    "log_beta",
    "log_number_of_trees",
    "sums",
    "with_stops",
    "with_unordered_stops",
]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
LogStop = Callable[[int, int], tuple[Floats, Floats]]  # direction, bin of reach -> log p(GO_ON), log p(STOP) of nodes

_BATCH = 30_000  # arcs that are looked at together
_FARTHEST = np.array([1, 2, 3, 6, 10])  # the largest distance of each bin but the last
N_BINS = len(_FARTHEST) + 1
N_SIDES = 2 * N_BINS
GO_ON, STOP = 0, 1


class Arcs(NamedTuple):
    """What the model sees of arcs. Symbols and tags of heads count the root as one more."""

    head: Ints
    head_tag: Ints
    modifier: Ints
    modifier_tag: Ints
    direction: Ints  # 1 if the modifier is to the left; 0 from the root, or if that is no condition
    bin: Ints | None  # of the distance, or of the head's reach; None if that is no condition

    @property
    def side(self) -> Ints:
        """All that is seen of where the modifier is."""
        return self.direction * N_BINS + (0 if self.bin is None else self.bin)


class Factors(NamedTuple):
    """The distributions of the model.

    A supervised model chooses the tag of the modifier, then its symbol, then the label; a model from EM chooses
    the symbol at once, and has but one label.
    """

    tag: BackOff
    symbol: BackOff
    label: BackOff
    stop: BackOff

    @property
    def from_em(self) -> bool:
        return not self.tag.levels

    def log_p(self, arcs: Arcs, symbols: Symbols) -> Floats:
        """log p(modifier | head, direction, bin), over all labels."""
        if self.from_em:
            contexts = [np.zeros_like(arcs.head), arcs.head * N_SIDES + arcs.side]
            choice = self.symbol.of(contexts, arcs.modifier, 1.0 / len(symbols))
        else:
            tag = self.tag.of(contexts_of_tag(arcs), arcs.modifier_tag, 1.0 / len(symbols.tags))
            alike = 1.0 / symbols.per_tag[arcs.modifier_tag]
            choice = tag * self.symbol.of(contexts_of_symbol(arcs, symbols), arcs.modifier, alike)
        return _log(choice)

    def p_label(self, arcs: Arcs, symbols: Symbols) -> Floats:
        """p(label | head, modifier, direction, bin of the distance): shape (arcs, labels)."""
        if self.from_em:
            return np.full((len(arcs.head), self.label.n_outcomes), 1.0 / self.label.n_outcomes)
        return self.label.given(contexts_of_label(arcs, symbols))

    def log_stop(self, nodes: Nodes, direction: int, bin: int) -> tuple[Floats, Floats]:
        """log p(GO_ON) and log p(STOP) of each node in a direction, when its reach there is in a bin."""
        contexts = contexts_of_stop(nodes.symbols, nodes.tags, direction, bin)
        if self.from_em:
            contexts = [np.zeros_like(nodes.symbols), contexts[-1]]
        go_on, stop = self.stop.given(contexts).T
        return _log(go_on), _log(stop)


def _log(probabilities: Floats) -> Floats:
    """Logarithms; -inf of what is impossible."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def contexts_of_tag(arcs: Arcs) -> list[Ints]:
    """From the most general to the most specific, as for all factors."""
    levels = [arcs.direction, arcs.head_tag * 2 + arcs.direction, arcs.head * 2 + arcs.direction]
    if arcs.bin is not None:
        levels.insert(2, arcs.head_tag * N_SIDES + arcs.side)
        levels.append(arcs.head * N_SIDES + arcs.side)
    return levels


def contexts_of_symbol(arcs: Arcs, symbols: Symbols) -> list[Ints]:
    tags = arcs.modifier_tag * (len(symbols.tags) + 1) + arcs.head_tag
    words = arcs.modifier_tag * (len(symbols) + 1) + arcs.head
    levels = [arcs.modifier_tag, tags * 2 + arcs.direction, words * 2 + arcs.direction]
    if arcs.bin is not None:
        levels.insert(2, tags * N_SIDES + arcs.side)
        levels.append(words * N_SIDES + arcs.side)
    return levels


def contexts_of_label(arcs: Arcs, symbols: Symbols) -> list[Ints]:
    tags = arcs.modifier_tag * (len(symbols.tags) + 1) + arcs.head_tag
    levels = [
        tags * 2 + arcs.direction,
        (arcs.modifier * (len(symbols.tags) + 1) + arcs.head_tag) * 2 + arcs.direction,
        (arcs.modifier * (len(symbols) + 1) + arcs.head) * 2 + arcs.direction,
    ]
    if arcs.bin is not None:
        levels.insert(1, tags * N_SIDES + arcs.side)
    return levels


def contexts_of_stop(symbols: Ints, tags: Ints, direction: Ints | int, bin: Ints | int) -> list[Ints]:
    """The most specific one is all that a model from EM has, beside its prior."""
    side = direction * N_BINS + bin
    return [np.zeros_like(tags) + side, tags * N_SIDES + side, symbols * N_SIDES + side]


def arcs_between(nodes: Nodes, heads: Ints, modifiers: Ints, condition: Condition | None) -> Arcs:
    """The arcs from heads to modifiers, which are places among the nodes, with the bins of their distances."""
    from_words = (nodes.positions[heads] > 0) & (condition != "head")
    distances = np.where(from_words, nodes.positions[modifiers] - nodes.positions[heads], 1)
    is_word = nodes.positions[modifiers] > 0  # there is no arc to the root, and nothing to see there
    return Arcs(
        nodes.symbols[heads],
        nodes.tags[heads],
        np.where(is_word, nodes.symbols[modifiers], 0),
        np.where(is_word, nodes.tags[modifiers], 0),
        (distances < 0).astype(np.int64),
        bins_of_distances(np.abs(distances)) if condition == "distance" else None,
    )


def bins_of_distances(distances: Ints) -> Ints:
    """1, 2, 3, 4-6, 7-10, more."""
    return np.searchsorted(_FARTHEST, distances)


def bins_of_reaches(reaches: Ints, condition: Condition | None) -> Ints:
    """What a head knows of how many words its modifiers on one side cover already: whether there are any, or a bin.

    A head with a reach of 2 can have its next modifier's first word at a distance of 3.
    """
    return bins_of_distances(reaches + 1) if condition == "distance" else np.minimum(reaches, 1)


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

    arcs: Floats  # [arc, bin of the head's reach]; those of each sentence as a square, one after the other
    shared: Floats  # of each sentence: what all its trees have
    stops: Floats | None = None  # [node, direction, bin]; None if trees have no stops, or all of them the same
    bins: Ints | None = None  # of reaches; None if nothing depends on them, and there is but one


class Sums(NamedTuple):
    """Sums over the trees of sentences."""

    log_p: Floats  # of each sentence
    arcs: Floats  # probabilities, in the order of the weights
    stops: Floats | None  # likewise


def sums(sizes: Sequence[int], weights: Weights, shape: Constraints) -> Sums:
    """Over all trees of sentences with so many nodes. Raises ``NoTreeError`` if one has none."""
    if weights.stops is None:
        log_z, marginals = log_partitions_and_marginals(
            squares(weights.arcs[:, 0], sizes), single_root=shape.single_root, projective=shape.projective
        )
        arcs = np.concatenate([square.ravel() for square in marginals])
        return Sums(log_z + weights.shared, arcs[:, None], None)
    log_z, arcs, stops = np.empty(len(sizes)), np.empty_like(weights.arcs), np.empty_like(weights.stops)
    starts = np.array(list(accumulate([size * size for size in sizes], initial=0)))
    nodes = np.array(list(accumulate(sizes, initial=0)))
    sums_with_stops(weights.arcs, starts, nodes, weights.stops, weights.bins, log_z, arcs, stops)
    if log_z.min(initial=0.0) == -np.inf:
        raise NoTreeError("there is no tree that the model or the constraints allow")
    return Sums(log_z + weights.shared, arcs, stops)


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

    header_kinds: ClassVar[Mapping[str, Kind]] = {
        **fields_of_parser(GenerativeConfig),
        "tags": ListOf(Text(), least=1, most=1 << 16),
        "words": ListOf(Row((Whole(), Text())), least=1, most=1 << 22),
        "factors": Record(dict.fromkeys(Factors._fields, Row((Whole(1, 1 << 22), Whole(0, 8))))),
        "objective": Maybe(Number()),
    }

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
                allowed = masked(np.zeros((size, size)), on_arcs).reshape(-1, 1)
                weights = weights._replace(arcs=weights.arcs + allowed)
            expected = self._expected_right(nodes, weights, shape)
            trees += map(self._with_tree, batch, best_trees(expected, constraints=shape))
        return list(map(Parsed, trees))

    def log_probabilities(self, sentences: Iterable[Sentence]) -> Iterator[float]:
        """log p(x | n) of each sentence's symbols; with ``stop``, log p(x) among all sentences with words.

        A model with ``stop`` whose arcs may cross is none of sentences: ``CrossarcError``.
        """
        if self.config.stop and not self.config.projective:
            raise CrossarcError(
                "a model with --stop and --nonprojective is one of unordered words: sentences have no probability"
            )
        return (log_p for batch in _batches(sentences) for log_p in self._log_sums(batch))

    def _log_sums(self, batch: Sequence[Sentence]) -> list[float]:
        nodes = self.symbols.nodes(batch)
        log_p: list[float] = sums(nodes.sizes, self.weights(nodes), self._shape).log_p.tolist()
        return log_p

    def weights(self, nodes: Nodes) -> Weights:
        """The logarithms of all probabilities that trees of the sentences are made of."""
        heads, modifiers = all_arcs(nodes)
        arcs = arcs_between(nodes, heads, modifiers, self.config.condition)
        if not self.config.stop:
            return Weights(self.factors.log_p(arcs, self.symbols)[:, None], log_beta(nodes.sizes, self._shape))
        log_stop = partial(self.factors.log_stop, nodes)
        if not self.config.projective:
            return with_unordered_stops(self.factors.log_p(arcs, self.symbols), heads, nodes, log_stop)
        if self.config.condition == "distance":
            choices = self._choices_by_reach(arcs)
        else:
            choices = self.factors.log_p(arcs, self.symbols)[:, None]
        return with_stops(choices, heads, modifiers, nodes, log_stop, self.config.condition)

    def _choices_by_reach(self, arcs: Arcs) -> Floats:
        """log p(modifier | head, direction, reach): shape (arcs, bins); 0 where the modifier is nearer than the bin."""
        assert arcs.bin is not None
        choices = np.zeros((len(arcs.head), N_BINS))
        for bin in range(N_BINS):
            can_be = np.flatnonzero(arcs.bin >= bin)
            head, head_tag, modifier, modifier_tag, direction = (field[can_be] for field in arcs[:-1])
            there = Arcs(head, head_tag, modifier, modifier_tag, direction, np.full(len(can_be), bin))
            choices[can_be, bin] = self.factors.log_p(there, self.symbols)
        return choices

    @property
    def _shape(self) -> Constraints:
        return Constraints(single_root=bool(self.config.single_root), projective=self.config.projective)

    def _expected_right(self, nodes: Nodes, weights: Weights, shape: Constraints) -> list[Floats]:
        """The probability of each arc with each label."""
        labels = self.factors.p_label(arcs_between(nodes, *all_arcs(nodes), self.config.condition), self.symbols)
        arcs = sums(nodes.sizes, weights, shape).arcs.sum(axis=1)
        return squares(arcs[:, None] * labels, nodes.sizes)

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
    def tensor_kinds(cls, header: dict[str, Any]) -> Mapping[str, TensorKind]:
        kinds: dict[str, TensorKind] = {}
        for name, (_, n_levels) in header["factors"].items():
            for level in (f"{name}.{i}" for i in range(n_levels)):
                seen, cells = f"contexts of {level}", f"cells of {level}"
                kinds |= {
                    f"{level}.contexts": Array(np.int64, (seen,), low=0, high=1 << 60, increasing=True),
                    f"{level}.kept": Array(np.float64, ((seen, 1),), low=0, high=1),
                    f"{level}.cells": Array(np.int64, (cells,), low=0, high=1 << 60, increasing=True),
                    f"{level}.shares": Array(np.float64, (cells,), low=0, high=1),
                }
        return kinds

    @classmethod
    def from_model(cls, header: dict[str, Any], tensors: Tensors) -> GenerativeParser:
        config = GenerativeConfig(**header["config"])
        factors = {}
        for name, (n_outcomes, n_levels) in header["factors"].items():
            levels = [
                Level(*(tensors[f"{name}.{i}.{part}"] for part in ("contexts", "kept", "cells", "shares")))
                for i in range(n_levels)
            ]
            factors[name] = BackOff(n_outcomes, tuple(levels))
        words = tuple((tag, word) for tag, word in header["words"])
        found = cls(
            config,
            tuple(header["labels"]),
            Symbols(config.symbols or "", tuple(header["tags"]), words),
            Factors(**factors),
            header["dev"] and DevScores(**header["dev"]),
            header["treebank"],
            header["objective"],
        )
        check_factors(found)
        return found


def check_factors(parser: GenerativeParser) -> None:
    """Refuse symbols with which not every sentence can be written, and factors that are not of these symbols."""
    factors, symbols = parser.factors, parser.symbols
    if parser.config.symbols is None or not symbols.is_complete:
        raise ModelError("its symbols lack one for unknown words")
    nothing = np.zeros(0, dtype=np.int64)
    arcs = Arcs(nothing, nothing, nothing, nothing, nothing, nothing if parser.config.condition == "distance" else None)
    expected = {
        "tag": (len(symbols.tags), len(contexts_of_tag(arcs))),
        "symbol": (len(symbols), len(contexts_of_symbol(arcs, symbols))),
        "label": (len(parser.labels), len(contexts_of_label(arcs, symbols))),
        "stop": (2, len(contexts_of_stop(nothing, nothing, 0, 0))),
    }
    if factors.from_em:
        expected = {"tag": (1, 0), "symbol": (len(symbols), 2), "label": (1, 0), "stop": (2, 2)}
    if not parser.config.stop:
        expected["stop"] = (1, 0)
    if {name: (own.n_outcomes, len(own.levels)) for name, own in factors._asdict().items()} != expected:
        raise ModelError("its factors are not those of its symbols and labels")
    for factor in factors:
        for level in factor.levels:
            if level.cells.max(initial=-1) >= len(level.contexts) * factor.n_outcomes:
                raise ModelError("its factors have outcomes that there are not")


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


def with_stops(
    choices: Floats, heads: Ints, modifiers: Ints, nodes: Nodes, log_stop: LogStop, condition: Condition | None
) -> Weights:
    """The weights of arcs together with those of the decisions to go on and to stop. The root has one modifier
    and decides nothing.

    ``choices`` are those of modifiers, for each bin of their heads' reaches, or one for all bins.
    """
    bins = bins_of_reaches(np.arange(max(nodes.sizes, default=1)), condition)
    n_bins = N_BINS if condition == "distance" else 2
    words = nodes.positions > 0
    go_on, stop = np.empty((len(words), 2, n_bins)), np.empty((len(words), 2, n_bins))
    for direction, bin in np.ndindex(2, n_bins):
        decisions = log_stop(direction, bin)
        go_on[:, direction, bin], stop[:, direction, bin] = (np.where(words, decision, 0.0) for decision in decisions)
    arcs = go_on[heads, (modifiers < heads).astype(np.int64)]
    arcs += choices
    return Weights(arcs, np.zeros(len(nodes.sizes)), stop, bins)


def with_unordered_stops(choices: Floats, heads: Ints, nodes: Nodes, log_stop: LogStop) -> Weights:
    """Weights where heads decide for both sides alike when to stop: every word stops once, whatever the tree."""
    go_on, stop = (np.where(nodes.positions > 0, decision, 0.0) for decision in log_stop(0, 0))
    return Weights((choices + go_on[heads])[:, None], np.add.reduceat(stop, nodes.starts[:-1]))
