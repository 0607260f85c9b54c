"""Scores from arrays: candidates, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from crossarc.core import NoTreeError
from crossarc.search import best_trees, part_scores


def test_all_possible_heads_are_candidates_in_order():
    arcs = np.random.default_rng(1).normal(size=(4, 4))
    arcs[2, 1] = -np.inf
    parts = part_scores(arcs)
    assert parts.counts.tolist() == [0, 2, 3, 3]
    assert parts.candidates[1, :2].tolist() == [0, 3]
    assert parts.candidates[2].tolist() == [0, 1, 3]
    assert parts.arcs[2].tolist() == arcs[[0, 1, 3], 2].tolist()
    assert parts.source is None


def test_larger_parts_are_found_by_candidate():
    rng = np.random.default_rng(2)
    scores = {kind: rng.normal(size=(4, 4, 4)) for kind in ("siblings", "grandparents", "any_siblings")}
    valencies = rng.normal(size=(4, 2, 3))
    parts = part_scores(rng.normal(size=(4, 4)), **scores, valencies=valencies)
    for m in range(1, 4):
        for j, h in enumerate(parts.candidates[m].tolist()):
            assert (parts.siblings[m, j] == scores["siblings"][h, :, m]).all()
            assert (parts.any_siblings[m, j] == scores["any_siblings"][h, :, m]).all()
            assert (parts.grandparents[m, j] == scores["grandparents"][:, h, m]).all()
    assert parts.valencies[2, 1, 2] == valencies[2, 0, 1] + valencies[2, 1, 2]


@pytest.mark.parametrize("seed", range(10))
def test_pruned_candidates_are_the_best_and_leave_a_tree(seed):
    arcs = np.random.default_rng(seed).normal(size=(8, 8))
    parts = part_scores(arcs, max_candidates=2)
    for m in range(1, 8):
        heads = parts.candidates[m, : parts.counts[m]].tolist()
        best = sorted((h for h in range(8) if h != m), key=lambda h: -arcs[h, m])[:2]
        assert set(best) <= set(heads)
        assert len(heads) <= 4
    for projective in (False, True):
        exact = best_trees(part_scores(arcs), search="exact", single_root=True, projective=projective)[0]
        pruned = best_trees(parts, search="exact", single_root=True, projective=projective)[0]
        assert exact.heads.tolist() == pruned.heads.tolist()


def zeros_but(value):
    return np.where(np.arange(27).reshape(3, 3, 3) == 5, value, 0)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"arcs": np.full((3, 3), np.nan)}, r"scores\[0, 1\]"),
        ({"arcs": np.zeros((3, 3, 2))}, "labels"),
        ({"siblings": np.zeros((3, 3))}, r"siblings must have shape \(3, 3, 3\)"),
        ({"grandparents": zeros_but(np.inf)}, r"grandparents\[0, 1, 2\]"),
        (
            {"any_siblings": zeros_but(-np.inf)},
            r"any_siblings\[0, 1, 2\] is -inf",
        ),
        ({"valencies": np.zeros((3, 3))}, r"valencies has shape \(3, 3\)"),
        ({"valencies": np.full((3, 2, 1), np.nan)}, r"valencies\[0, 0, 0\] is nan"),
        ({"labels": np.zeros((2, 2, 3))}, r"labels has shape \(2, 2, 3\)"),
    ],
)
def test_what_is_wrong_is_named(changed, problem):
    with pytest.raises(ValueError, match=problem):
        part_scores(**{"arcs": np.zeros((3, 3)), **changed})


def test_a_word_without_a_head_is_named():
    arcs = np.zeros((3, 3))
    arcs[:, 2] = -np.inf
    with pytest.raises(NoTreeError, match="word 2"):
        part_scores(arcs)
