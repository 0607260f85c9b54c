"""Training of the incremental parser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.parsers._covington import Rules
from crossarc.parsers._covington_graph import NO_LIMIT
from crossarc.parsers._covington_training import Learners, learn_links
from crossarc.parsers.config import CovingtonConfig
from crossarc.parsers.covington import CovingtonParser
from crossarc.parsers.covington_features import load_features
from crossarc.parsers.linear import averaged as averaged_weights
from crossarc.parsers.linear import new_learner, table_size
from crossarc.parsers.treebank import EpochReport, Treebank, Watcher, attachment, best_so_far, fitted_to

__all__ = ["train_covington"]

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
    config = fitted_to(treebank, config or CovingtonConfig())
    return _Training(Treebank(treebank), dev, config, watcher or Watcher()).run()


class _Training:
    def __init__(self, treebank: Treebank, dev: Sequence[Sentence], config: CovingtonConfig, watcher: Watcher) -> None:
        self.treebank, self.dev, self.config, self.watcher = treebank, dev, config, watcher
        self.rules = Rules(0 if config.projective else NO_LIMIT, bool(config.single_root))
        self.learners = Learners(
            new_learner(table_size(config.hash_bits), config.aggressiveness),
            new_learner(table_size(_LABEL_BITS, row=len(treebank.labels)), config.aggressiveness),
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
                if best is None or best_so_far(best.dev, current.dev):
                    best = current
                self.watcher.report(EpochReport("links", epoch, loss, speed, current.dev))
        except KeyboardInterrupt:
            if best is None:
                raise
        assert best is not None
        return best

    def _epoch(self, epoch: int, rng: np.random.Generator) -> tuple[float, float]:
        model = self._parser(averaged=False).model
        exploration = self.config.exploration if epoch > 1 else 0.0
        batch, gold = self.treebank.batch, self.treebank.gold

        def learn(chosen: NDArray[np.int64]) -> int:
            seed = np.uint64(rng.integers(2**63))
            wrong: int = learn_links(batch, chosen, model, self.learners, gold, self.rules, exploration, seed)
            return wrong

        return self.treebank.epoch("links", epoch, learn, rng, self.watcher)

    def _parser(self, *, averaged: bool) -> CovingtonParser:
        links, labels = (
            averaged_weights(learner) if averaged else learner.weights
            for learner in (self.learners.links, self.learners.labels)
        )
        return CovingtonParser(
            self.config, self.treebank.labels, self.features, links, labels, treebank=self.treebank.checksum
        )
