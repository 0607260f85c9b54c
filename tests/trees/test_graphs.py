"""Acyclic graphs with several heads: the promises of the search, and enumeration for short sentences."""

import itertools
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from crossarc.core import NoTreeError
from crossarc.trees.graphs import best_graph, graph_score
from crossarc.trees.second_order import best_second_order_tree
from strategies import score_arrays


def is_acyclic(graph):
    """Whether words can be taken away one by one, each without a head among those left."""
    left = set(range(len(graph)))
    while free := {m for m in left if not any(graph[h, m] for h in left)}:
        left -= free
    return not left


@cache
def all_graphs(n):
    """Every acyclic graph over n words in which each has a head."""
    heads_of_word = [
        [heads for heads in itertools.product([False, True], repeat=n + 1) if any(heads) and not heads[m]]
        for m in range(1, n + 1)
    ]
    graphs = [np.array([[False] * (n + 1), *columns]).T for columns in itertools.product(*heads_of_word)]
    return [graph for graph in graphs if is_acyclic(graph)]


def slow_score(graph, arcs, siblings=None):
    total = 0.0
    for h, m in np.argwhere(graph):
        between = [s for s in range(min(h, m) + 1, max(h, m)) if graph[h, s]]
        nearest = (max(between) if h < m else min(between)) if between else h
        total += arcs[h, m] + (0 if siblings is None else siblings[h, nearest, m])
    return total


def is_one_step(graph, other):
    """Whether other adds a head to one word of graph, or changes one."""
    added, removed = np.argwhere(other & ~graph), np.argwhere(graph & ~other)
    return len(added) == 1 and (len(removed) == 0 or (len(removed) == 1 and added[0, 1] == removed[0, 1]))


@st.composite
def graph_scores(draw, max_words=4):
    arcs = draw(score_arrays(max_words=max_words))
    if draw(st.booleans()):
        return arcs, None
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    siblings = rng.normal(size=(len(arcs),) * 3)
    siblings[rng.random(siblings.shape) < draw(st.sampled_from([0.0, 0.1, 0.3]))] = -np.inf
    return arcs, siblings


@pytest.mark.parametrize("n", range(4))
def test_score(n):
    rng = np.random.default_rng(n)
    arcs, siblings = rng.normal(size=(n + 1, n + 1)), rng.normal(size=(n + 1, n + 1, n + 1))
    for graph in all_graphs(n):
        assert graph_score(graph, arcs) == pytest.approx(slow_score(graph, arcs))
        assert graph_score(graph, arcs, siblings) == pytest.approx(slow_score(graph, arcs, siblings))


@pytest.mark.parametrize("start", ["projective", "nonprojective"])
@settings(max_examples=60, deadline=None)
@given(graph_scores())
def test_search_ends_at_a_local_optimum_above_its_start(start, scores):
    arcs, siblings = scores
    n = len(arcs) - 1
    try:
        graph = best_graph(arcs, siblings, start=start)
    except NoTreeError:
        if siblings is None:
            assert not oracles.scored_trees(arcs)
        else:
            assert all(
                oracles.second_order_score(arcs, siblings, heads) == -np.inf
                for heads in oracles.all_trees(n, projective=True)
            )
        return
    assert graph.dtype == np.bool_
    assert graph.shape == arcs.shape
    assert is_acyclic(graph)
    assert graph[:, 1:].any(axis=0).all()
    assert not graph[:, 0].any()
    score = slow_score(graph, arcs, siblings)
    assert graph_score(graph, arcs, siblings) == pytest.approx(score, rel=1e-9, abs=1e-9)
    tolerance = 1e-9 * max(1, np.abs(arcs[np.isfinite(arcs)]).max(initial=0))
    for other in all_graphs(n):
        if is_one_step(graph, other):
            assert slow_score(other, arcs, siblings) <= score + tolerance
    tree = best_graph(arcs, siblings, start=start, max_changes=0)
    assert tree.sum() == n
    assert score >= slow_score(tree, arcs, siblings) - tolerance
    if siblings is None:
        assert score >= oracles.scored_trees(arcs)[0][0] - tolerance


def test_first_order_graphs_of_positive_scores_are_often_the_best():
    rng = np.random.default_rng(11)
    found = 0
    for _ in range(50):
        arcs = rng.normal(size=(4, 4))
        best = max(slow_score(graph, arcs) for graph in all_graphs(3))
        score = graph_score(best_graph(arcs), arcs)
        assert score <= best + 1e-9
        found += score >= best - 1e-9
    assert found > 25


def test_negative_scores_leave_a_tree():
    rng = np.random.default_rng(2)
    arcs, siblings = -rng.random((8, 8)), -rng.random((8, 8, 8))
    graph = best_graph(arcs, siblings, start="projective")
    assert graph.sum() == 7


def test_a_second_head_for_he_and_elephants():
    # Figure 5: "Han spejder efter og ser elefanterne"; subject and object of both verbs
    arcs = np.full((7, 7), -5.0)
    for h, m in [(0, 2), (2, 1), (5, 1), (2, 3), (2, 4), (4, 5), (3, 6), (5, 6)]:
        arcs[h, m] = 2.0
    graph = best_graph(arcs, np.zeros((7, 7, 7)))
    assert (graph == (arcs > 0)).all()


def test_max_changes_counts_steps():
    arcs = np.ones((6, 6))
    sizes = [best_graph(arcs, max_changes=changes).sum() for changes in range(12)]
    assert sizes == [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15]


def test_labels_count_by_the_best():
    rng = np.random.default_rng(4)
    arcs = rng.normal(size=(6, 6, 3))
    graph = best_graph(arcs)
    assert (graph == best_graph(arcs.max(axis=2))).all()
    assert graph_score(graph, arcs) == pytest.approx(slow_score(graph, arcs.max(axis=2)))


def test_bad_input():
    with pytest.raises(ValueError, match="start"):
        best_graph(np.zeros((3, 3)), start="nowhere")
    with pytest.raises(ValueError, match="shape"):
        graph_score([[False]], np.zeros((3, 3)))
    with pytest.raises(ValueError, match="diagonal"):
        graph_score(np.ones((3, 3), dtype=bool), np.zeros((3, 3)))


def test_a_long_sentence():
    n = 120
    rng = np.random.default_rng(0)
    arcs, siblings = rng.normal(size=(n + 1, n + 1)) - 2, rng.normal(size=(n + 1, n + 1, n + 1))
    graph = best_graph(arcs, siblings)
    assert is_acyclic(graph)
    assert graph[:, 1:].any(axis=0).all()
    projective = best_second_order_tree(arcs, siblings)
    assert graph_score(graph, arcs, siblings) >= projective.score
