"""Training of the generative model: from trees by counting, from sentences by expectation maximisation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crossarc.core import CrossarcError, Sentence
from crossarc.learning.back_off import BackOff, counted, with_prior
from crossarc.learning.shards import MapShards
from crossarc.models import Contents
from crossarc.parsers.generative.config import GenerativeConfig
from crossarc.parsers.generative.expectation import Counts, Cut, Expectation, Start, cut_treebank, total
from crossarc.parsers.generative.parser import (
    GO_ON,
    N_BINS,
    N_SIDES,
    STOP,
    Factors,
    GenerativeParser,
    arcs_between,
    bins_of_reaches,
    contexts_of_label,
    contexts_of_stop,
    contexts_of_symbol,
    contexts_of_tag,
)
from crossarc.parsers.generative.vocabulary import Nodes, Symbols, collect
from crossarc.parsers.training import EpochReport, Epochs, TrainingSetup, checksum, dev_scores, run_epochs

__all__ = ["Maximisation", "train"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# how much is left to the next level of the back-off, chosen on dev sets
_WEIGHT = 4.0

_CONVERGED = 1e-5  # what an iteration must gain for each word, in log-likelihood and prior
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
        cut = cut_treebank(nodes, config, len(symbols))
        with setup.workers.hold(cut.shards) as map_shards:
            parser = run_epochs(Maximisation(cut, map_shards, parser, setup), iterations, checkpoint)
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
    # labels are chosen when the tree is there, so they may depend on distances
    label = counted(contexts_of_label(arcs, symbols), chosen, len(labels), _WEIGHT)
    stop = _NOTHING
    if config.stop and config.projective:
        before, at_end = (bins_of_reaches(r, config.condition) for r in reaches(nodes, heads, modifiers))
        if config.condition == "distance":
            arcs = arcs._replace(bin=np.where(nodes.positions[heads] > 0, before, 0))
        stop = _counted_stops(nodes, heads, (modifiers < heads).astype(np.int64), before, at_end)
    elif config.stop:
        nothing = np.zeros_like(heads)
        stop = _counted_stops(nodes, heads, nothing, nothing, np.zeros((len(nodes.positions), 1), dtype=np.int64))
    return Factors(
        counted(contexts_of_tag(arcs), arcs.modifier_tag, len(symbols.tags), _WEIGHT),
        counted(contexts_of_symbol(arcs, symbols), arcs.modifier, len(symbols), _WEIGHT),
        label,
        stop,
    )


def _counted_stops(nodes: Nodes, heads: Ints, directions: Ints, before: Ints, at_end: Ints) -> BackOff:
    """Every word goes on before each modifier, and stops once in each direction.

    ``before`` are bins for each modifier, ``at_end`` [node, direction] for each stop.
    """
    go_on = nodes.positions[heads] > 0
    stopping, in_direction = (part.ravel() for part in np.indices(at_end.shape))
    stop = nodes.positions[stopping] > 0
    deciding = np.concatenate([heads[go_on], stopping[stop]])
    direction = np.concatenate([directions[go_on], in_direction[stop]])
    bin = np.concatenate([before[go_on], at_end.ravel()[stop]])
    outcomes = np.repeat([GO_ON, STOP], [go_on.sum(), stop.sum()])
    contexts = contexts_of_stop(nodes.symbols[deciding], nodes.tags[deciding], direction, bin)
    return counted(contexts, outcomes, 2, _WEIGHT)


def reaches(nodes: Nodes, heads: Ints, modifiers: Ints) -> tuple[Ints, Ints]:
    """How far the modifiers of a head reach on one side: before each modifier, and [node, direction] at the end.

    That is the number of words from the head to the last descendant there; before a modifier, to the last one of the
    modifiers that are nearer. Where arcs cross, no further than to the modifier.
    """
    head_of = np.arange(len(nodes.positions))
    head_of[modifiers] = heads
    first, last = np.arange(len(head_of)), np.arange(len(head_of))  # descendants of each node
    ancestors = head_of
    while (ancestors != (higher := head_of[ancestors])).any():
        np.minimum.at(first, ancestors, np.arange(len(head_of)))
        np.maximum.at(last, ancestors, np.arange(len(head_of)))
        ancestors = higher
    left = modifiers < heads
    own = np.where(left, heads - first[modifiers], last[modifiers] - heads)
    distances = np.abs(modifiers - heads)
    order = np.lexsort((distances, left, heads))
    before, at_end = np.zeros_like(heads), np.zeros((len(head_of), 2), dtype=np.int64)
    for arc in order.tolist():
        side = at_end[heads[arc]]
        direction = int(left[arc])
        before[arc] = min(side[direction], distances[arc] - 1)
        side[direction] = max(side[direction], own[arc])
    return before, at_end


# --- From sentences ---


class Maximisation(Epochs[GenerativeParser]):
    """Expectation maximisation (McDonald & Satta 2007, §4.4.2) over all trees of sentences.

    There are several starts, one after the other; the most probable model of all of them is the result. Memory is
    linear in the number of pairs of words in the same sentence, whatever the number of different words.

    The prior is as if every context had been seen with each tag ``config.prior`` times, with the words of the tag as
    often as they occur.
    """

    def __init__(self, cut: Cut, map_shards: MapShards, parser: GenerativeParser, setup: TrainingSetup) -> None:
        super().__init__(setup)
        self.parser, self.config, self.map_shards = parser, parser.config, map_shards
        nodes, self.choices, self.n_arcs = cut.nodes, cut.choices, cut.n_arcs
        self.words = int((nodes.positions > 0).sum())
        self.base = _base(nodes, parser.symbols)
        self.strength = self.config.prior * len(parser.symbols.tags)
        # as in every tree: two stops for a modifier, or one if words stop once for both sides; if there were fewer,
        # rare words would have so many modifiers that sentences do not end
        self.base_of_stops = np.array([1.0, 2.0]) / 3.0 if self.config.projective else np.array([0.5, 0.5])
        self.contexts, self.rows = np.unique(self.choices // len(parser.symbols), return_inverse=True)
        self.pseudo = self.strength * self.base[self.choices % len(parser.symbols)]
        n_bins = N_BINS if self.config.condition == "distance" else 2
        self.decisions = (len(parser.symbols), *((2, n_bins) if self.config.projective else (1, 1)), 2)
        self.rng = np.random.default_rng(self.config.seed)
        self.counts = self.start(self.config.start)
        self.progress = np.array([1.0, 0.0, -np.inf, 0.0])  # start, iteration, objective, whether it converged

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
        log_likelihood, better = self.expectation(self.counts)
        objective = log_likelihood + self.log_prior(self.counts)
        if objective < last - _ROUNDING * abs(last):
            raise CrossarcError(f"EM went wrong: the log-likelihood fell from {last} to {objective}")
        converged = objective - last < _CONVERGED * self.words
        if not converged:
            self._set(better)
        self.progress[:] = start, iteration + 1, objective, converged
        return -objective / self.words, self.words / (time.perf_counter() - begin)

    def _set(self, counts: Counts) -> None:
        for own, new in zip(self.counts, counts, strict=True):
            own[...] = new

    def result(self) -> GenerativeParser:
        stop = _NOTHING
        if self.config.stop:
            symbol, direction, bin, outcome = np.indices(self.decisions).reshape(4, -1)
            decisions = (symbol * N_SIDES + direction * N_BINS + bin) * 2 + outcome
            stop = with_prior(decisions, self.counts.stops.ravel(), self.base_of_stops, 2 * self.config.prior)
        choice = with_prior(self.choices, self.counts.choices, self.base, self.strength)
        factors = Factors(_NOTHING, choice, _NOTHING, stop)
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

    def expectation(self, counts: Counts) -> tuple[float, Counts]:
        """The log-likelihood by the model with these counts, and how often each choice and decision is expected."""
        log_choices = np.log(counts.choices + self.pseudo) - np.log(self._totals(counts))[self.rows]
        return self._expected(log_choices, np.log(self._p_stop(counts)))

    def log_prior(self, counts: Counts) -> float:
        """What the prior says of the model, over the contexts that can occur: 0 if all are as their base."""
        of_choices = -self.strength * float(np.log(self._totals(counts) / self.strength).sum())
        of_choices += float(self.pseudo @ np.log1p(counts.choices / self.pseudo))
        if not self.config.stop:
            return of_choices
        of_stops = float((np.log(self._p_stop(counts) / self.base_of_stops) @ self.base_of_stops).sum())
        return of_choices + 2 * self.config.prior * of_stops

    def start(self, name: Start) -> Counts:
        """The first counts: as if near heads were likelier (Klein & Manning 2004), or all trees alike; or random."""
        if name == "random":
            draws = self.rng.exponential(size=len(self.choices))
            scale = self.n_arcs / len(self.contexts)
            choices = scale * draws / np.bincount(self.rows, draws)[self.rows]
            return Counts(choices, scale * self.rng.dirichlet(np.ones(2), self.decisions[:-1]))
        return self._expected(name, np.full(self.decisions, np.log(0.5)))[1]

    def _expected(self, log_choices: Floats | Start, log_decisions: Floats) -> tuple[float, Counts]:
        log_likelihood, choices, stops = 0.0, np.zeros(len(self.choices)), np.zeros(self.decisions)
        for found in self.map_shards(Expectation(self.config, log_choices, log_decisions)):
            log_likelihood += found.log_likelihood
            choices[found.places] += found.choices
            stops += found.stops
        return log_likelihood, Counts(choices, stops)

    def _totals(self, counts: Counts) -> Floats:
        """Of each context, with its prior."""
        return total(self.rows, counts.choices, len(self.contexts)) + self.strength

    def _p_stop(self, counts: Counts) -> Floats:
        smoothed = counts.stops + 2 * self.config.prior * self.base_of_stops
        p: Floats = smoothed / smoothed.sum(axis=-1, keepdims=True)
        return p


def _base(nodes: Nodes, symbols: Symbols) -> Floats:
    """All tags alike, and the words of a tag as often as they occur, each once more."""
    tag_of = np.array([tag for tag, _ in symbols.words])
    counts = np.bincount(nodes.symbols[nodes.positions > 0], minlength=len(symbols)) + 1.0
    base: Floats = counts / np.bincount(tag_of, counts)[tag_of] / len(symbols.tags)
    return base
