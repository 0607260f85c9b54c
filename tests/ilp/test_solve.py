"""Programs against enumeration and against the algorithms for trees."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from crossarc.core import Constraints, NoTreeError, UnsupportedConstraint
from crossarc.ilp import Children, parts_of, score_of, solve
from crossarc.ilp.formulation import formulate
from crossarc.trees import best_second_order_tree, best_tree
from oracles import children, crosses, is_projective_arc
from strategies import score_arrays

pytestmark = pytest.mark.slow  # compiles much that few people use

WAYS = ("cutting planes", "single-commodity flow", "multi-commodity flow")
KINDS = ("siblings", "grandparents", "next_siblings", "valencies", "sides", "nonprojective", "crossing")

seeds = st.integers(0, 2**32 - 1)


def random_parts(seed: int, n: int, kinds) -> dict[str, np.ndarray]:
    """Scores of the kinds of parts; a few parts are forbidden."""
    rng = np.random.default_rng(seed)
    shapes = {
        "siblings": (n + 1,) * 3,
        "grandparents": (n + 1,) * 3,
        "next_siblings": (n + 1,) * 3,
        "valencies": (n + 1, 3),
        "sides": (n + 1, 2, 3),
        "nonprojective": (n + 1, n + 1),
        "crossing": (n + 1, n + 1),
    }
    scores = {kind: rng.normal(size=shapes[kind]) * 2 for kind in kinds}
    for array in scores.values():
        array[rng.random(array.shape) < 0.02] = -np.inf
    if "sides" in scores:
        scores["valencies"] = scores.pop("sides")
    return scores


def full_score(arcs, heads, *, siblings=None, grandparents=None, next_siblings=None, **others) -> float:
    """The score of a tree, part by part."""
    words = range(1, len(heads))
    total = oracles.score(arcs, heads)
    if siblings is not None:
        total += sum(siblings[heads[s], s, m] for s, m in itertools.combinations(words, 2) if heads[s] == heads[m])
    if grandparents is not None:
        total += sum(grandparents[heads[heads[m]], heads[m], m] for m in words if heads[m] > 0)
    if next_siblings is not None:
        total += sum(next_siblings[part] for part in oracles.second_order_parts(heads))
    return total + sum(OTHERS[kind](scores, heads) for kind, scores in others.items())


def valency_score(scores, heads) -> float:
    total, most = 0.0, scores.shape[-1] - 1
    for h in range(len(heads)):
        if scores.ndim == 2:
            total += scores[h, min(len(children(heads, h)), most)]
        else:
            left = sum(m < h for m in children(heads, h))
            right = len(children(heads, h)) - left
            total += scores[h, 0, min(left, most)] + scores[h, 1, min(right, most)]
    return total


OTHERS = {
    "valencies": valency_score,
    "nonprojective": lambda scores, heads: sum(
        scores[heads[m], m] for m in range(1, len(heads)) if not is_projective_arc(heads, m)
    ),
    "crossing": lambda scores, heads: sum(scores[heads[m], m] for m in range(1, len(heads)) if crosses(heads, m)),
}


def best_score(arcs, scores, **flags) -> float:
    return max(full_score(arcs, heads, **scores) for heads in oracles.all_trees(len(arcs) - 1, **flags))


@given(score_arrays(max_words=7, spread=10.0), st.sampled_from(WAYS), st.booleans())
@settings(max_examples=150)
def test_arcs_alone_are_best_tree(scores, way, one_root):
    try:
        expected = best_tree(scores, single_root=one_root).score
    except NoTreeError:
        with pytest.raises(NoTreeError):
            solve(parts_of(scores), trees=way, constraints=Constraints(single_root=one_root))
        return
    found = solve(parts_of(scores), trees=way, constraints=Constraints(single_root=one_root))
    assert found.status == "optimal"
    assert found.tree.score == pytest.approx(expected)
    assert oracles.score(scores, found.tree.heads) == pytest.approx(expected)


@given(score_arrays(max_words=7, spread=10.0))
@settings(max_examples=100)
def test_the_projective_program_is_eisners_algorithm(scores):
    try:
        expected = best_tree(scores, projective=True).score
    except NoTreeError:
        with pytest.raises(NoTreeError):
            solve(parts_of(scores), constraints=Constraints(projective=True))
        return
    found = solve(parts_of(scores), constraints=Constraints(projective=True)).tree
    assert found.score == pytest.approx(expected)
    assert oracles.is_projective(found.heads)


@given(seeds, st.integers(1, 5), st.booleans())
@settings(max_examples=100)
def test_next_siblings_are_second_order_trees(seed, n, dynamic):
    rng = np.random.default_rng(seed)
    arcs, siblings = rng.normal(size=(n + 1, n + 1)), rng.normal(size=(n + 1,) * 3)
    parts = parts_of(arcs, next_siblings=siblings)
    projective = solve(parts, constraints=Constraints(projective=True), as_in_paper=dynamic).tree
    assert projective.score == pytest.approx(best_second_order_tree(arcs, siblings).score)
    free = solve(parts, as_in_paper=dynamic).tree
    assert free.score >= best_second_order_tree(arcs, siblings, projective=False).score - 1e-6
    assert free.score == pytest.approx(oracles.second_order_score(arcs, siblings, free.heads))


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds, n=st.integers(1, 5), one_root=st.booleans(), paper=st.booleans())
@settings(max_examples=15)
def test_every_part_is_scored_as_enumeration_scores_it(kind, seed, n, one_root, paper):
    arcs, scores = np.random.default_rng(seed).normal(size=(n + 1, n + 1)), random_parts(seed, n, [kind])
    parts, expected = parts_of(arcs, **scores), best_score(arcs, scores, single_root=one_root)
    if expected == -np.inf:
        with pytest.raises(NoTreeError):
            solve(parts, constraints=Constraints(single_root=one_root), as_in_paper=paper)
        return
    found = solve(parts, constraints=Constraints(single_root=one_root), as_in_paper=paper)
    assert found.status == "optimal"
    assert found.tree.score == pytest.approx(expected)
    assert full_score(arcs, found.tree.heads, **scores) == pytest.approx(expected)
    for heads in oracles.all_trees(n) if n <= 3 else ():
        assert score_of(parts, heads) == pytest.approx(full_score(arcs, heads, **scores))


@given(seed=seeds, n=st.integers(2, 4), kinds=st.sets(st.sampled_from(KINDS[:4] + KINDS[5:]), min_size=2))
@settings(max_examples=30)
def test_parts_together(seed, n, kinds):
    arcs, scores = np.random.default_rng(seed).normal(size=(n + 1, n + 1)), random_parts(seed, n, sorted(kinds))
    expected = best_score(arcs, scores)
    if expected == -np.inf:
        return
    parts = parts_of(arcs, **scores)
    for way in WAYS:
        found = solve(parts, trees=way)
        assert found.tree.score == pytest.approx(expected)
        relaxed = solve(parts, trees=way, exact=False)
        assert relaxed.bound >= expected - 1e-6
        assert relaxed.tree.score <= expected + 1e-6
        assert full_score(arcs, relaxed.tree.heads, **scores) == pytest.approx(relaxed.tree.score)
        if relaxed.status == "integral":
            assert relaxed.tree.score == pytest.approx(expected)


@given(seed=seeds)
@settings(max_examples=30)
def test_relaxations_from_loose_to_tight(seed):
    """Cutting planes are as tight as the multi-commodity flow, head automata at least as tight as the paper's rows."""
    rng = np.random.default_rng(seed)
    n = 6
    arcs, next_siblings = rng.normal(size=(n + 1, n + 1)), rng.normal(size=(n + 1,) * 3) * 2
    parts = parts_of(arcs, next_siblings=next_siblings, grandparents=rng.normal(size=(n + 1,) * 3) * 2)
    loose, tight, cut = (solve(parts, trees=way, exact=False).bound for way in (WAYS[1], WAYS[2], WAYS[0]))
    assert loose >= tight - 1e-6
    assert cut == pytest.approx(tight, abs=1e-3)
    assert solve(parts, as_in_paper=True, exact=False).bound >= cut - 1e-3


