"""Training of a pseudo-projective parser: crossing arcs go into labels, the rest is left to the projective parser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from crossarc.core import Sentence
from crossarc.parsers.pseudo_projective.config import PseudoProjectiveConfig
from crossarc.parsers.pseudo_projective.parser import (
    PseudoProjectiveParser,
    coverage_of,
    decoded_labels,
    encoded,
)
from crossarc.parsers.training import TrainingSetup, checksum, dev_scores
from crossarc.parsers.wrapping import Train

__all__ = ["train"]


def train(
    treebank: Sequence[Sentence], config: PseudoProjectiveConfig, setup: TrainingSetup, learn: Train
) -> PseudoProjectiveParser:
    """Train a projective parser, which is what ``learn`` does, on trees whose labels tell of crossing arcs."""
    encoding = config.encoding
    projective = [encoded(sentence, encoding) for sentence in treebank]
    coverage = coverage_of(treebank, projective, encoding)
    setup.listener.arcs_lifted(*coverage)
    inner = learn(projective, setup._replace(dev=[encoded(sentence, encoding) for sentence in setup.dev]))
    labels = decoded_labels(inner.labels)
    parser = PseudoProjectiveParser(config, inner, coverage, labels, None, checksum(treebank))
    return replace(parser, dev=dev_scores(setup.dev, parser.trees(setup.dev))) if setup.dev else parser
