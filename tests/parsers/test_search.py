"""Parts, their scores and the search over them against enumeration of all trees."""

from __future__ import annotations

import numpy as np
import pytest
from crossarc.scorers.linear._part_scores import (
    Rules,
    Space,
    choose,
    detach,
    most_tree_features,
    neighbours,
    open_space,
    tree_indices,
    tree_of,
    tree_score,
    worth,
)
from crossarc.search._search import climb, first_order, second_order

import oracles
from crossarc.core import Sentence
from crossarc.features._hashing import sentence_attributes
from crossarc.features.attributes import attributes_of
from crossarc.features.templates import parse_templates
from crossarc.scorers.linear._features import (
    MOST_COUNTED,
    encode,
)
from crossarc.scorers.linear._pruner import keep_candidates
from crossarc.search import _search

TEMPLATES = """
[arc]
h.form m.form
[between]
h.form b.upos m.form
[pairs]
[sibling]
h.form s.form m.form
[grandparent]
g.form h.form m.form
[any-sibling]
h.form s.form m.form
[valency]
h.form
"""
EVERY_PART = parse_templates(TEMPLATES)
SEED = np.uint64(1)
high_order = _search.high_order.py_func  # like the other kernels of other kernels, in plain Python here


@pytest.fixture(autouse=True)
def hashes_overflow():
    with np.errstate(over="ignore"):
        yield


def rules(single_root: bool = False, projective: bool = False, restarts: int = 0) -> Rules:
    return Rules(single_root, projective, 0, 2.0, restarts, False, False)