def test_some_relaxations_are_fractional():
    """Otherwise nothing above has ever branched or rounded."""
    seen = set()
    for seed in range(30):
        rng = np.random.default_rng(seed)
        parts = parts_of(np.zeros((6, 6)), siblings=rng.normal(size=(6,) * 3))
        relaxed = solve(parts, exact=False)
        seen.add(relaxed.status)
        assert relaxed.gap == 0.0 if relaxed.status == "integral" else relaxed.gap >= 0.0
        assert relaxed.indicators is not None
        assert relaxed.indicators.arcs.sum() == pytest.approx(5)
    assert seen == {"integral", "rounded"}


def test_no_time_at_all_still_gives_a_tree():
    rng = np.random.default_rng(1)
    n = 12
    parts = parts_of(rng.normal(size=(n + 1, n + 1)), siblings=rng.normal(size=(n + 1,) * 3))
    found = solve(parts, time_limit=0.0)
    assert found.status == "time limit"
    assert found.gap > 0
    assert oracles.is_tree(tuple(found.tree.heads))
    assert found.tree.score == pytest.approx(score_of(parts, found.tree.heads))


def test_no_time_and_a_rule():
    rng = np.random.default_rng(1)
    parts = parts_of(rng.normal(size=(9, 9)), siblings=rng.normal(size=(9,) * 3))
    found = solve(parts, time_limit=0.0, rules=[Children(most=1)])
    assert found.status == "time limit"
    assert np.bincount(found.tree.heads[1:]).max() == 1
    assert found.tree.score == pytest.approx(score_of(parts, found.tree.heads))


