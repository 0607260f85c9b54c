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
from crossarc.features.hashing import hash_string
from crossarc.learning.listener import EpochReport
from crossarc.learning.online import averaged, new_learner, state_of, table_size
from crossarc.learning.svm import SvmSettings, fit_svm, no_svm
from crossarc.models import Contents
from crossarc.parsers.covington._graph import NO_LIMIT
from crossarc.parsers.covington._parse import LinkOptions
from crossarc.parsers.covington._training import Learners, instances_of, learn_links
from crossarc.parsers.covington.config import CovingtonConfig
from crossarc.parsers.covington.features import load_features
from crossarc.parsers.covington.parser import CovingtonParser, Kernelized, Linear
from crossarc.parsers.training import Epochs, TrainingSetup, Treebank, dev_scores, run_epochs, with_treebank_defaults

__all__ = ["train"]

_LABEL_BITS = 21

Instances = tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint64]]  # symbols, classes, tags


def train(treebank: Sequence[Sentence], config: CovingtonConfig, setup: TrainingSetup) -> CovingtonParser:
    """Train the incremental parser: see ``crossarc.parsers.train``.

    For the linear classifier, the first epoch follows the gold trees, later ones the parser's own choices as often as
    ``exploration`` says. Support vector machines learn from the links of the gold trees, at once: they have no epochs.
    """
    if config.max_degree is not None:
        config = replace(config, projective=config.max_degree == 0)
    config, trees = with_treebank_defaults(treebank, config), Treebank(treebank)
    if config.classifier == "svm":
        setup.refuse_to_resume("support vector machines have no epochs")
        parser = _SvmTraining(trees, config, setup, treebank).fit()
    else:
        checkpoint = setup.checkpoint_for(config, trees.checksum)
        parser = run_epochs(_LinearTraining(trees, config, setup), config.epochs, checkpoint)
    return parser.calibrated(setup.dev) if setup.dev else parser


class _Training:
    def __init__(self, treebank: Treebank, config: CovingtonConfig, setup: TrainingSetup) -> None:
        self.treebank, self.config, self.dev, self.listener = treebank, config, setup.dev, setup.listener
        limit = NO_LIMIT if config.degree is None else config.degree
        self.options = LinkOptions(limit, bool(config.single_root), config.unattached == "root")
        self.features = load_features(config.features)

    def _parser(self, classifier: Linear | Kernelized) -> CovingtonParser:
        return CovingtonParser(
            self.config, self.treebank.labels, self.features, classifier, treebank=self.treebank.checksum
        )

    def _scored(self, parser: CovingtonParser) -> CovingtonParser:
        return replace(parser, dev=dev_scores(self.dev, parser.trees(self.dev))) if self.dev else parser


class _SvmTraining(_Training):
    def __init__(
        self, treebank: Treebank, config: CovingtonConfig, setup: TrainingSetup, sentences: Sequence[Sentence]
    ) -> None:
        super().__init__(treebank, config, setup)
        self.categories = _categories(sentences)

    def _settings(self) -> SvmSettings:
        own = self.config
        return SvmSettings(own.svm_degree, own.svm_gamma, own.svm_r, own.svm_cost, own.svm_tolerance)

    def fit(self) -> CovingtonParser:
        """Machines for each tag of j: LIBSVM takes more than quadratic time, so it gets the links in parts."""
        symbols, classes, tags = map(np.concatenate, zip(*self._instances(), strict=True))
        start = time.perf_counter()
        self.listener.begin_epoch("links", 1, len(classes))
        learnt = partial(self.listener.progress, "links")
        svm = fit_svm(
            symbols,
            classes,
            tags,
            1 + 2 * len(self.treebank.labels),
            settings=self._settings(),
            smallest=self.config.svm_split or len(classes),
            learnt=learnt,
        )
        speed = self.treebank.words / (time.perf_counter() - start)
        parser = self._scored(self._parser(Kernelized(svm, *self.categories)))
        self.listener.end_epoch(EpochReport("links", 1, None, speed, parser.dev))
        return parser

    def _instances(self) -> Iterator[Instances]:
        batch, gold = self.treebank.batch, self.treebank.gold
        model = self._parser(Kernelized(no_svm(1 + 2 * gold.n_labels), *self.categories)).model
        for b in range(len(batch.starts) - 1):
            yield instances_of(batch, b, model, gold, self.options)


def _categories(treebank: Sequence[Sentence]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The morphological features of a treebank, sorted by their hashes, and the number of the category of each.

    A word has one feature of a category at most: the features of a category can share a column.
    """
    feats = {feat for s in treebank for column in set(s.feats) if column != "_" for feat in column.split("|")}
    numbers = {name: n for n, name in enumerate(sorted({feat.partition("=")[0] for feat in feats}))}
    found = sorted((hash_string(feat), numbers[feat.partition("=")[0]]) for feat in feats)
    hashes, categories = zip(*found, strict=True) if found else ((), ())
    return np.array(hashes, dtype=np.uint64), np.array(categories, dtype=np.int64)


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
