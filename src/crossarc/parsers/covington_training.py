"""Training of the incremental parser."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from crossarc.core import CrossarcError, Sentence
from crossarc.parsers._covington import Rules
from crossarc.parsers._covington_graph import NO_LIMIT
from crossarc.parsers._covington_training import Gold, Learners, learn
from crossarc.parsers.covington import CovingtonConfig, CovingtonParser
from crossarc.parsers.covington_features import load_features
from crossarc.parsers.linear import new_learner, table_size
from crossarc.parsers.training import EpochReport, Watcher, attachment, checksum
from crossarc.scoring.attributes import attributes_of
from crossarc.trees.shape import is_projective

__all__ = ["train_covington"]

_AT_ONCE = 50  # sentences in one call of the kernel
_LABEL_BITS = 21


def train_covington(
    treebank: Sequence[Sentence],
    config: CovingtonConfig | None = None,
    *,
    dev: Sequence[Sentence] = (),
    watcher: Watcher | None = None,
) -> CovingtonParser:
    """Train on trees; with ``dev``, the weights after the epoch that is best there are kept.

    The first epoch follows the gold trees, later ones the parser's own choices as often as ``exploration`` says. An
    interrupt after the first epoch ends training and keeps the best so far.
    """
    if not treebank:
        raise CrossarcError("cannot train on an empty treebank")
    training = _Training(treebank, dev, _fitted_to(config or CovingtonConfig(), treebank), watcher or Watcher())
    return training.run()


class _Training:
    def __init__(
        self, treebank: Sequence[Sentence], dev: Sequence[Sentence], config: CovingtonConfig, watcher: Watcher
    ) -> None:
        self.config, self.dev, self.watcher = config, dev, watcher
        self.checksum = checksum(treebank)
        self.batch = attributes_of(treebank)
        self.labels = tuple(sorted({label for sentence in treebank for label in sentence.deprel}))
        number = {label: i for i, label in enumerate(self.labels)}
        gold_labels = np.array([number.get(label, -1) for s in treebank for label in ("", *s.deprel)])
        self.gold = Gold(np.concatenate([s.heads for s in treebank]), gold_labels, len(self.labels))
        self.words = sum(map(len, treebank))
        self.rules = Rules(0 if config.projective else NO_LIMIT, bool(config.single_root))
        self.learners = Learners(
            new_learner(table_size(config.hash_bits), config.aggressiveness),
            new_learner(table_size(_LABEL_BITS, row=len(self.labels)), config.aggressiveness),
        )
        self.features = load_features(config.features)

    def run(self) -> CovingtonParser:
        rng = np.random.default_rng(self.config.seed)
        best: CovingtonParser | None = None
        try:
            for epoch in range(1, self.config.epochs + 1):
                loss, speed = self._epoch(epoch, rng)
                current = self._parser(averaged=True)
                if self.dev:
                    current = replace(current, dev=attachment(self.dev, current.parse(self.dev)))
                if best is None or _score(current) >= _score(best):
                    best = current
                self.watcher.report(EpochReport("links", epoch, loss, speed, current.dev))
        except KeyboardInterrupt:
            if best is None:
                raise
        assert best is not None
        return best

    def _epoch(self, epoch: int, rng: np.random.Generator) -> tuple[float, float]:
        """Learn from all sentences in random order: share of wrong words, words per second."""
        self.watcher.epoch("links", epoch, self.words)
        start = time.perf_counter()
        model = self._parser(averaged=False).model
        exploration = self.config.exploration if epoch > 1 else 0.0
        wrong = 0
        order = rng.permutation(len(self.batch.starts) - 1)
        for chosen in np.array_split(order, len(order) // _AT_ONCE + 1):
            seed = np.uint64(rng.integers(2**63))
            wrong += learn(self.batch, chosen, model, self.learners, self.gold, self.rules, exploration, seed)
            self.watcher.learnt("links", int((self.batch.starts[chosen + 1] - self.batch.starts[chosen] - 1).sum()))
        return wrong / self.words, self.words / (time.perf_counter() - start)

    def _parser(self, *, averaged: bool) -> CovingtonParser:
        links, labels = (
            learner.averaged() if averaged else learner.weights
            for learner in (self.learners.links, self.learners.labels)
        )
        return CovingtonParser(self.config, self.labels, self.features, links, labels, treebank=self.checksum)


def _fitted_to(config: CovingtonConfig, treebank: Sequence[Sentence]) -> CovingtonConfig:
    """The configuration with what it leaves to the treebank filled in."""
    if config.projective is None:
        config = replace(config, projective=all(is_projective(sentence.heads) for sentence in treebank))
    if config.single_root is None:
        config = replace(config, single_root=all(sentence.head.count("0") == 1 for sentence in treebank))
    return config


def _score(parser: CovingtonParser) -> float:
    """What the best epoch is chosen by; without dev data, the last is taken for the best."""
    return parser.dev.las if parser.dev else 0.0
