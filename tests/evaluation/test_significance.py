"""The three tests against their definitions, computed the slow way."""

from __future__ import annotations

import itertools
from math import comb

import numpy as np
import pytest

from crossarc.evaluation import compare, evaluate
from crossarc.evaluation.significance import approximate_randomisation, mcnemar, paired_bootstrap
from crossarc.testing import random_treebank
from disturb import disturbed


@pytest.mark.parametrize(("b", "c"), [(0, 0), (0, 1), (3, 9), (20, 20), (50, 31)])
def test_mcnemar_is_the_exact_binomial_test(b, c):
    n = b + c
    tail = sum(comb(n, k) for k in range(n + 1) if abs(k - n / 2) >= abs(b - n / 2)) / 2**n
    assert mcnemar(b, c) == pytest.approx(tail)


def test_randomisation_comes_close_to_all_swaps():
    differences = np.array([3, -1, 2, 0, 4, -2, 1, 1])
    swaps = [abs(np.dot(signs, differences)) for signs in itertools.product([-1, 1], repeat=8)]
    exact = np.mean([total >= abs(differences.sum()) for total in swaps])
    rng = np.random.default_rng(0)
    assert approximate_randomisation(differences, rng=rng, samples=40_000) == pytest.approx(exact, abs=0.01)


def test_randomisation_finds_no_difference_where_there_is_none():
    rng = np.random.default_rng(0)
    assert approximate_randomisation(np.zeros(10), rng=rng, samples=100) == 1
    # p-values of true null hypotheses are uniform
    values = [approximate_randomisation(rng.normal(size=50), rng=rng, samples=200) for _ in range(300)]
    assert 0.02 < np.mean(np.array(values) < 0.05) < 0.09


def test_bootstrap_interval_covers_the_truth():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(200):
        sizes = rng.integers(5, 30, size=80)
        first, second = rng.binomial(sizes, 0.8), rng.binomial(sizes, 0.83)
        low, high = paired_bootstrap(first, second, sizes, rng=rng, samples=300)
        hits += low <= 0.03 <= high
    assert 0.88 < hits / 200 < 0.99


def test_compare_agrees_with_the_evaluations():
    gold = list(random_treebank(80, seed=3))
    first, second = (evaluate(gold, disturbed(gold, seed, rate)) for seed, rate in ((1, 0.1), (2, 0.4)))
    comparison = compare(first, second, seed=5, samples=500)
    uas, las, uas_words, _ = comparison.differences
    assert uas.first == pytest.approx(first.all_words.uas.f1)
    assert uas.second == pytest.approx(second.all_words.uas.f1)
    assert las.second == pytest.approx(second.all_words.las.f1)
    assert uas_words.first == pytest.approx(first.without_punctuation.uas.f1)
    assert uas.only_second - uas.only_first == second.all_words.uas.correct - first.all_words.uas.correct
    assert uas.interval.low < uas.second - uas.first < uas.interval.high < 0
    assert uas.mcnemar < 0.001
    assert uas.randomisation < 0.01
    gaps = [abs(s.first - s.second) for s in comparison.sentences]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] > 0
    again = compare(first, second, seed=5, samples=500)
    assert again.as_dict() == comparison.as_dict()


def test_a_parser_does_not_differ_from_itself():
    gold = list(random_treebank(20, seed=3))
    result = evaluate(gold, disturbed(gold, 1))
    comparison = compare(result, result, seed=1, samples=50)
    assert comparison.sentences == []
    assert all(d.mcnemar == d.randomisation == 1 and d.interval == (0, 0) for d in comparison.differences)


def test_other_gold_sentences_are_refused():
    gold = list(random_treebank(4, seed=3))
    with pytest.raises(ValueError, match="not of the same gold sentences"):
        compare(evaluate(gold, gold), evaluate(gold[:2], gold[:2]), seed=1)
