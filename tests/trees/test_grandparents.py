"""The best projective tree under scores of grandparents (McDonald & Satta 2007, §6): against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import oracles
from crossarc.core import Constraints, NoTreeError
from crossarc.trees import best_grandparent_tree, best_tree
from strategies import score_arrays


def grandparent_score(arcs, grandparents, heads):
    """The sum over the arcs, and over the arcs below others."""
    above = [(heads[heads[m]], heads[m], m) for m in range(1, len(heads)) if heads[m] > 0]
    return oracles.score(arcs, heads) + sum(float(grandparents[part]) for part in above)


@pytest.mark.parametrize("single_root", [False, True])
@settings(max_examples=40)
@given(arcs=score_arrays(max_words=5))
def test_the_best_tree_is_exact(single_root, arcs):
    rng = np.random.default_rng(len(arcs))
    grandparents = rng.normal(size=(len(arcs),) * 3)
    grandparents[rng.random(grandparents.shape) < 0.1] = -np.inf
    found = [
        (grandparent_score(arcs, grandparents, heads), heads)
        for _, heads, _ in oracles.scored_trees(arcs, projective=True, single_root=single_root)
    ]
    expected = max(found, default=(-np.inf, ()))
    if expected[0] == -np.inf:
        with pytest.raises(NoTreeError, match="arcs and grandparents"):
            best_grandparent_tree(arcs, grandparents, single_root=single_root)
        return
    tree = best_grandparent_tree(arcs, grandparents, single_root=single_root)
    assert tree.score == pytest.approx(expected[0], rel=1e-9, abs=1e-9)
    assert grandparent_score(arcs, grandparents, tree.heads.tolist()) == pytest.approx(tree.score, rel=1e-9, abs=1e-9)


def test_without_grandparents_it_is_the_best_projective_tree():
    rng = np.random.default_rng(2)
    for n in (1, 7, 30):
        arcs, nothing = rng.normal(size=(n + 1, n + 1)), np.zeros((n + 1,) * 3)
        rule = Constraints(required_arcs=frozenset({(0, n)}), single_root=True)
        expected = best_tree(arcs, projective=True, constraints=rule)
        assert best_grandparent_tree(arcs, nothing, constraints=rule).heads.tolist() == expected.heads.tolist()
