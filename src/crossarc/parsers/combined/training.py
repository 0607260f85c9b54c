"""Training of several parsers as one: each by itself, then what each counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from crossarc.core import Constraints, CrossarcError, Sentence
from crossarc.parsers.base import Parser
from crossarc.parsers.combined.batch import MemberWeights, arc_shares, label_shares, weighted_sum
from crossarc.parsers.combined.config import CombinedConfig
from crossarc.parsers.combined.parser import CombinedParser
from crossarc.parsers.probabilities import Doubles, Floats, ScoredBatch, label_numbers
from crossarc.parsers.scoring import ScoringParser
from crossarc.parsers.training import TrainingSetup, checksum, dev_scores
from crossarc.trees import best_trees

__all__ = ["train"]

Weights = tuple[float, ...]

_LARGEST_WEIGHT = 100.0  # where all labels of dev are right, none is too large


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
    from crossarc.parsers.registry import load, named_config, system_of  # which knows this module

    named = named_config(name)
    if named is not None:
        own: Any = named.beside(())
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
    """The weights for which most heads are right, and under which the labels of gold trees are most probable."""
    trees = [sentence for sentence in dev if len(sentence)]
    scored = [member.scored(trees, Constraints()) for member in members]
    temperatures = [1.0 if member.calibration is None else member.calibration.temperatures.arcs for member in members]
    return MemberWeights(
        _best_for_heads(scored, trees, np.array(temperatures)),
        _best_for_labels(scored, trees, members[0].labels),
    )


def _best_for_heads(scored: Sequence[ScoredBatch], trees: Sequence[Sentence], temperatures: Doubles) -> Weights:
    """First all count the same, by what they call probable; then weights are doubled or halved while that helps.

    The likelihood of trees is no measure here: a head that one of the parsers has pruned would count for too much.
    """
    shares = [[arc_shares(member, b) for member in scored] for b in range(len(trees))]
    shape: dict[str, Any] = {
        "single_root": any(member.single_root for member in scored),
        "projective": any(member.projective for member in scored),
    }

    def right(weights: Doubles) -> int:
        found = best_trees([weighted_sum(weights, own) for own in shares], **shape)
        return sum(int((own.heads[1:] == gold.heads[1:]).sum()) for own, gold in zip(found, trees, strict=True))

    best = 1.0 / temperatures / len(scored)
    most, improved = right(best), True
    while improved:
        improved = False
        for i, factor in product(range(len(scored)), (0.5, 2.0)):
            other = best.copy()
            other[i] *= factor
            n = right(other)
            if n > most:
                best, most, improved = other, n, True
    return tuple(best.tolist())


def _best_for_labels(scored: Sequence[ScoredBatch], trees: Sequence[Sentence], names: Sequence[str]) -> Weights:
    """The weights under which the labels of gold trees are most probable."""
    heads = np.concatenate([tree.heads for tree in trees])
    labels = label_numbers(trees, names)
    known = labels >= 0
    shares: Floats = np.stack([label_shares(member.label_scores(heads)[known]) for member in scored])
    gold = shares[:, np.arange(known.sum()), labels[known]].sum(axis=1)

    def loss(weights: Doubles) -> tuple[float, Doubles]:
        """-log p of the labels, and its derivative."""
        totals = np.tensordot(weights, shares, 1)
        log_z = logsumexp(totals, axis=1, keepdims=True)
        expected = (shares * np.exp(totals - log_z)).sum(axis=(1, 2))
        return float(log_z.sum() - weights @ gold), expected - gold

    n = len(scored)
    found = minimize(loss, np.full(n, 1.0 / n), jac=True, method="L-BFGS-B", bounds=[(0.0, _LARGEST_WEIGHT)] * n)
    return tuple(found.x.tolist())
