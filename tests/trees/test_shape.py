"""The shape of trees, against direct transcriptions of the definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from crossarc.trees import shape

# Nivre (2007), Figure 1: "Z nich je jen jedna na kvalitu ."
CZECH = (-1, 5, 1, 0, 5, 3, 3, 6, 0)

TREE_FUNCTIONS = [
    shape.is_projective,
    shape.nonprojective_arcs,
    shape.arc_degrees,
    shape.degree,
    shape.gap_degree,
    shape.is_well_nested,
    shape.crossing_arcs,
]


@st.composite
def random_trees(draw, max_words: int = 12):
    """Any tree: every word hangs on a node before it in a random order."""
    n = draw(st.integers(0, max_words))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    order = [0, *(rng.permutation(n) + 1).tolist()]
    reach = draw(st.sampled_from([1, 2, n]))
    heads = [-1] * (n + 1)
    for i in range(1, n + 1):
        heads[order[i]] = order[rng.integers(max(0, i - reach), i)]
    return tuple(heads)


def degree_of_arc(heads, m):
    """Definition 3 of Nivre (2007), word by word."""
    h = heads[m]
    low, high = min(h, m), max(h, m)
    inside = set(range(low + 1, high))
    components = []
    while inside:
        component = {inside.pop()}
        while grown := {w for w in inside if any(heads[w] == c or heads[c] == w for c in component)}:
            component |= grown
            inside -= grown
        components.append(component)
    arcs = [(heads[w], w) for w in range(low, high + 1) if low <= heads[w] <= high]
    dominated = {h}
    while grown := {w for g, w in arcs if g in dominated} - dominated:
        dominated |= grown
    return sum(not component <= dominated for component in components)


def projections(heads):
    return [[w for w in range(len(heads)) if oracles.dominates(heads, node, w)] for node in range(len(heads))]


def slow_gap_degree(heads):
    return max(sum(b - a > 1 for a, b in itertools.pairwise(words)) for words in projections(heads))


def interleave(first, second):
    return any(
        l1 < l2 < r1 < r2 for l1, r1 in itertools.combinations(first, 2) for l2, r2 in itertools.combinations(second, 2)
    )


def slow_is_well_nested(heads):
    return not any(set(a).isdisjoint(b) and interleave(a, b) for a, b in itertools.permutations(projections(heads), 2))


def slow_crossing_arcs(heads):
    spans = [(min(heads[m], m), max(heads[m], m)) for m in range(len(heads))]
    return [
        [m1, m2]
        for m1, m2 in itertools.combinations(range(1, len(heads)), 2)
        if any(a < c < b < d for (a, b), (c, d) in itertools.permutations((spans[m1], spans[m2])))
    ]


def check(heads):
    words = range(1, len(heads))
    degrees = [0, *(degree_of_arc(heads, m) for m in words)]
    projective = oracles.is_projective(heads)
    assert shape.is_tree(heads)
    assert shape.is_projective(heads) is projective
    assert shape.arc_degrees(heads).tolist() == degrees
    assert shape.degree(heads) == max(degrees)
    assert (shape.degree(heads) == 0) is projective
    assert shape.gap_degree(heads) == slow_gap_degree(heads)
    assert (shape.gap_degree(heads) == 0) is projective
    assert shape.is_well_nested(heads) is slow_is_well_nested(heads)
    assert shape.crossing_arcs(heads).tolist() == slow_crossing_arcs(heads)
    assert shape.crossing_arcs(heads).shape[1] == 2
    assert shape.nonprojective_arcs(heads).tolist() == [
        m > 0 and not all(oracles.dominates(heads, heads[m], w) for w in range(min(m, heads[m]) + 1, max(m, heads[m])))
        for m in range(len(heads))
    ]


@pytest.mark.parametrize("n", range(5))
def test_all_small_trees(n):
    for heads in oracles.all_trees(n):
        check(heads)


@settings(max_examples=300, deadline=None)
@given(random_trees())
def test_random_trees(heads):
    check(heads)


def test_degree_of_thousands_of_trees():
    rng = np.random.default_rng(7)
    for _ in range(3000):
        n = int(rng.integers(5, 16))
        heads = (-1, *rng.integers(0, n + 1, n).tolist())
        if oracles.is_tree(heads):
            assert shape.arc_degrees(heads).tolist()[1:] == [degree_of_arc(heads, m) for m in range(1, n + 1)]


@pytest.mark.parametrize("n", range(5))
def test_is_tree_agrees_with_enumeration(n):
    for heads in itertools.product(range(n + 1), repeat=n):
        assert shape.is_tree((-1, *heads)) is oracles.is_tree((-1, *heads))


def test_czech_example_of_nivre():
    assert shape.degree(CZECH) == 1
    assert np.flatnonzero(shape.nonprojective_arcs(CZECH)).tolist() == [1]
    assert shape.arc_degrees(CZECH)[1] == 1


def test_an_arc_may_be_projective_and_have_a_degree():
    # 3 descends from 1, but only by way of 6, outside the arc from 1 to 4
    heads = [-1, 0, 1, 6, 1, 6, 1]
    assert shape.arc_degrees(heads)[4] == 1
    assert not shape.nonprojective_arcs(heads)[4]


def test_empty_sentence():
    assert shape.is_tree([-1])
    assert shape.is_projective([-1])
    assert shape.is_well_nested([-1])
    assert shape.degree([-1]) == shape.gap_degree([-1]) == 0
    assert shape.arc_degrees([-1]).tolist() == [0]
    assert shape.nonprojective_arcs([-1]).tolist() == [False]
    assert shape.crossing_arcs([-1]).shape == (0, 2)


@pytest.mark.parametrize("function", [shape.is_tree, *TREE_FUNCTIONS])
@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([0, 0], r"heads\[0\] is 0"),
        ([-1, 0, 3], r"heads\[2\] is 3"),
        ([-1, -1], r"heads\[1\] is -1"),
        ([], r"shape"),
        ([[-1, 0]], r"shape"),
        ([-1.0, 0.0], r"integers"),
        ([False, True], r"integers"),
    ],
)
def test_malformed_heads(function, heads, message):
    with pytest.raises(ValueError, match=message):
        function(heads)


@pytest.mark.parametrize("function", TREE_FUNCTIONS)
@pytest.mark.parametrize("heads", [[-1, 1], [-1, 2, 1], [-1, 0, 3, 4, 2]])
def test_cycles(function, heads):
    assert not shape.is_tree(heads)
    with pytest.raises(ValueError, match="cycle"):
        function(heads)


@pytest.mark.parametrize("function", [shape.is_tree, *TREE_FUNCTIONS])
def test_any_integer_array_and_no_change_to_it(function):
    expected = np.asarray(function(list(CZECH))).tolist()
    read_only = np.array(CZECH)
    read_only.flags.writeable = False
    strided = np.zeros(2 * len(CZECH), dtype=np.int64)[::2]
    strided[:] = CZECH
    for heads in (np.array(CZECH), np.array(CZECH, dtype=np.int8), read_only, strided, CZECH):
        before = list(heads)
        assert np.asarray(function(heads)).tolist() == expected
        assert list(heads) == before


def test_long_chains_do_not_recurse():
    n = 3000
    chain = np.arange(-1, n)
    assert shape.is_tree(chain)
    assert shape.is_projective(chain)
    assert shape.gap_degree(chain) == 0
    assert shape.is_well_nested(chain)
    assert not shape.nonprojective_arcs(chain).any()
    cycle = np.roll(np.arange(1, n + 1), 1)
    assert not shape.is_tree([-1, *cycle])
