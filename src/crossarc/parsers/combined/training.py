"""Training of several parsers as one: each by itself, then what each counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from crossarc.core import Constraints, CrossarcError, Sentence
from crossarc.parsers.base import Parser
from crossarc.parsers.combined.batch import MemberWeights, arc_shares, label_shares
from crossarc.parsers.combined.config import CombinedConfig
from crossarc.parsers.combined.parser import CombinedParser
from crossarc.parsers.config import Config
from crossarc.parsers.probabilities import Floats, ScoredBatch, label_numbers
from crossarc.parsers.scoring import ScoringParser
from crossarc.parsers.training import TrainingSetup, checksum, dev_scores, has_possible_tree
from crossarc.trees import log_partitions_and_marginals

__all__ = ["train"]

Gradient = tuple[float, NDArray[np.float64]]  # a loss, and its derivative by the weights


def train(treebank: Sequence[Sentence], config: CombinedConfig, setup: TrainingSetup) -> CombinedParser:
    """Train parsers and combine them: see ``crossarc.parsers.train``. Their weights are fitted to ``dev``."""
    if not treebank:
        raise CrossarcError("cannot train on an empty treebank")
    setup.refuse_to_resume("several parsers are trained one after the other")
    if not setup.dev:
        raise CrossarcError(
            "several parsers are combined with weights that are fitted to held-out trees: --dev is missing"
        )
    members = tuple(_member(name, treebank, config, setup) for name in config.names)
    labels = members[0].labels
    for name, member in zip(config.names, members, strict=True):
        if member.labels != labels:
            raise CrossarcError(
                f"{name}: knows other labels than {config.names[0]}: was it trained on another treebank?"
            )
    weights = _fitted(members, setup.dev)
    parser = CombinedParser(config, members, weights, labels, None, checksum(treebank)).calibrated(setup.dev)
    return replace(parser, dev=dev_scores(setup.dev, parser.trees(setup.dev)))


def _member(name: str, treebank: Sequence[Sentence], config: CombinedConfig, setup: TrainingSetup) -> ScoringParser:
    """A trained parser: by a configuration with that name, or from a file."""
    from crossarc.parsers.registry import SYSTEMS, load, system_of  # which knows this module

    configs: dict[str, Config] = {preset: own for system in SYSTEMS.values() for preset, own in system.presets.items()}
    configs |= {system.name: system.config() for system in SYSTEMS.values()}
    if name in configs:
        own: Any = configs[name].beside(())
        if "seed" in {field.name for field in fields(own)}:
            own = replace(own, seed=config.seed)
        parser: Parser = system_of(own).train(treebank, own, setup._replace(checkpoint=None))
    elif Path(name).exists():
        parser = load(name)
    else:
        raise CrossarcError(f"members: {name} is neither a system, nor a preset, nor a file")
    if not isinstance(parser, ScoringParser) or isinstance(parser, CombinedParser):
        raise CrossarcError(f"members: a parser of system {parser.system} cannot be combined with others")
    return parser


def _fitted(members: Sequence[ScoringParser], dev: Sequence[Sentence]) -> MemberWeights:
    """The weights under which gold trees and their labels are most probable."""
    shape = {name: any(getattr(m.config, name, False) for m in members) for name in ("single_root", "projective")}
    trees = [sentence for sentence in dev if len(sentence) and has_possible_tree(sentence, **shape)]
    if not trees:
        raise CrossarcError("no tree of --dev is one that these parsers could find")
    scored = [member.scored(trees, Constraints()) for member in members]
    return MemberWeights(
        _minimum(_loss_of_arcs(scored, trees, shape), len(members)),
        _minimum(_loss_of_labels(scored, trees, members[0].labels), len(members)),
    )


def _minimum(loss: Callable[[NDArray[np.float64]], Gradient], n: int) -> tuple[float, ...]:
    found = minimize(loss, np.full(n, 1.0 / n), jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * n)
    return tuple(np.round(found.x, 6).tolist())


def _loss_of_arcs(
    scored: Sequence[ScoredBatch], trees: Sequence[Sentence], shape: dict[str, Any]
) -> Callable[[NDArray[np.float64]], Gradient]:
    """-log p of the gold trees, by weights."""
    shares = [np.stack([arc_shares(member, b) for member in scored]) for b in range(len(trees))]
    finite = [np.where(np.isneginf(own), 0.0, own) for own in shares]
    gold = sum(
        own[:, tree.heads[1:], np.arange(1, len(tree) + 1)].sum(axis=1) for own, tree in zip(finite, trees, strict=True)
    )

    def loss(weights: NDArray[np.float64]) -> Gradient:
        potentials = [
            np.where(np.isneginf(own).any(axis=0), -np.inf, np.tensordot(weights, known, 1))
            for own, known in zip(shares, finite, strict=True)
        ]
        log_z, marginals = log_partitions_and_marginals(potentials, **shape)
        expected = sum((own * p).sum(axis=(1, 2)) for own, p in zip(finite, marginals, strict=True))
        return float(np.sum(log_z) - weights @ gold), np.asarray(expected - gold)

    return loss


def _loss_of_labels(
    scored: Sequence[ScoredBatch], trees: Sequence[Sentence], names: Sequence[str]
) -> Callable[[NDArray[np.float64]], Gradient]:
    """-log p of the labels of gold trees, by weights."""
    heads = np.concatenate([tree.heads for tree in trees])
    labels = label_numbers(trees, names)
    known = labels >= 0
    shares: Floats = np.stack([label_shares(member.label_scores(heads)[known]) for member in scored])
    gold = shares[:, np.arange(known.sum()), labels[known]].sum(axis=1)

    def loss(weights: NDArray[np.float64]) -> Gradient:
        totals = np.tensordot(weights, shares, 1)
        tops = totals.max(axis=1, keepdims=True)
        exponentials = np.exp(totals - tops)
        sums = exponentials.sum(axis=1, keepdims=True)
        log_z = float((tops + np.log(sums)).sum())
        expected = (shares * (exponentials / sums)).sum(axis=(1, 2))
        return log_z - float(weights @ gold), expected - gold

    return loss
