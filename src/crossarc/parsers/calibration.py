"""How honest the probabilities of a parser are, measured on gold trees."""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq

import numpy as np

from crossarc.core import Sentence
from crossarc.evaluation.calibration import Bin, reliability
from crossarc.parsers.base import ParseOptions, Parser

__all__ = ["reliability_of"]


def reliability_of(parser: Parser, gold: Sequence[Sentence]) -> dict[str, list[Bin]]:
    """How often arcs and labelled arcs of the parser's trees are right, by their probability."""
    arcs, labels, right_heads, right_labels = [], [], [], []
    for tree, parsed in zip(gold, parser.parse(gold, ParseOptions(confidence=True)), strict=True):
        assert parsed.confidence is not None
        same_head = np.array(list(map(eq, tree.head, parsed.sentence.head)), dtype=bool)
        same_label = np.array(list(map(eq, tree.deprel, parsed.sentence.deprel)), dtype=bool)
        arcs.append(parsed.confidence.arcs[1:])
        labels.append(parsed.confidence.labels[1:])
        right_heads.append(same_head)
        right_labels.append(same_head & same_label)
    return {
        "arcs": reliability(np.concatenate(arcs), np.concatenate(right_heads)),
        "labelled arcs": reliability(np.concatenate(labels), np.concatenate(right_labels)),
    }
