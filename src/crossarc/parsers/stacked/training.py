"""Training of a stacked parser: guides that have not seen a sentence parse it for the training of the other parser."""

from __future__ import annotations

from collections.abc import Sequence

from crossarc.core import CrossarcError, Sentence
from crossarc.features.guides import with_guide
from crossarc.learning.listener import TrainingListener
from crossarc.parsers.base import Parser
from crossarc.parsers.folds import folds_of
from crossarc.parsers.stacked.config import StackedConfig
from crossarc.parsers.stacked.parser import StackedParser, guided
from crossarc.parsers.training import TrainingSetup, checksum, dev_scores
from crossarc.parsers.wrapping import Train

__all__ = ["train"]

_FOLDS = 5  # parts of the treebank, each parsed by a guide that was trained on the others


class _Guides(TrainingListener):
    """Nobody watches the training of guides; but an interrupt ends it, be it after an epoch or not."""

    def interrupted(self, stage: str, epoch: int) -> None:
        raise KeyboardInterrupt


def train(
    treebank: Sequence[Sentence],
    config: StackedConfig,
    setup: TrainingSetup,
    learn: Train,
    learn_guide: Train,
    guide: Parser | None,
) -> StackedParser:
    """Train a parser, which is what ``learn`` does, with a guide: the given one, or one of the whole treebank.

    The trees of the guide in training are cross-validated. They would else be far better than those of new sentences,
    and the parser would learn to believe them all. A training that is resumed trains guides anew.
    """
    if len(treebank) < _FOLDS:
        raise CrossarcError(f"{len(treebank)} sentences for {_FOLDS} guides: there must be one for each")
    alone = TrainingSetup(setup.dev, _Guides(), jobs=setup.jobs)
    with_guides = _cross_guided(treebank, learn_guide, alone, setup.listener)
    guide = guide or learn_guide(treebank, alone)
    parser = learn(with_guides, setup._replace(dev=guided(setup.dev, guide)))
    return StackedParser(config, parser, guide, parser.labels, parser.dev, checksum(treebank))


def _cross_guided(
    treebank: Sequence[Sentence], learn_guide: Train, setup: TrainingSetup, listener: TrainingListener
) -> list[Sentence]:
    """The sentences with what guides say of them that were trained on the other parts of the treebank."""
    found: list[Sentence] = []
    for number, part in enumerate(folds_of(len(treebank), _FOLDS), 1):
        guide = learn_guide([sentence for i, sentence in enumerate(treebank) if i not in part], setup)
        own = [treebank[i] for i in part]
        trees = list(guide.trees(own))
        listener.guide_trained(number, _FOLDS, dev_scores(own, trees))
        found += map(with_guide, own, trees)
    return found
