"""Min-risk trees against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import oracles
from crossarc.core import NoTreeError
from crossarc.trees.risk import min_risk_tree
from strategies import score_arrays

FLAGS = [
    {"single_root": single_root, "projective": projective}
    for single_root in (False, True)
    for projective in (False, True)
]
flags = pytest.mark.parametrize("flags", FLAGS, ids=lambda f: "-".join(k for k in f if f[k]) or "plain")


def check_against_enumeration(scores, flags):
    before = scores.copy()
    possible = oracles.scored_trees(scores, **flags)
    if not possible:
        with pytest.raises(NoTreeError):
            min_risk_tree(scores, **flags)
        return
    expected = oracles.marginals(scores, **flags)
    best = max(oracles.score(expected, heads, labels) for _, heads, labels in possible)
    tree = min_risk_tree(scores, **flags)
    labels = None if tree.labels is None else tuple(tree.labels.tolist())
    heads = tuple(tree.heads.tolist())
    assert (heads, labels) in {(h, ls) for _, h, ls in possible}
    assert tree.score == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert oracles.score(expected, heads, labels) == pytest.approx(best, rel=1e-9, abs=1e-9)
    np.testing.assert_array_equal(scores, before)


@flags
@settings(max_examples=80, deadline=None)
@given(scores=score_arrays(max_words=5))
def test_unlabelled_is_enumeration(flags, scores):
    check_against_enumeration(scores, flags)


@flags
@settings(max_examples=30, deadline=None)
@given(scores=score_arrays(max_words=3, max_labels=2))
def test_labelled_is_enumeration(flags, scores):
    check_against_enumeration(scores, flags)


def test_min_risk_is_not_the_best_tree():
    """Three trees in which word 2 hangs from word 1 share the mass that the best tree lacks."""
    scores = np.log(np.array([[1.0, 5.0, 4.0], [1.0, 1.0, 3.9], [1.0, 1.2, 1.0]]))
    best = oracles.scored_trees(scores)[0][1]
    assert best == (-1, 0, 0)
    probabilities = oracles.marginals(scores)
    tree = min_risk_tree(scores)
    assert tree.score == pytest.approx(max(oracles.score(probabilities, h) for h in oracles.all_trees(2)))


@flags
def test_forbidden_arcs_stay_forbidden(flags):
    """The only tree is a chain, however little the scores like it."""
    scores = np.full((4, 4), -np.inf)
    scores[0, 1], scores[1, 2], scores[2, 3], scores[3, 1] = -700.0, -700.0, -700.0, 700.0
    tree = min_risk_tree(scores, **flags)
    assert tree.heads.tolist() == [-1, 0, 1, 2]
    assert tree.score == pytest.approx(3.0)
