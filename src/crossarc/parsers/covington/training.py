"""Training of the incremental parser."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Sentence
from crossarc.learning.listener import EpochReport
from crossarc.learning.online import averaged, new_learner, state_of, table_size
from crossarc.learning.svm import Svm, fit_svm, no_svm
from crossarc.models import Contents
from crossarc.parsers.covington._graph import NO_LIMIT
from crossarc.parsers.covington._parse import LinkOptions
from crossarc.parsers.covington._training import Learners, instances_of, learn_links
from crossarc.parsers.covington.config import CovingtonConfig
from crossarc.parsers.covington.features import load_features
from crossarc.parsers.covington.parser import CovingtonParser, Linear
from crossarc.parsers.training import Epochs, TrainingSetup, Treebank, dev_scores, run_epochs, with_treebank_defaults

__all__ = ["train"]

_LABEL_BITS = 21
_SMALLEST_GROUP = 1000  # links that have support vector machines of their own

Instances = tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint64]]  # symbols, classes, tags


def train(treebank: Sequence[Sentence], config: CovingtonConfig, setup: TrainingSetup) -> CovingtonParser:
    """Train the incremental parser: see ``crossarc.parsers.train``.

    For the linear classifier, the first epoch follows the gold trees, later ones the parser's own choices as often as
    ``exploration`` says. Support vector machines learn from the links of the gold trees, at once: they have no epochs.
    """
    config, trees = with_treebank_defaults(treebank, config), Treebank(treebank)
    if config.classifier == "svm":
        setup.refuse_to_resume("support vector machines have no epochs")
        parser = _SvmTraining(trees, config, setup).fit()
    else:
        checkpoint = setup.checkpoint_for(config, trees.checksum)
        parser = run_epochs(_LinearTraining(trees, config, setup), config.epochs, checkpoint)
    return parser.calibrated(setup.dev) if setup.dev else parser


class _Training:
    def __init__(self, treebank: Treebank, config: CovingtonConfig, setup: TrainingSetup) -> None:
        self.treebank, self.config, self.dev, self.listener = treebank, config, setup.dev, setup.listener
        self.options = LinkOptions(0 if config.projective else NO_LIMIT, bool(config.single_root))
        self.features = load_features(config.features)

    def _parser(self, classifier: Linear | Svm) -> CovingtonParser:
        return CovingtonParser(
            self.config, self.treebank.labels, self.features, classifier, treebank=self.treebank.checksum
        )

    def _scored(self, parser: CovingtonParser) -> CovingtonParser:
        return replace(parser, dev=dev_scores(self.dev, parser.trees(self.dev))) if self.dev else parser


class _SvmTraining(_Training):
    def fit(self) -> CovingtonParser:
        """Machines for each tag of j: LIBSVM takes more than quadratic time, so it gets the links in parts."""
        symbols, classes, tags = map(np.concatenate, zip(*self._instances(), strict=True))
        start = time.perf_counter()
        self.listener.begin_epoch("links", 1, len(classes))
        learnt = partial(self.listener.progress, "links")
        svm = fit_svm(
            symbols, classes, tags, 1 + 2 * len(self.treebank.labels), smallest=_SMALLEST_GROUP, learnt=learnt
        )
        speed = self.treebank.words / (time.perf_counter() - start)
        parser = self._scored(self._parser(svm))
        self.listener.end_epoch(EpochReport("links", 1, None, speed, parser.dev))
        return parser

    def _instances(self) -> Iterator[Instances]:
        batch, gold = self.treebank.batch, self.treebank.gold
        model = self._parser(no_svm(1 + 2 * gold.n_labels)).model
        for b in range(len(batch.starts) - 1):
            yield instances_of(batch, b, model, gold, self.options)


class _LinearTraining(_Training, Epochs[CovingtonParser]):
    stage = "links"

    def __init__(self, treebank: Treebank, config: CovingtonConfig, setup: TrainingSetup) -> None:
        super().__init__(treebank, config, setup)
        self.rng = np.random.default_rng(config.seed)
        self.learners = Learners(
            new_learner(table_size(config.hash_bits), config.aggressiveness),
            new_learner(table_size(_LABEL_BITS, row=len(treebank.labels)), config.aggressiveness),
        )

    def result(self) -> CovingtonParser:
        return self._scored(self._parser(Linear(*map(averaged, self.learners))))

    def restored(self, contents: Contents) -> CovingtonParser:
        return CovingtonParser.from_model(*contents)

    def state(self) -> dict[str, NDArray[Any]]:
        learners = self.learners._asdict().items()
        return {f"{name}.{own}": array for name, learner in learners for own, array in state_of(learner).items()}

    def run(self, epoch: int) -> tuple[float, float]:
        model = self._parser(Linear(*(learner.weights for learner in self.learners))).model
        exploration = self.config.exploration if epoch > 1 else 0.0
        batch, gold = self.treebank.batch, self.treebank.gold

        def learn(chosen: NDArray[np.int64]) -> int:
            seed = np.uint64(self.rng.integers(2**63))
            wrong: int = learn_links(batch, chosen, model, self.learners, gold, self.options, exploration, seed)
            return wrong

        return self.treebank.epoch(self.stage, epoch, learn, self.rng, self.listener)
