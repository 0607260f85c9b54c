"""Second-order trees: projective against enumeration, climbing against its promises."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from crossarc.core import Constraints, NoTreeError, UnsupportedConstraint
from crossarc.trees._hill_climbing import find_gains, graph_of, graph_score
from crossarc.trees.second_order import best_second_order_tree
from strategies import score_arrays

STARTS = ("projective", "nonprojective")


@st.composite
def second_order_scores(draw, max_words: int = 5, max_labels: int = 0):
    """Arcs and siblings of one sentence; NaN where the siblings are ignored."""
    arcs = draw(score_arrays(max_words=max_words, max_labels=max_labels))
    size = len(arcs)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    siblings = draw(st.sampled_from([rng.normal(size=(size,) * 3), rng.integers(-2, 3, (size,) * 3) * 1.0]))
    siblings[rng.random(siblings.shape) < draw(st.sampled_from([0.0, 0.0, 0.1, 0.4]))] = -np.inf
    h, s, m = np.indices(siblings.shape)
    used = (m > 0) & (m != h) & ((s == h) | ((h < s) & (s < m)) | ((m < s) & (s < h)))
    siblings[~used] = np.nan
    return arcs, siblings


def best_by_enumeration(arcs, siblings, **flags):
    trees = oracles.all_trees(len(arcs) - 1, **flags)
    return max((oracles.second_order_score(arcs, siblings, heads) for heads in trees), default=-np.inf)


def is_neighbour(heads, other):
    return sum(a != b for a, b in zip(heads, other, strict=True)) == 1


def close(a, b):
    return a == pytest.approx(b, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("single_root", [False, True])
@settings(max_examples=60, deadline=None)
@given(second_order_scores())
def test_projective_is_exact(single_root, scores):
    arcs, siblings = scores
    best = best_by_enumeration(arcs, siblings, single_root=single_root, projective=True)
    if best == -np.inf:
        with pytest.raises(NoTreeError):
            best_second_order_tree(arcs, siblings, single_root=single_root)
        return
    tree = best_second_order_tree(arcs, siblings, single_root=single_root)
    assert close(tree.score, best)
    assert close(oracles.second_order_score(arcs, siblings, tree.heads), best)
    assert tuple(tree.heads) in oracles.all_trees(len(arcs) - 1, single_root=single_root, projective=True)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("single_root", [False, True])
@settings(max_examples=60, deadline=None)
@given(second_order_scores())
def test_climbing_ends_at_a_local_optimum_above_its_start(start, single_root, scores):
    arcs, siblings = scores
    options = {"single_root": single_root, "projective": False, "start": start}
    trees = oracles.all_trees(len(arcs) - 1, single_root=single_root)
    try:
        tree = best_second_order_tree(arcs, siblings, **options)
    except NoTreeError:
        projective = best_by_enumeration(arcs, siblings, single_root=single_root, projective=True)
        assert projective == -np.inf
        return
    heads = tuple(tree.heads)
    assert heads in trees
    assert close(tree.score, oracles.second_order_score(arcs, siblings, heads))
    tolerance = 1e-9 * max(1, np.abs(arcs[np.isfinite(arcs)]).max(initial=0))
    for other in trees:
        if is_neighbour(heads, other):
            assert oracles.second_order_score(arcs, siblings, other) <= tree.score + tolerance
    beginning = best_second_order_tree(arcs, siblings, max_changes=0, **options)
    assert tree.score >= beginning.score
    if start == "projective":
        assert tree.score >= best_by_enumeration(arcs, siblings, single_root=single_root, projective=True) - tolerance


@pytest.mark.parametrize("start", STARTS)
def test_each_step_of_the_climb_is_the_best_one(start):
    rng = np.random.default_rng(3)
    for _ in range(10):
        arcs, siblings = rng.normal(size=(6, 6)), rng.normal(size=(6, 6, 6)) * 2
        options = {"projective": False, "start": start}
        before = best_second_order_tree(arcs, siblings, max_changes=0, **options)
        for changes in itertools.count(1):
            after = best_second_order_tree(arcs, siblings, max_changes=changes, **options)
            scores = [
                oracles.second_order_score(arcs, siblings, other)
                for other in oracles.all_trees(5)
                if is_neighbour(before.heads, other)
            ]
            assert close(after.score, max(before.score, *scores))
            if after.score == before.score:
                break
            before = after


@settings(max_examples=50, deadline=None)
@given(second_order_scores(max_words=6), st.data())
def test_the_gain_is_the_difference_that_an_arc_makes(scores, data):
    arcs = np.nan_to_num(scores[0], neginf=-3.0)
    siblings = np.nan_to_num(scores[1], neginf=-5.0)
    size = len(arcs)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    graph = rng.random((size, size)) < 0.4
    graph[:, 0] = False
    np.fill_diagonal(graph, False)
    gains = np.empty((size, size))
    for h in range(size):
        find_gains(arcs, siblings, graph, gains, h)
    for h, m in itertools.product(range(size), range(1, size)):
        if h != m:
            with_arc, without = graph.copy(), graph.copy()
            with_arc[h, m], without[h, m] = True, False
            difference = graph_score(arcs, siblings, with_arc) - graph_score(arcs, siblings, without)
            assert gains[h, m] == pytest.approx(difference, rel=1e-9, abs=1e-6)


def test_score_of_the_example_of_mcdonald_and_pereira():
    # "John hit the ball with the bat", Figure 1
    heads = np.array([-1, 2, 0, 4, 2, 2, 7, 5])
    parts = [(0, 0, 2), (2, 2, 1), (2, 2, 4), (2, 4, 5), (4, 4, 3), (5, 5, 7), (7, 7, 6)]
    siblings = np.zeros((8, 8, 8))
    for i, (h, s, m) in enumerate(parts):
        siblings[h, s, m] = 10.0**i
    assert graph_score(np.zeros((8, 8)), siblings, graph_of(heads)) == 1111111
    tree = best_second_order_tree(np.zeros((8, 8)), siblings)
    assert tree.heads.tolist() == heads.tolist()
    assert tree.score == 1111111


def three_dimensional_matching(m, triples):
    """The reduction of Appendix A: words x1..xm, y1..ym, z1..zm; a matching is a tree of score m."""
    size = 3 * m + 1
    arcs = np.full((size, size), -np.inf)
    siblings = np.full((size, size, size), -np.inf)
    xs, ys = range(1, m + 1), range(m + 1, 2 * m + 1)
    arcs[0, 1 : m + 1] = 0
    arcs[1 : m + 1, m + 1 :] = 0
    for x in xs:
        siblings[0, 0 : m + 1, x] = 0
        for y in ys:
            siblings[x, x, y] = 0
    for x, y, z in triples:
        siblings[1 + x, 1 + m + y, 1 + 2 * m + z] = 1
    return arcs, siblings


def has_matching(m, triples):
    everything = list(range(m))
    return any(
        all(sorted(t[i] for t in chosen) == everything for i in range(3))
        for chosen in itertools.combinations(triples, m)
    )


def best_assignment(m, arcs, siblings):
    """The score of the best tree of the reduction, by trying every x as the head of every y and z."""
    return max(
        oracles.second_order_score(arcs, siblings, (-1, *[0] * m, *heads))
        for heads in itertools.product(range(1, m + 1), repeat=2 * m)
    )


def random_triples(m, rng):
    return [triple for triple in itertools.product(range(m), repeat=3) if rng.random() < 0.35]


@pytest.mark.parametrize("m", [1, 2, 3])
def test_three_dimensional_matching(m):
    rng = np.random.default_rng(m)
    outcomes = set()
    for _ in range(10):
        triples = random_triples(m, rng)
        arcs, siblings = three_dimensional_matching(m, triples)
        best = best_assignment(m, arcs, siblings)
        assert (best == m) is has_matching(m, triples)
        outcomes.add(best)
        try:
            tree = best_second_order_tree(arcs, siblings, projective=False)
        except NoTreeError:  # allowed: the search is not exhaustive
            continue
        assert tree.score == best == m
        parts = oracles.second_order_parts(tree.heads)
        assert {(x - 1, y - m - 1, z - 2 * m - 1) for x, y, z in parts if z > 2 * m} <= set(triples)
    assert outcomes == {-np.inf, m}


@pytest.mark.parametrize("seed", [0, 3])
def test_no_tree_beats_the_matching(seed):
    triples = random_triples(2, np.random.default_rng(seed))
    arcs, siblings = three_dimensional_matching(2, triples)
    assert best_by_enumeration(arcs, siblings) == best_assignment(2, arcs, siblings)


def test_climbing_finds_a_matching():
    arcs, siblings = three_dimensional_matching(2, [(0, 1, 0), (1, 0, 1)])
    tree = best_second_order_tree(arcs, siblings, projective=False)
    assert tree.heads.tolist() == [-1, 0, 0, 2, 1, 1, 2]
    assert tree.score == 2.0


@pytest.mark.parametrize("start", STARTS)
def test_a_forbidden_start_is_left(start):
    # The best tree by the arcs puts 1 and 2 on 0, which the siblings forbid
    arcs = np.full((4, 4), -np.inf)
    arcs[0, 1] = arcs[0, 2] = arcs[1, 3] = arcs[2, 3] = 5.0
    arcs[1, 2] = 1.0
    siblings = np.zeros((4, 4, 4))
    siblings[0, 1, 2] = -np.inf
    siblings[1, 2, 3] = -np.inf
    siblings[2, 2, 3] = -np.inf
    with pytest.raises(NoTreeError):
        best_second_order_tree(arcs, siblings)
    with pytest.raises(NoTreeError):
        best_second_order_tree(arcs, siblings, projective=False, start=start)
    arcs[3, 2] = 0.0
    tree = best_second_order_tree(arcs, siblings, projective=False, start=start)
    assert tree.heads.tolist() == [-1, 0, 3, 1]
    assert tree.score == 10.0


@pytest.mark.parametrize("projective", [False, True])
@settings(max_examples=40, deadline=None)
@given(second_order_scores(max_words=4, max_labels=3))
def test_labels(projective, scores):
    arcs, siblings = scores
    try:
        tree = best_second_order_tree(arcs, siblings, projective=projective)
    except NoTreeError:
        return
    plain = best_second_order_tree(arcs.max(axis=2), siblings, projective=projective)
    assert tree.heads.tolist() == plain.heads.tolist()
    assert tree.score == plain.score
    assert plain.labels is None
    assert tree.labels[0] == -1
    for m in range(1, len(arcs)):
        assert tree.labels[m] == arcs[tree.heads[m], m].argmax()


@pytest.mark.parametrize("projective", [False, True])
def test_constraints(projective):
    rng = np.random.default_rng(5)
    arcs, siblings = rng.normal(size=(7, 7)), rng.normal(size=(7, 7, 7))
    free = best_second_order_tree(arcs, siblings, projective=projective)
    forbidden = frozenset((int(free.heads[m]), m) for m in (2, 5))
    constraints = Constraints(required_arcs=frozenset({(6, 4)}), forbidden_arcs=forbidden, single_root=True)
    tree = best_second_order_tree(arcs, siblings, constraints=constraints, projective=projective)
    assert tree.heads[4] == 6
    assert tree.heads.tolist().count(0) == 1
    assert all(tree.heads[m] != h for h, m in forbidden)
    with pytest.raises(UnsupportedConstraint):
        best_second_order_tree(arcs, siblings, constraints=Constraints(max_children={1: 1}), projective=projective)
    as_constraint = Constraints(projective=True)
    exact = best_second_order_tree(arcs, siblings)
    assert best_second_order_tree(arcs, siblings, constraints=as_constraint, projective=False).score == exact.score


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("start", STARTS)
def test_one_word_and_none(projective, single_root, start):
    options = {"projective": projective, "single_root": single_root, "start": start}
    empty = best_second_order_tree(np.zeros((1, 1)), np.zeros((1, 1, 1)), **options)
    assert empty.heads.tolist() == [-1]
    assert empty.score == 0.0
    one = best_second_order_tree([[np.nan, 2], [np.nan, np.nan]], np.full((2, 2, 2), 3), **options)
    assert one.heads.tolist() == [-1, 0]
    assert one.score == 5.0
    with pytest.raises(NoTreeError):
        best_second_order_tree(np.full((2, 2), -np.inf), np.zeros((2, 2, 2)), **options)
    with pytest.raises(NoTreeError):
        best_second_order_tree(np.zeros((2, 2)), np.full((2, 2, 2), -np.inf), **options)


def test_bad_input():
    arcs, siblings = np.zeros((3, 3)), np.zeros((3, 3, 3))
    with pytest.raises(ValueError, match="start"):
        best_second_order_tree(arcs, siblings, start="random")
    with pytest.raises(ValueError, match="max_changes"):
        best_second_order_tree(arcs, siblings, projective=False, max_changes=-1)


def test_a_long_sentence_of_tied_scores():
    n = 150
    tree = best_second_order_tree(np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1, n + 1)), projective=False)
    assert tree.score == 0.0
    rng = np.random.default_rng(0)
    arcs, siblings = rng.normal(size=(n + 1, n + 1)), rng.normal(size=(n + 1, n + 1, n + 1))
    climbed = best_second_order_tree(arcs, siblings, projective=False)
    assert oracles.is_tree(tuple(climbed.heads))
    assert climbed.score > best_second_order_tree(arcs, siblings).score
