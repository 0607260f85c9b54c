"""The pruner: which heads it leaves, and that its ranking is learnt."""

import numpy as np
import pytest

from crossarc.parsers import SpanningTreeConfig, TrainingListener, train
from crossarc.scorers.linear._pruner import RANK, keep_candidates, rival_of
from trained import DEV, TRAIN


@pytest.mark.parametrize("kept", [1, 3, 20])
def test_the_best_heads_stay_if_nearly_as_good_as_the_best(kept):
    rng = np.random.default_rng(kept)
    for _ in range(50):
        size = int(rng.integers(2, 9))
        scores = np.where(rng.random((size, size)) < 0.1, -np.inf, rng.normal(scale=2, size=(size, size)))
        always = np.append(-1, [int(rng.choice([h for h in range(size) if h != m])) for m in range(1, size)])
        candidates, counts = np.zeros((size, min(kept, size) + 1), np.int64), np.zeros(size, np.int64)
        keep_candidates(scores, min(kept, size), 2.5, always, candidates, counts)
        for m in range(1, size):
            order = sorted((h for h in range(size) if h != m), key=lambda h: -scores[h, m])
            good = [h for h in order if scores[h, m] > scores[order[0], m] - 2.5][:kept]
            assert set(candidates[m, : counts[m]].tolist()) == {*good, always[m]}


def test_the_rival_of_the_gold_head_comes_rank_th_among_the_others():
    scores = np.arange(12.0)[:, None] * np.ones(12)
    assert rival_of(scores, 11, 10) == 9 - (RANK - 1)
    assert rival_of(scores, 0, 10) == 11 - RANK
    assert rival_of(scores[:3, :3].copy(), 0, 1) == 2  # the last, if there are fewer
    assert rival_of(scores[:2, :2].copy(), 0, 1) == -1


def test_the_ranking_is_learnt():
    class Recall(TrainingListener):
        def pruned(self, candidates, recall):
            self.candidates, self.recall = candidates, recall

    found = Recall()
    train(TRAIN, SpanningTreeConfig(order="1", epochs=1, hash_bits=18, max_candidates=4), dev=DEV, listener=found)
    assert found.candidates <= 4
    assert found.recall > 0.97
