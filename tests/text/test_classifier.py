"""The classifier behind segmenter and tagger."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossarc.learning._online import passive_aggressive
from crossarc.learning.online import averaged, new_learner
from crossarc.text._classify import learn, prefer
from crossarc.text.classifier import Choices

PLACES = np.array([0, 8, 16])


@given(st.integers(0, 2), st.integers(0, 2), st.floats(0.01, 2.0), st.floats(0.1, 3.0))
def test_one_aspect_changes_as_one_class_does(right, rival, max_step, violation):
    by_class, by_aspect = new_learner(24, max_step), new_learner(24, max_step)
    passive_aggressive(by_class, PLACES, 3, right, rival, 1.0 - violation, 0.0)
    prefer(by_aspect, PLACES, np.array([right]), np.array([rival]), violation)
    np.testing.assert_allclose(by_aspect.weights, by_class.weights, atol=1e-6)


def test_only_aspects_that_differ_change_and_by_as_much_as_is_needed():
    learner = new_learner(24, 10.0)
    prefer(learner, PLACES, np.array([0, 2]), np.array([1, 2]), 1.2)
    assert learner.weights[PLACES + 2].tolist() == [0.0] * 3
    margin = learner.weights[PLACES].sum() - learner.weights[PLACES + 1].sum()
    assert margin == pytest.approx(1.2)


def test_no_step_is_larger_than_the_learner_allows():
    learner = new_learner(24, 0.01)
    prefer(learner, PLACES, np.array([0]), np.array([1]), 5.0)
    assert learner.weights.max() == pytest.approx(0.01)
    prefer(learner, PLACES, np.array([0]), np.array([1]), -0.1)
    assert learner.weights.max() == pytest.approx(0.01)


def test_learning_separates_what_can_be_separated_and_averages():
    rng = np.random.default_rng(4)
    gold = rng.integers(0, 2, 60)
    hashes = (gold[:, None] * 2 + rng.integers(0, 2, (60, 3))).astype(np.uint64) << np.uint64(58)
    learner, shift = new_learner((1 << 6) + 2, 0.1), np.uint64(58)
    choices = Choices(np.zeros(60, dtype=np.int64), np.array([0, 1]), np.array([0, 2]))
    aspects, items = np.array([[0], [1]]), np.arange(60)
    wrong = [learn(learner, shift, aspects, hashes, items, choices, gold, rng.permutation(60)) for _ in range(12)]
    assert wrong[0] > wrong[-1] == 0
    assert 0 < np.abs(averaged(learner)).max() <= np.abs(learner.weights).max() + 0.1
