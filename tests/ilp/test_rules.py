"""Every rule against enumeration of labelled trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from crossarc.core import NoTreeError
from crossarc.ilp import (
    Arc,
    Arcs,
    Children,
    FewArcs,
    NoChildren,
    NoCrossing,
    RulesError,
    SameHead,
    parts_of,
    score_of,
    solve,
)
from crossarc.ilp.rule_rows import label_columns
from oracles import children, crosses, is_projective_arc

pytestmark = pytest.mark.slow  # compiles much that few people use

N, L = 4, 3

_FORBIDDEN = np.triu(np.ones((N + 1, N + 1), dtype=np.bool_))

# a rule, and how often a tree breaks it
RULES = {
    "most with labels": (
        Children(most=1, labels=frozenset([0, 2])),
        lambda heads, labels: sum(
            max(sum(labels[m] in (0, 2) for m in children(heads, h)) - 1, 0) for h in range(N + 1)
        ),
    ),
    "least of two heads": (
        Children(least=1, labels=frozenset([1]), heads=frozenset([1, 3])),
        lambda heads, labels: sum(all(labels[m] != 1 for m in children(heads, h)) for h in (1, 3)),
    ),
    "none of two words to the left": (
        Children(most=0, modifiers=frozenset([1, 2]), side="left"),
        lambda heads, labels: sum(heads[m] > m for m in (1, 2)),
    ),
    "one to the right of a head": (
        Children(least=1, labels=frozenset([2]), heads=frozenset([2]), side="right"),
        lambda heads, labels: all(labels[m] != 2 or m < 2 for m in children(heads, 2)),
    ),
    "arity": (
        Children(most=1),
        lambda heads, labels: sum(max(len(children(heads, h)) - 1, 0) for h in range(N + 1)),
    ),
    "leaves": (
        NoChildren(frozenset([1])),
        lambda heads, labels: sum(heads[m] > 0 and labels[heads[m]] == 1 for m in range(1, N + 1)),
    ),
    "same head": (SameHead((1, 4)), lambda heads, labels: heads[1] != heads[4]),
    "wanted": (Arc(3, 1), lambda heads, labels: heads[1] != 3),
    "wanted with label": (Arc(3, 1, frozenset([2])), lambda heads, labels: (heads[1], labels[1]) != (3, 2)),
    "unwanted": (Arc(3, 1, wanted=False), lambda heads, labels: heads[1] == 3),
    "only to the left": (
        Arcs(frozenset([0]), _FORBIDDEN),
        lambda heads, labels: sum(labels[m] == 0 and heads[m] < m for m in range(1, N + 1)),
    ),
    "few nonprojective": (
        FewArcs(0),
        lambda heads, labels: sum(not is_projective_arc(heads, m) for m in range(1, N + 1)),
    ),
    "few crossing": (
        FewArcs(1, crossing=True),
        lambda heads, labels: max(sum(crosses(heads, m) for m in range(1, N + 1)) - 1, 0),
    ),
}


def labelled_scores(seed):
    return np.random.default_rng(seed).normal(size=(N + 1, N + 1, L)) * 2


@pytest.mark.parametrize("name", RULES)
@given(seed=st.integers(0, 10**6), weight=st.sampled_from([np.inf, 1.0, 0.3]))
@settings(max_examples=4)
def test_the_best_tree_under_a_rule(name, seed, weight):
    scores = labelled_scores(seed)
    rule, times = RULES[name]
    rule = type(rule)(**{**vars(rule), "weight": weight})
    found = solve(parts_of(scores), rules=[rule])
    trees = [
        (oracles.score(scores, heads, labels), times(heads, labels))
        for heads, labels in oracles.all_labelled_trees(N, L)
    ]
    expected = max(score - (weight * broken if broken else 0.0) for score, broken in trees)
    assert found.tree.score == pytest.approx(expected)
    labels = [-1] * (N + 1) if found.tree.labels is None else found.tree.labels.tolist()
    broken = times(tuple(found.tree.heads.tolist()), labels)
    assert bool(broken) == bool(found.broken)
    own = oracles.score(scores, found.tree.heads, found.tree.labels) - (weight * broken if broken else 0.0)
    assert own == pytest.approx(expected)
    relaxed = solve(parts_of(scores), rules=[rule], exact=False)
    assert relaxed.tree.score <= expected + 1e-6
    assert relaxed.bound >= expected - 1e-6
    if weight == np.inf:
        assert not times(tuple(relaxed.tree.heads.tolist()), relaxed.tree.labels.tolist())
    decomposed = solve(parts_of(scores), rules=[rule], exact=False, solver="ad3")
    assert decomposed.tree.score <= expected + 1e-6
    assert decomposed.bound >= expected - 1e-6
    if decomposed.status == "integral":
        assert decomposed.tree.score == pytest.approx(expected)
    if weight == np.inf:
        assert not times(tuple(decomposed.tree.heads.tolist()), decomposed.tree.labels.tolist())


@pytest.mark.parametrize("seed", range(4))
def test_nothing_crosses_an_arc_with_that_label(seed):
    scores = labelled_scores(seed)
    found = solve(parts_of(scores), rules=[NoCrossing(frozenset([0]))]).tree

    def allowed(heads, labels):
        return not any(labels[m] == 0 and crosses(heads, m) for m in range(1, N + 1))

    expected = max(
        oracles.score(scores, heads, labels)
        for heads, labels in oracles.all_labelled_trees(N, L)
        if allowed(heads, labels)
    )
    assert found.score == pytest.approx(expected)
    assert allowed(found.heads.tolist(), found.labels.tolist())


@pytest.mark.parametrize("seed", range(4))
def test_rules_together_with_parts_of_two_arcs(seed):
    """Both solvers find the best of all labelled trees that keep the rules."""
    rng = np.random.default_rng(seed)
    scores, siblings = labelled_scores(seed), rng.normal(size=(N + 1,) * 3)
    names = ["leaves", "few nonprojective", "most with labels"]
    rules, parts = [RULES[name][0] for name in names], parts_of(scores, siblings=siblings)
    bare = parts_of(np.zeros((N + 1, N + 1)), siblings=siblings)
    expected = max(
        oracles.score(scores, heads, labels) + score_of(bare, heads)
        for heads, labels in oracles.all_labelled_trees(N, L)
        if not any(RULES[name][1](heads, labels) for name in names)
    )
    for solver in ("highs", "ad3"):
        found = solve(parts, rules=rules, solver=solver)
        assert found.status == "optimal"
        assert found.tree.score == pytest.approx(expected)


def test_labels_that_help_nothing_are_left_out():
    scores = np.zeros((N + 1, N + 1, L))
    scores[:, :, 1] = 1.0  # the best label, but no rule is about it
    scores[1, 2, 0] = 2.0
    _, columns = label_columns(parts_of(scores), [NoChildren(frozenset([0]))])
    assert (columns > -np.inf).sum() == len(columns) + 1  # only 1 -> 2 has something to choose
    _, wanted = label_columns(parts_of(scores), [Children(least=1, labels=frozenset([0]), heads=frozenset([3]))])
    parts = parts_of(scores)
    assert ((wanted > -np.inf).sum(axis=1) == np.where((parts.heads == 3), 2, 1) + (columns[:, 0] == 2.0)).all()


def test_no_time_for_rules_still_gives_a_tree_and_a_bound():
    parts = parts_of(labelled_scores(3), siblings=np.random.default_rng(3).normal(size=(N + 1,) * 3))
    for exact in (False, True):
        found = solve(parts, rules=[Children(most=1)], exact=exact, time_limit=0.0, solver="ad3")
        assert found.status == "time limit"
        assert np.bincount(found.tree.heads[1:]).max() == 1
        assert np.isfinite(found.gap)


def test_rules_that_contradict_each_other_are_named():
    harmless = NoChildren(frozenset([1]), name="harmless")
    first = Arc(2, 1, name="2 -> 1")
    second = Arc(1, 2, name="1 -> 2")
    soft = Arc(3, 1, name="soft", weight=1.0)
    with pytest.raises(RulesError, match=r"no tree satisfies 2 -> 1; 1 -> 2$") as error:
        solve(parts_of(labelled_scores(0)), rules=[harmless, first, soft, second])
    assert error.value.rules == (first, second)
    found = solve(parts_of(labelled_scores(0)), rules=[harmless, first, soft])
    assert found.tree.heads[1] == 2
    assert found.broken == (soft,)


def test_no_rule_is_blamed_for_what_scores_forbid():
    impossible = np.full((3, 3, 3), -np.inf)
    with pytest.raises(NoTreeError) as error:
        solve(parts_of(np.zeros((3, 3)), next_siblings=impossible), rules=[Children(most=1)])
    assert not isinstance(error.value, RulesError)


def test_rules_about_labels_need_labels():
    with pytest.raises(ValueError, match="labelled scores"):
        solve(parts_of(np.zeros((3, 3))), rules=[NoChildren(frozenset([1]))])