def test_constraints():
    rng = np.random.default_rng(2)
    n = 4
    arcs = rng.normal(size=(n + 1, n + 1, 2))
    constraints = Constraints(
        required_arcs=frozenset([(3, 1)]),
        forbidden_arcs=frozenset([(0, 3)]),
        required_labels={1: 0},
        forbidden_labels=frozenset([(2, 1)]),
        max_children={3: 1, 0: 1},
    )
    expected = max(
        (oracles.score(arcs, heads, labels), heads, labels)
        for heads, labels in oracles.all_labelled_trees(n, 2)
        if heads[1] == 3 and heads[3] != 0 and labels[1] == 0 and labels[2] != 1
        if len(children(heads, 3)) <= 1 and len(children(heads, 0)) <= 1
    )
    found = solve(parts_of(arcs), constraints=constraints).tree
    assert (found.score, tuple(found.heads), tuple(found.labels)) == (pytest.approx(expected[0]), *expected[1:])
    with pytest.raises(UnsupportedConstraint):
        solve(parts_of(arcs), constraints=Constraints(max_degree=1))
    with pytest.raises(ValueError, match="labelled"):
        solve(parts_of(arcs[:, :, 0]), constraints=Constraints(required_labels={1: 0}))


def test_no_words():
    found = solve(parts_of(np.zeros((1, 1)), valencies=np.array([[2.0, 5.0]])))
    assert found.tree.heads.tolist() == [-1]
    assert found.tree.score == 2.0


def test_programs_are_as_small_as_the_paper_says():
    """O(|A|) rows for arcs, O(n |A|) for what is more."""
    sizes = []
    for n in (10, 20):
        parts = parts_of(np.zeros((n + 1, n + 1)), grandparents=np.ones((n + 1,) * 3))
        arcs_only = parts_of(np.zeros((n + 1, n + 1)))
        flow = formulate(arcs_only, Constraints(), (), trees=WAYS[1]).program.matrix()
        assert len(flow.lower) == 2 * n + 1 + n * n
        sizes.append(len(formulate(parts, Constraints(), ()).program.matrix().lower))
    assert sizes[1] < 9 * sizes[0]