def random_space(n: int, seed: int, forbidden: float = 0.0, *, only_siblings: bool = False) -> Space:
    """A space with random scores for every part, none of which is left to be computed from features."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n + 1, n + 1))
    scores[1:][rng.random((n, n + 1)) < forbidden] = -np.inf
    candidates, counts = np.zeros((n + 1, n + 1), dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    keep_candidates(scores, n, 2.0, np.full(n + 1, -1), candidates, counts)
    templates = EVERY_PART.of_parts(("arc", "sibling") if only_siblings else EVERY_PART.lines)
    encoded = encode(sentence_attributes(attributes_of([Sentence.of(["word"] * n)]), 0), templates)
    space = open_space(encoded, np.zeros(1 << 10, dtype=np.float32), np.uint64(54), candidates, counts)
    for part in (space.arcs, space.siblings, space.grandparents, space.any_siblings, space.valencies):
        part[...] = rng.normal(size=part.shape)
    return space


def slow_score(space: Space, heads) -> float:
    """The sum of all parts, straight from their definitions; -inf if a head is no candidate."""
    total = 0.0
    n = len(heads) - 1
    for m in range(1, n + 1):
        h = heads[m]
        if h not in space.candidates[m, : space.counts[m]]:
            return -np.inf
        j = list(space.candidates[m, : space.counts[m]]).index(h)
        step = 1 if h < m else -1
        nearer = [s for s in range(h + step, m, step) if heads[s] == h]
        total += space.arcs[m, j] + space.siblings[m, j, nearer[-1] if nearer else h]
        if space.grandparents.size:
            total += space.grandparents[m, j, heads[h]] if h > 0 else 0
            total += sum(space.any_siblings[m, j, s] for s in range(1, m) if heads[s] == h)
    if space.grandparents.size:
        for h in range(n + 1):
            children = [m for m in range(1, n + 1) if heads[m] == h]
            left, right = sum(m < h for m in children), sum(m > h for m in children)
            total += space.valencies[h, min(left, MOST_COUNTED), min(right, MOST_COUNTED)]
    return total


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("projective", [False, True])
def test_the_search_ends_in_a_tree_that_no_change_improves(seed, single_root, projective):
    n = 2 + seed % 4
    space = random_space(n, seed, 0.2)
    heads, choice = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    score = high_order(space, rules(single_root, projective), np.uint64(seed), heads)
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
            score = high_order(space, rules(True, False, restarts), np.uint64(seed), heads)
            best = max(slow_score(space, tree) for tree in oracles.all_trees(5, single_root=True))
            found[restarts] += score >= best - 1e-4
    assert found[0] < found[20]
    assert found[20] >= 54


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("single_root", [False, True])
def test_second_order_is_exact_if_projective_and_never_worse_if_not(seed, single_root):
    space = random_space(5, seed, 0.1, only_siblings=True)
    heads = np.zeros(6, dtype=np.int64)
    trees = list(oracles.all_trees(5, single_root=single_root, projective=True))
    best_projective = max(slow_score(space, tree) for tree in trees)
    score = second_order(space, rules(single_root, True), SEED, heads)
    assert score == pytest.approx(best_projective, abs=1e-4)
    score = second_order(space, rules(single_root, False), SEED, heads)
    assert score >= best_projective - 1e-4
    if score > -np.inf:
        assert score == pytest.approx(slow_score(space, heads), abs=1e-4)
        assert oracles.is_tree(tuple(heads.tolist()))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("projective", [False, True])
def test_first_order_is_exact(seed, single_root, projective):
    space = random_space(5, seed, 0.2)
    for part in (space.siblings, space.grandparents, space.any_siblings, space.valencies):
        part[...] = 0
    heads = np.zeros(6, dtype=np.int64)
    score = first_order(space, rules(single_root, projective), heads)
    trees = oracles.all_trees(5, single_root=single_root, projective=projective)
    assert score == pytest.approx(max(slow_score(space, tree) for tree in trees))


@pytest.mark.parametrize("seed", range(20))
def test_climbing_never_loses(seed):
    rng = np.random.default_rng(seed)
    space = random_space(5, seed)
    trees = [tree for tree in oracles.all_trees(5) if slow_score(space, tree) > -np.inf]
    heads = np.array(trees[rng.integers(len(trees))])
    before = slow_score(space, heads)
    tree = tree_of(space, heads)
    climb(space, rules(), tree)
    assert oracles.is_tree(tuple(heads.tolist()))
    assert slow_score(space, heads) >= before - 1e-4
    for h in range(6):
        children = [tree.first[h]]
        while children[-1]:
            children.append(tree.following[children[-1]])
        assert children[:-1] == np.flatnonzero(heads == h).tolist()


@pytest.mark.parametrize("seed", range(20))
def test_the_worth_of_an_arc_is_what_it_adds(seed):
    rng = np.random.default_rng(seed)
    space = random_space(5, seed)
    trees = [tree for tree in oracles.all_trees(5) if slow_score(space, tree) > -np.inf]
    heads = np.array(trees[rng.integers(len(trees))])
    for m in range(1, 6):
        detached = tree_of(space, heads.copy())
        detach(detached, m)
        values = {}
        for j, h in enumerate(space.candidates[m, : space.counts[m]].tolist()):
            tree = heads.copy()
            tree[m] = h
            if oracles.is_tree(tuple(tree.tolist())):
                values[h] = worth(space, detached, m, j) - slow_score(space, tree)
        assert max(values.values()) - min(values.values()) < 1e-4  # all else in the score does not change


@pytest.mark.parametrize("seed", range(10))
def test_features_and_scores_agree(seed):
    """w · (f(y) - f(y')) = score(y) - score(y'), for every kind of part."""
    rng = np.random.default_rng(seed)
    n, shift = 5, np.uint64(64 - 12)
    sentence = Sentence.of([f"w{i}" for i in range(n)], upos=rng.choice(["X", "Y"], n).tolist())
    encoded = encode(sentence_attributes(attributes_of([sentence]), 0), EVERY_PART.compiled)
    weights = rng.normal(size=1 << 12).astype(np.float32)
    candidates = np.array([[h for h in range(n + 1) if h != m] for m in range(n + 1)])
    space = open_space(encoded, weights, shift, candidates, np.full(n + 1, n))
    trees = list(oracles.all_trees(n))
    y, other = (np.array(trees[i]) for i in rng.choice(len(trees), 2, replace=False))
    out, choice = np.empty(most_tree_features(encoded, y) * 5, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    by_features, by_parts = 0.0, 0.0
    for sign, tree, against in ((1, y, other), (-1, other, y)):
        count = tree_indices(encoded, tree, against, shift, space.buffer, out)
        assert count <= most_tree_features(encoded, tree)
        by_features += sign * weights[out[:count]].astype(float).sum()
        choose(space, tree, choice)
        by_parts += sign * tree_score(space, tree, choice)
    assert by_features == pytest.approx(by_parts, abs=1e-3)


def test_neighbours_by_hand():
    heads = np.array([-1, 3, 3, 0, 3, 3])
    assert neighbours(heads, 3, 5) == (4, 0)
    assert neighbours(heads, 3, 4) == (3, 5)
    assert neighbours(heads, 3, 1) == (2, 0)
    assert neighbours(heads, 0, 3) == (0, 0)
