"""Parts, their scores and the search over them against enumeration of all trees."""

from __future__ import annotations

import numpy as np
import pytest

import oracles
from crossarc._jit import jit
from crossarc.core import Sentence
from crossarc.features._hashing import sentence_attributes
from crossarc.features.attributes import attributes_of
from crossarc.features.templates import parse_templates
from crossarc.parsers.linear._tree_features import most_tree_features, tree_indices
from crossarc.scorers.linear._features import encode
from crossarc.scorers.linear._source import open_parts
from crossarc.scorers.shape import tree_shape
from crossarc.search import Exact, HillClimbing, PartScores, SecondOrder, part_scores
from crossarc.search._candidate_tree import (
    attachment_gain,
    candidate_tree,
    detach,
    find_choices,
    neighbours,
    tree_score,
)
from crossarc.search._find_tree import climb, find_tree

pytestmark = pytest.mark.slow  # compiles much that few people use

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
MOST_COUNTED = 2


@pytest.fixture(autouse=True)
def hashes_overflow():
    with np.errstate(over="ignore"):
        yield


def method(kind, single_root=False, projective=False, **options):
    return kind(tree_shape(single_root=single_root, projective=projective), **options)


def random_parts(n: int, seed: int, forbidden: float = 0.0, kinds=("siblings", "grandparents", "any_siblings")):
    """Random scores for every part of these kinds, and for valencies if there are grandparents."""
    rng = np.random.default_rng(seed)
    arcs = rng.normal(size=(n + 1, n + 1))
    arcs[1:][rng.random((n, n + 1)) < forbidden] = -np.inf
    larger = {kind: rng.normal(size=(n + 1,) * 3) for kind in kinds}
    if "grandparents" in kinds:
        larger["valencies"] = rng.normal(size=(n + 1, 2, MOST_COUNTED + 1))
    return part_scores(arcs, **larger)


def slow_score(parts: PartScores, heads) -> float:
    """The sum of all parts, straight from their definitions; -inf if a head is no candidate."""
    total = 0.0
    n = len(heads) - 1
    for m in range(1, n + 1):
        h = heads[m]
        if h not in parts.candidates[m, : parts.counts[m]]:
            return -np.inf
        j = list(parts.candidates[m, : parts.counts[m]]).index(h)
        step = 1 if h < m else -1
        nearer = [s for s in range(h + step, m, step) if heads[s] == h]
        total += parts.arcs[m, j]
        if parts.siblings.size:
            total += parts.siblings[m, j, nearer[-1] if nearer else h]
        if parts.grandparents.size:
            total += parts.grandparents[m, j, heads[h]] if h > 0 else 0
        if parts.any_siblings.size:
            total += sum(parts.any_siblings[m, j, s] for s in range(1, m) if heads[s] == h)
    if parts.valencies.size:
        for h in range(n + 1):
            children = [m for m in range(1, n + 1) if heads[m] == h]
            left, right = sum(m < h for m in children), sum(m > h for m in children)
            total += parts.valencies[h, min(left, MOST_COUNTED), min(right, MOST_COUNTED)]
    return total


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("projective", [False, True])
def test_the_search_ends_in_a_tree_that_no_change_improves(seed, single_root, projective):
    n = 2 + seed % 4
    parts = random_parts(n, seed, 0.2)
    heads, choice = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    score = find_tree(method(HillClimbing, single_root, projective, restarts=0), parts, np.uint64(seed), heads)
    trees = [
        (slow_score(parts, tree), tree) for tree in oracles.all_trees(n, single_root=single_root, projective=projective)
    ]
    best = max(score for score, _ in trees)
    if score == -np.inf:
        assert best == -np.inf
        return
    find_choices(parts, heads, choice)
    assert tree_score(parts, heads, choice) == pytest.approx(slow_score(parts, heads), abs=1e-4)
    assert score == pytest.approx(slow_score(parts, heads), abs=1e-4)
    assert score <= best + 1e-4
    for other, tree in trees:
        if sum(a != b for a, b in zip(tree, heads, strict=True)) == 1:
            assert other <= score + 1e-4


def test_restarts_find_the_best_tree_nearly_always():
    found = {0: 0, 20: 0}
    for restarts in found:
        for seed in range(60):
            parts = random_parts(5, seed)
            heads = np.zeros(6, dtype=np.int64)
            score = find_tree(method(HillClimbing, True, restarts=restarts), parts, np.uint64(seed), heads)
            best = max(slow_score(parts, tree) for tree in oracles.all_trees(5, single_root=True))
            found[restarts] += score >= best - 1e-4
    assert found[0] < found[20]
    assert found[20] >= 54


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("single_root", [False, True])
def test_second_order_is_exact_if_projective_and_never_worse_if_not(seed, single_root):
    parts = random_parts(5, seed, 0.1, ["siblings"])
    heads = np.zeros(6, dtype=np.int64)
    trees = list(oracles.all_trees(5, single_root=single_root, projective=True))
    best_projective = max(slow_score(parts, tree) for tree in trees)
    score = find_tree(method(SecondOrder, single_root, True), parts, SEED, heads)
    assert score == pytest.approx(best_projective, abs=1e-4)
    score = find_tree(method(SecondOrder, single_root), parts, SEED, heads)
    assert score >= best_projective - 1e-4
    if score > -np.inf:
        assert score == pytest.approx(slow_score(parts, heads), abs=1e-4)
        assert oracles.is_tree(tuple(heads.tolist()))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("projective", [False, True])
