from __future__ import annotations

from itertools import product

import numpy as np

from crossarc.core import Sentence
from crossarc.evaluation.evaluate import evaluate, evaluate_blocks
from crossarc.evaluation.significance import bootstrap_f1


def test_intervals_are_those_of_all_samples_there_are():
    counts = np.array([[(4, 4, 4), (3, 2, 1)], [(9, 8, 5), (1, 1, 0)], [(2, 2, 0), (5, 5, 5)], [(6, 6, 3), (2, 2, 2)]])
    drawn = counts[np.array(list(product(range(4), repeat=4)))].sum(axis=1)  # all 256 are as likely
    f1 = 2 * drawn[:, :, 2] / (drawn[:, :, 0] + drawn[:, :, 1])
    found = bootstrap_f1(counts, rng=np.random.default_rng(1), samples=40_000, confidence=0.8)
    for score, (low, high) in zip(f1.T, found, strict=True):
        # The quantiles of few values are steps: what was drawn lies between neighbours.
        assert np.quantile(score, 0.08) <= low <= np.quantile(score, 0.12)
        assert np.quantile(score, 0.88) <= high <= np.quantile(score, 0.92)


def test_one_sentence_has_no_spread():
    ((low, high),) = bootstrap_f1([[(10, 10, 7)]], rng=np.random.default_rng(1), samples=100)
    assert low == high == 0.7


def test_blocks_add_up_to_the_evaluation():
    gold = [Sentence.of(["a", "b"]).with_tree([-1, 2, 0]), Sentence.of(["c"]).with_tree([-1, 0])]
    split = [Sentence.of(["ab"]).with_tree([-1, 0]), Sentence.of(["c"]).with_tree([-1, 0])]
    for system in (gold, split, [gold[0].with_tree([-1, 0, 1]), gold[1]]):
        blocks = list(evaluate_blocks(gold, system))
        whole = evaluate(gold, system)
        assert len(blocks) == 2
        for name, score in whole.official.items():
            assert sum(block.official[name].correct for block in blocks) == score.correct
            assert sum(block.official[name].system for block in blocks) == score.system
