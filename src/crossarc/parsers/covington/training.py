"""Training of the incremental parser."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.learning.svm import Svm, fit_svm, no_svm
from crossarc.parsers.covington._graph import NO_LIMIT
from crossarc.parsers.covington._parse import LinkOptions
from crossarc.parsers.covington._training import Learners, instances_of, learn_links
from crossarc.parsers.covington.config import CovingtonConfig
from crossarc.parsers.covington.features import load_features
from crossarc.parsers.covington.parser import CovingtonParser, Linear
from crossarc.parsers.training import (
    EpochReport,
    TrainingListener,
    Treebank,
    best_so_far,
    dev_scores,
    with_treebank_defaults,
)
from crossarc.scorers.linear.model import averaged, new_learner, table_size

__all__ = ["train_covington"]

_LABEL_BITS = 21
_SMALLEST_GROUP = 1000  # links that have support vector machines of their own

Instances = tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint64]]  # symbols, classes, tags


def train_covington(
    treebank: Sequence[Sentence],
    config: CovingtonConfig | None = None,
    *,
    dev: Sequence[Sentence] = (),
    listener: TrainingListener | None = None,
) -> CovingtonParser:
    """Train on trees; with ``dev``, the weights after the epoch that is best there are kept.

    For the linear classifier, the first epoch follows the gold trees, later ones the parser's own choices as often as
    ``exploration`` says. An interrupt after the first epoch ends training and keeps the best so far.

    Support vector machines learn from the links of the gold trees, at once: they have no epochs.
    """
    config = with_treebank_defaults(treebank, config or CovingtonConfig())
    kind = _SvmTraining if config.classifier == "svm" else _LinearTraining
    parser = kind(Treebank(treebank), dev, config, listener or TrainingListener()).run()
    return parser.with_temperature(dev) if dev else parser


class _Training:
    def __init__(
        self, treebank: Treebank, dev: Sequence[Sentence], config: CovingtonConfig, listener: TrainingListener
    ) -> None:
        self.treebank, self.dev, self.config, self.listener = treebank, dev, config, listener
        self.options = LinkOptions(0 if config.projective else NO_LIMIT, bool(config.single_root))
        self.features = load_features(config.features)

    def _parser(self, classifier: Linear | Svm) -> CovingtonParser:
        return CovingtonParser(
            self.config, self.treebank.labels, self.features, classifier, treebank=self.treebank.checksum
        )

    def _scored(self, parser: CovingtonParser) -> CovingtonParser:
        return replace(parser, dev=dev_scores(self.dev, parser.parse(self.dev))) if self.dev else parser


class _SvmTraining(_Training):
    def run(self) -> CovingtonParser:
        """Machines for each tag of j: LIBSVM takes more than quadratic time, so it gets the links in parts."""
        symbols, classes, tags = map(np.concatenate, zip(*self._instances(), strict=True))
        start = time.perf_counter()
        self.listener.epoch("links", 1, len(classes))
        learnt = partial(self.listener.learnt, "links")
        svm = fit_svm(
            symbols, classes, tags, 1 + 2 * len(self.treebank.labels), smallest=_SMALLEST_GROUP, learnt=learnt
        )
        speed = self.treebank.words / (time.perf_counter() - start)
        parser = self._scored(self._parser(svm))
        self.listener.report(EpochReport("links", 1, None, speed, parser.dev))
        return parser

    def _instances(self) -> Iterator[Instances]:
        batch, gold = self.treebank.batch, self.treebank.gold
        model = self._parser(no_svm(1 + 2 * gold.n_labels)).model
        for b in range(len(batch.starts) - 1):
            yield instances_of(batch, b, model, gold, self.options)


class _LinearTraining(_Training):
    def __init__(
        self, treebank: Treebank, dev: Sequence[Sentence], config: CovingtonConfig, listener: TrainingListener
    ) -> None:
        super().__init__(treebank, dev, config, listener)
        self.learners = Learners(
            new_learner(table_size(config.hash_bits), config.aggressiveness),
            new_learner(table_size(_LABEL_BITS, row=len(treebank.labels)), config.aggressiveness),
        )

    def run(self) -> CovingtonParser:
        rng = np.random.default_rng(self.config.seed)
        best: CovingtonParser | None = None
        try:
            for epoch in range(1, self.config.epochs + 1):
                loss, speed = self._epoch(epoch, rng)
                current = self._scored(self._parser(Linear(*map(averaged, self.learners))))
                if best is None or best_so_far(best.dev, current.dev):
                    best = current
                self.listener.report(EpochReport("links", epoch, loss, speed, current.dev))
        except KeyboardInterrupt:
            if best is None:
                raise
        assert best is not None
        return best

    def _epoch(self, epoch: int, rng: np.random.Generator) -> tuple[float, float]:
        model = self._parser(Linear(*(learner.weights for learner in self.learners))).model
        exploration = self.config.exploration if epoch > 1 else 0.0
        batch, gold = self.treebank.batch, self.treebank.gold

        def learn(chosen: NDArray[np.int64]) -> int:
            seed = np.uint64(rng.integers(2**63))
            wrong: int = learn_links(batch, chosen, model, self.learners, gold, self.options, exploration, seed)
            return wrong

        return self.treebank.epoch("links", epoch, learn, rng, self.listener)
