"""Training of the generative model: from trees by counting, from sentences by expectation maximisation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, CrossarcError, Sentence
from crossarc.learning.back_off import BackOff, counted, with_prior
from crossarc.models import Contents
from crossarc.parsers.generative.config import GenerativeConfig
from crossarc.parsers.generative.parser import (
    GO_ON,
    N_DISTANCES,
    STOP,
    Factors,
    GenerativeParser,
    Sums,
    Weights,
    all_arcs,
    arcs_between,
    contexts_of_label,
    contexts_of_stop,
    contexts_of_symbol,
    contexts_of_tag,
    log_beta,
    sums,
    with_stops,
)
from crossarc.parsers.generative.vocabulary import Nodes, Symbols, collect
from crossarc.parsers.training import EpochReport, Epochs, TrainingSetup, checksum, dev_scores, run_epochs

__all__ = ["Maximisation", "train"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# how much is left to the next level of the back-off, chosen on dev sets
_WEIGHT = 4.0

_CONVERGED = 1e-6  # share of the log-likelihood that another iteration must gain
_ROUNDING = 1e-9

_NOTHING = BackOff(1, ())
_UNKNOWN_FACTORS = Factors(_NOTHING, _NOTHING, _NOTHING, _NOTHING)


def train(treebank: Sequence[Sentence], config: GenerativeConfig, setup: TrainingSetup) -> GenerativeParser:
    """Count the arcs of trees or, unsupervised, find a model that makes the sentences probable without their trees.

    EM raises the likelihood of the sentences, times the prior of the model, with every iteration, to a local maximum;
    ``CrossarcError`` if that should fall. ``dev`` is only scored. See ``crossarc.parsers.train``.
    """
    if not any(map(len, treebank)):
        raise CrossarcError("cannot train on an empty treebank")
    config, dev = _fitted(treebank, config), setup.dev
    symbols = collect(config.symbols or "", treebank)
    nodes = symbols.nodes(treebank)
    parser = GenerativeParser(config, ("dep",), symbols, _UNKNOWN_FACTORS, treebank=checksum(treebank))
    if config.unsupervised:
        checkpoint = setup.checkpoint_for(config, parser.treebank)
        iterations = config.epochs * (config.restarts + 1)
        parser = run_epochs(Maximisation(nodes, parser, setup), iterations, checkpoint)
    else:
        setup.refuse_to_resume("counting has no epochs")
        labels = tuple(sorted({label for sentence in treebank for label in sentence.deprel}))
        parser = replace(parser, labels=labels, factors=_counted(treebank, labels, nodes, symbols, config))
    return replace(parser, dev=dev_scores(dev, parser.trees(dev))) if dev else parser


def _fitted(treebank: Sequence[Sentence], config: GenerativeConfig) -> GenerativeConfig:
    """The configuration with everything filled in."""
    unsupervised, single_root = config.unsupervised, config.single_root
    if single_root is None:
        single_root = config.stop or unsupervised or all(sentence.head.count("0") == 1 for sentence in treebank)
    return replace(
        config,
        symbols=config.symbols or ("upos" if unsupervised else "upos+form"),
        condition=config.condition or ("direction" if unsupervised else "distance"),
        single_root=single_root,
    )


# --- From trees ---


def _counted(
    treebank: Sequence[Sentence], labels: tuple[str, ...], nodes: Nodes, symbols: Symbols, config: GenerativeConfig
) -> Factors:
    number = {label: i for i, label in enumerate(labels)}
    modifiers = np.flatnonzero(nodes.positions)
    roots = np.repeat(nodes.starts[:-1], np.diff(nodes.starts))
    heads = roots[modifiers] + np.array([int(head) for sentence in treebank for head in sentence.head])
    arcs = arcs_between(nodes, heads, modifiers, config.condition)
    chosen = np.array([number[label] for sentence in treebank for label in sentence.deprel])
    return Factors(
        counted(contexts_of_tag(arcs), arcs.modifier_tag, len(symbols.tags), _WEIGHT),
        counted(contexts_of_symbol(arcs, symbols), arcs.modifier, len(symbols), _WEIGHT),
        counted(contexts_of_label(arcs, symbols), chosen, len(labels), _WEIGHT),
        _counted_stops(nodes, heads, modifiers, config) if config.stop else _NOTHING,
    )


def _counted_stops(nodes: Nodes, heads: Ints, modifiers: Ints, config: GenerativeConfig) -> BackOff:
    """Every word stops once, on either side if the model is projective, and goes on before each modifier."""
    size = len(nodes.positions)
    if config.projective:
        children = np.bincount(2 * heads + (modifiers < heads), minlength=2 * size).reshape(size, 2)
        decisions = [
            (direction, has, outcome, count)
            for direction, of_side in enumerate(children.T)
            for has, outcome, count in (
                (0, GO_ON, of_side > 0),
                (0, STOP, of_side == 0),
                (1, GO_ON, np.maximum(of_side - 1, 0)),
                (1, STOP, of_side > 0),
            )
        ]
    else:
        decisions = [(0, 0, GO_ON, np.bincount(heads, minlength=size)), (0, 0, STOP, np.ones(size, dtype=np.int64))]
    contexts: list[list[Ints]] = []
    outcomes = []
    for direction, has, outcome, count in decisions:
        deciding = np.repeat(np.arange(size), count * (nodes.positions > 0))
        contexts.append(contexts_of_stop(nodes.symbols[deciding], nodes.tags[deciding], direction, has))
        outcomes.append(np.full(len(deciding), outcome))
    levels = [np.concatenate(level) for level in zip(*contexts, strict=True)]
    return counted(levels, np.concatenate(outcomes), 2, _WEIGHT)


# --- From sentences ---


class Counts(NamedTuple):
    """Expected counts."""

    choices: Floats  # [head and distance, symbol]
    stops: Floats  # [symbol, direction, has a modifier, GO_ON or STOP]


class Maximisation(Epochs[GenerativeParser]):
    """Expectation maximisation (McDonald & Satta 2007, §4.4.2) over all trees of sentences.

    There are several starts, one after the other; the most probable model of all of them is the result.
    """

    def __init__(self, nodes: Nodes, parser: GenerativeParser, setup: TrainingSetup) -> None:
        super().__init__(setup)
        self.nodes, self.parser, self.config = nodes, parser, parser.config
        self.n_symbols = len(parser.symbols)
        self.sizes = nodes.sizes
        self.words = int((nodes.positions > 0).sum())
        self.heads, self.modifiers = all_arcs(nodes)
        arcs = arcs_between(nodes, self.heads, self.modifiers, self.config.condition)
        self.choices = (arcs.head * N_DISTANCES + arcs.distance) * self.n_symbols + arcs.modifier
        self.sides = 2 * self.heads + (self.modifiers < self.heads)
        self.shape = Constraints(single_root=bool(self.config.single_root), projective=self.config.projective)
        self.log_beta = log_beta(self.sizes, self.shape)
        self.rng = np.random.default_rng(self.config.seed)
        self.counts = self.start(self.config.start)
        self.progress = np.array([1.0, 0.0, -np.inf, 0.0])  # start, iteration, log-likelihood, whether it converged

    @property
    def stage(self) -> str:  # type: ignore[override]
        return f"em {self.progress[0]:.0f}" if self.config.restarts else "em"

    def run(self, epoch: int) -> tuple[float, float]:
        """An iteration; the first of another start if nothing was gained by the last."""
        start, iteration, last, converged = self.progress.tolist()
        if converged or iteration == self.config.epochs:
            start, iteration, last = start + 1, 0, -np.inf
            self.progress[0] = start
            self._set(self.start("random"))
        self.listener.begin_epoch(self.stage, epoch, self.words)
        begin = time.perf_counter()
        found = self.expectation(self.counts)
        objective = float(found.log_p.sum()) + self.log_prior(self.counts)
        better = self.maximisation(found)
        if objective < last - _ROUNDING * abs(last):
            raise CrossarcError(f"EM went wrong: the log-likelihood fell from {last} to {objective}")
        converged = objective - last < _CONVERGED * abs(objective)
        if not converged:
            self._set(better)
        self.progress[:] = start, iteration + 1, objective, converged
        return -objective / self.words, self.words / (time.perf_counter() - begin)

    def _set(self, counts: Counts) -> None:
        for own, new in zip(self.counts, counts, strict=True):
            own[...] = new

    def result(self) -> GenerativeParser:
        prior = self.config.prior
        stops = with_prior(self.counts.stops.reshape(-1, 2), prior) if self.config.stop else _NOTHING
        factors = Factors(_NOTHING, with_prior(self.counts.choices, prior), _NOTHING, stops)
        return replace(self.parser, factors=factors, objective=float(self.progress[2]))

    def restored(self, contents: Contents) -> GenerativeParser:
        return GenerativeParser.from_model(*contents)

    def state(self) -> dict[str, NDArray[Any]]:
        return {**self.counts._asdict(), "progress": self.progress}

    def quality(self, result: GenerativeParser) -> float | None:
        return result.objective

    def report(self, epoch: int, loss: float | None, speed: float, result: GenerativeParser) -> EpochReport:
        return EpochReport(self.stage, epoch, loss, speed, None, log_likelihood=float(self.progress[2]))

    def has_converged(self) -> bool:
        start, iteration, _, converged = self.progress.tolist()
        return start > self.config.restarts and bool(converged or iteration == self.config.epochs)

    def expectation(self, counts: Counts) -> Sums:
        """Sums over all trees, by the model with these counts."""
        return self._sums(np.log(self._p(counts.choices)).take(self.choices), self._p(counts.stops))

    def maximisation(self, found: Sums) -> Counts:
        """How often each choice and decision is expected."""
        n_symbols, symbols = self.n_symbols, self.nodes.symbols
        shape = ((n_symbols + 1) * N_DISTANCES, n_symbols)
        choices = _total(self.choices, found.arcs, shape[0] * shape[1]).reshape(shape)
        stops = np.zeros((n_symbols + 1, 2, 2, 2))
        if self.config.stop:
            of_sides = _total(self.sides, found.arcs, 2 * len(symbols)).reshape(-1, 2)
            for direction, has, outcome, expected in self._decisions(of_sides, found.first):
                stops[:, direction, has, outcome] = _total(symbols, expected, n_symbols + 1)
            stops[n_symbols] = 0.0  # the root decides nothing
        return Counts(choices, stops)

    def _decisions(self, modifiers: Floats, first: Floats) -> list[tuple[int, int, int, Floats]]:
        """Direction, has a modifier, outcome and how often that is expected of each node."""
        if not self.config.projective:
            return [(0, 0, GO_ON, modifiers.sum(axis=1)), (0, 0, STOP, np.ones(len(modifiers)))]
        return [
            decision
            for direction in (0, 1)
            for decision in (
                (direction, 0, GO_ON, first[:, direction]),
                (direction, 0, STOP, np.maximum(1.0 - first[:, direction], 0.0)),
                (direction, 1, GO_ON, np.maximum(modifiers[:, direction] - first[:, direction], 0.0)),
                (direction, 1, STOP, first[:, direction]),
            )
        ]

    def log_prior(self, counts: Counts) -> float:
        """What the prior says of the model, up to a constant."""
        tables = [counts.choices, counts.stops] if self.config.stop else [counts.choices]
        return self.config.prior * sum(float(np.log(self._p(table)).sum()) for table in tables)

    def start(self, name: str) -> Counts:
        """The first counts: as if near heads were likelier (Klein & Manning 2004), or all trees alike; or random."""
        if name == "random":
            rows = (self.n_symbols + 1) * N_DISTANCES
            scale = len(self.modifiers) / rows
            choices = scale * self.rng.dirichlet(np.ones(self.n_symbols), rows)
            return Counts(choices, scale * self.rng.dirichlet(np.ones(2), (self.n_symbols + 1, 2, 2)))
        weights = np.zeros(len(self.heads))
        if name == "harmonic":
            distances = np.abs(self.nodes.positions[self.heads] - self.nodes.positions[self.modifiers])
            weights -= np.where(self.nodes.positions[self.heads] > 0, np.log(np.maximum(distances, 1)), 0.0)
        return self.maximisation(self._sums(weights, np.full((self.n_symbols + 1, 2, 2, 2), 0.5)))

    def _sums(self, log_p: Floats, p_stop: Floats) -> Sums:
        weights = Weights(log_p, None, None, self.log_beta)
        if self.config.stop:

            def log_stop(direction: int, has: int) -> tuple[Floats, Floats]:
                go_on, stop = np.log(p_stop[self.nodes.symbols, direction, has]).T
                return go_on, stop

            weights = with_stops(log_p, self.heads, self.nodes, log_stop, projective=self.config.projective)
        return sums(self.sizes, weights, self.shape)

    def _p(self, counts: Floats) -> Floats:
        """The most probable distributions."""
        smoothed = counts + self.config.prior
        p: Floats = smoothed / smoothed.sum(axis=-1, keepdims=True)
        return p


def _total(places: Ints, amounts: Floats, size: int) -> Floats:
    """What falls on each place."""
    return np.bincount(places, amounts, minlength=size).astype(np.float64, copy=False)
