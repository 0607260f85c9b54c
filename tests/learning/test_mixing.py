"""Parameter mixing: the mean of what was learnt on every shard; shards have every sentence once."""

from __future__ import annotations

import numpy as np
import pytest

from crossarc.features.attributes import attributes_of
from crossarc.learning.mixing import change_of, mix, own_copy
from crossarc.learning.online import averaged, new_learner
from crossarc.parsers.training import Treebank
from crossarc.testing import random_treebank


def learnt(learner, seed: int, steps: int):
    """What becomes of a copy of the learner in some steps, and the mean of its weights over them."""
    rng, found = np.random.default_rng(seed), own_copy(learner)
    seen = []
    for _ in range(steps):
        places = rng.choice(len(found.weights), 3, replace=False)
        change = rng.normal(size=3).astype(np.float32)
        found.weights[places] += change
        found.totals[places] += found.step[0] * change
        found.step[0] += 1
        seen.append(found.weights.copy())
    return found, np.mean(seen, axis=0)


def test_weights_and_their_averages_are_those_of_the_mean_learner():
    learner, means = new_learner(20, 1.0), []
    for epoch in range(3):
        found = [learnt(learner, 10 * epoch + shard, steps=4) for shard in range(2)]
        expected = np.mean([own.weights for own, _ in found], axis=0)
        mix(learner, [change_of(learner, own) for own, _ in found])
        means.append(np.mean([mean for _, mean in found], axis=0))
        np.testing.assert_allclose(learner.weights, expected, atol=1e-6)
    assert learner.step[0] == 13
    # the first of the averaged weights are those before all steps: 0
    np.testing.assert_allclose(averaged(learner), 12 / 13 * np.mean(means, axis=0), atol=1e-5)


@pytest.mark.parametrize("shards", [1, 3])
def test_shards_have_every_sentence_once(shards):
    sentences = list(random_treebank(10, seed=2))
    treebank = Treebank(sentences)
    parts = [treebank.shard(number, shards) for number in range(shards)]
    assert sum(part.words for part in parts) == treebank.words
    for number, part in enumerate(parts):
        own = sentences[number::shards]
        for found, expected in zip(part.batch, attributes_of(own), strict=True):
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(part.gold.heads, np.concatenate([sentence.heads for sentence in own]))
        assert part.labels == treebank.labels
