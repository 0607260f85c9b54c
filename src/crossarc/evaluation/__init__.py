"""Honest evaluation: attachment scores, significance, treebank statistics."""

from crossarc.evaluation.compare import Comparison, compare
from crossarc.evaluation.evaluate import Evaluation, evaluate
from crossarc.evaluation.score import Score
from crossarc.evaluation.statistics import TreebankStatistics, treebank_statistics

__all__ = [
    "Comparison",
    "Evaluation",
    "Score",
    "TreebankStatistics",
    "compare",
    "evaluate",
    "treebank_statistics",
]
