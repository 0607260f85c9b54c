"""The search over arcs, siblings and grandparents against enumeration of all trees."""

from __future__ import annotations

import numpy as np
import pytest

import oracles
from crossarc.core import Sentence
from crossarc.parsers._search import (
    Limits,
    Space,
    arc_matrix,
    choose,
    climb,
    keep_candidates,
    neighbours,
    search,
    tree_score,
)
from crossarc.scoring._indices import encode, most_features
from crossarc.scoring.attributes import attributes_of
from crossarc.scoring.templates import parse_templates


def random_space(n: int, seed: int, forbidden: float = 0.0) -> Space:
    """A space with random scores for every part, none of which is left to be computed from features."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n + 1, n + 1))
    scores[1:][rng.random((n, n + 1)) < forbidden] = -np.inf
    candidates, counts = np.zeros((n + 1, n + 1), dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    keep_candidates(scores, n, np.full(n + 1, -1), candidates, counts)
    shape = (n + 1, n + 1)
    parts = [rng.normal(size=(*shape, n + 1)).astype(np.float32) for _ in range(2)]
    sentence = Sentence.of(["word"] * n)
    encoded = encode(attributes_of(sentence), parse_templates("[arc]\nh.upos").compiled)
    weights = np.zeros(1 << 10, dtype=np.float32)
    buffer = np.zeros(most_features(encoded), dtype=np.int64)
    arcs = rng.normal(size=shape)
    return Space(encoded, weights, np.uint64(54), candidates, counts, arcs, *parts, buffer)


def slow_score(space: Space, heads) -> float:
    """The sum of all parts, straight from their definitions; -inf if a head is no candidate."""
    total = 0.0
    for m in range(1, len(heads)):
        h = heads[m]
        if h not in space.candidates[m, : space.counts[m]]:
            return -np.inf
        j = list(space.candidates[m, : space.counts[m]]).index(h)
        step = 1 if h < m else -1
        nearer = [s for s in range(h + step, m, step) if heads[s] == h]
        total += space.arcs[m, j] + space.siblings[m, j, nearer[-1] if nearer else h]
        total += space.grandparents[m, j, heads[h]] if h > 0 else 0
    return total


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("projective", [False, True])
def test_the_search_ends_in_a_tree_that_no_change_improves(seed, single_root, projective):
    n = 2 + seed % 4
    space, limits = random_space(n, seed, 0.2), Limits(single_root, projective, 0)
    heads, choice = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    score = search(space, limits, arc_matrix(space), np.uint64(seed), heads)
    trees = [
        (slow_score(space, tree), tree) for tree in oracles.all_trees(n, single_root=single_root, projective=projective)
    ]
    best = max(score for score, _ in trees)
    if score == -np.inf:
        assert best == -np.inf
        return
    choose(space, heads, choice)
    assert tree_score(space, heads, choice) == pytest.approx(slow_score(space, heads), abs=1e-4)
    assert score == pytest.approx(slow_score(space, heads), abs=1e-4)
    assert score <= best + 1e-4
    for other, tree in trees:
        if sum(a != b for a, b in zip(tree, heads, strict=True)) == 1:
            assert other <= score + 1e-4


def test_restarts_find_the_best_tree_nearly_always():
    found = {0: 0, 20: 0}
    for restarts in found:
        for seed in range(60):
            space = random_space(5, seed)
            heads = np.zeros(6, dtype=np.int64)
            score = search(space, Limits(True, False, restarts), arc_matrix(space), np.uint64(seed), heads)
            best = max(slow_score(space, tree) for tree in oracles.all_trees(5, single_root=True))
            found[restarts] += score >= best - 1e-4
    assert found[0] < found[20]
    assert found[20] >= 57


@pytest.mark.parametrize("seed", range(20))
def test_climbing_never_loses(seed):
    rng = np.random.default_rng(seed)
    space = random_space(5, seed)
    trees = [tree for tree in oracles.all_trees(5) if slow_score(space, tree) > -np.inf]
    heads, choice = np.array(trees[rng.integers(len(trees))]), np.zeros(6, dtype=np.int64)
    before = slow_score(space, heads)
    choose(space, heads, choice)
    climb(space, Limits(False, False, 0), heads, choice)
    assert oracles.is_tree(tuple(heads.tolist()))
    assert slow_score(space, heads) >= before - 1e-4


def test_neighbours_by_hand():
    heads = np.array([-1, 3, 3, 0, 3, 3])
    assert neighbours(heads, 3, 5) == (4, 0)
    assert neighbours(heads, 3, 4) == (3, 5)
    assert neighbours(heads, 3, 1) == (2, 0)
    assert neighbours(heads, 0, 3) == (0, 0)