def test_first_order_is_exact(seed, single_root, projective):
    parts = random_parts(5, seed, 0.2, [])
    heads = np.zeros(6, dtype=np.int64)
    score = find_tree(method(Exact, single_root, projective), parts, SEED, heads)
    trees = oracles.all_trees(5, single_root=single_root, projective=projective)
    assert score == pytest.approx(max(slow_score(parts, tree) for tree in trees))


@pytest.mark.parametrize("seed", range(20))
def test_climbing_never_loses(seed):
    rng = np.random.default_rng(seed)
    parts = random_parts(5, seed)
    trees = [tree for tree in oracles.all_trees(5) if slow_score(parts, tree) > -np.inf]
    heads = np.array(trees[rng.integers(len(trees))])
    before = slow_score(parts, heads)
    tree = candidate_tree(parts, heads)
    climb.py_func(method(HillClimbing), parts, tree)
    assert oracles.is_tree(tuple(heads.tolist()))
    assert slow_score(parts, heads) >= before - 1e-4
    for h in range(6):
        children = [tree.first[h]]
        while children[-1]:
            children.append(tree.following[children[-1]])
        assert children[:-1] == np.flatnonzero(heads == h).tolist()


@pytest.mark.parametrize("seed", range(20))
def test_the_gain_of_an_arc_is_what_it_adds(seed):
    rng = np.random.default_rng(seed)
    parts = random_parts(5, seed)
    trees = [tree for tree in oracles.all_trees(5) if slow_score(parts, tree) > -np.inf]
    heads = np.array(trees[rng.integers(len(trees))])
    for m in range(1, 6):
        detached = candidate_tree(parts, heads.copy())
        detach(detached, m)
        values = {}
        for j, h in enumerate(parts.candidates[m, : parts.counts[m]].tolist()):
            tree = heads.copy()
            tree[m] = h
            if oracles.is_tree(tuple(tree.tolist())):
                values[h] = attachment_gain(parts, detached, m, j) - slow_score(parts, tree)
        assert max(values.values()) - min(values.values()) < 1e-4  # all else in the score does not change


@jit
def linear_score(encoded, weights, shift, candidates, counts, heads):
    """The score of a tree by a linear source, which fills in parts as they are looked at; for order all of them."""
    parts = open_parts(encoded, weights, shift, candidates, counts)
    choice = np.zeros_like(heads)
    find_choices(parts, heads, choice)
    return tree_score(parts, heads, choice)


@pytest.mark.parametrize("seed", range(10))
def test_features_and_scores_agree(seed):
    """w · (f(y) - f(y')) = score(y) - score(y'), for every kind of part."""
    rng = np.random.default_rng(seed)
    n, shift = 5, np.uint64(64 - 12)
    sentence = Sentence.of([f"w{i}" for i in range(n)], upos=rng.choice(["X", "Y"], n).tolist())
    encoded = encode(sentence_attributes(attributes_of([sentence]), 0), EVERY_PART.compiled)
    weights = rng.normal(size=1 << 12).astype(np.float32)
    candidates = np.array([[h for h in range(n + 1) if h != m] for m in range(n + 1)])
    trees = list(oracles.all_trees(n))
    y, other = (np.array(trees[i]) for i in rng.choice(len(trees), 2, replace=False))
    out, buffer = np.empty(most_tree_features(encoded, y) * 5, dtype=np.int64), np.empty(1000, dtype=np.int64)
    by_features, by_parts = 0.0, 0.0
    for sign, tree, against in ((1, y, other), (-1, other, y)):
        count = tree_indices(encoded, tree, against, shift, buffer, out)
        assert count <= most_tree_features(encoded, tree)
        by_features += sign * weights[out[:count]].astype(float).sum()
        by_parts += sign * linear_score(encoded, weights, shift, candidates, np.full(n + 1, n), tree)
    assert by_features == pytest.approx(by_parts, abs=1e-3)


def test_neighbours_by_hand():
    heads = np.array([-1, 3, 3, 0, 3, 3])
    assert neighbours(heads, 3, 5) == (4, 0)
    assert neighbours(heads, 3, 4) == (3, 5)
    assert neighbours(heads, 3, 1) == (2, 0)
    assert neighbours(heads, 0, 3) == (0, 0)
