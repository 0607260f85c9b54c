"""Results of many sentences in one array."""

from __future__ import annotations

import numpy as np
import pytest

from crossarc import trees

LENGTHS = [2, 0, 4]


def padded_scores(*labels):
    scores = np.full((3, 6, 6, *labels), np.nan)
    rng = np.random.default_rng(1)
    for own, n in zip(scores, LENGTHS, strict=True):
        own[: n + 1, : n + 1] = rng.normal(size=(n + 1, n + 1, *labels))
    return scores


@pytest.mark.parametrize("labels", [(), (3,)], ids=["unlabelled", "labelled"])
def test_trees(labels):
    scores = padded_scores(*labels)
    found = trees.best_trees(scores, lengths=LENGTHS)
    together = trees.padded(found, size=6)
    assert together.heads.shape == (3, 6)
    assert together.scores.tolist() == [tree.score for tree in found]
    assert (together.labels is None) == (not labels)
    for i, tree in enumerate(found):
        end = len(tree.heads)
        assert together.heads[i, :end].tolist() == tree.heads.tolist()
        assert set(together.heads[i, end:]) == {-1}
        if labels:
            assert together.labels[i, :end].tolist() == tree.labels.tolist()
    assert trees.padded(found).heads.shape == (3, 5)


def test_several_trees_each():
    found = trees.k_best_trees_batch(padded_scores(), 5, lengths=LENGTHS)
    together = trees.padded(found)
    assert together.heads.shape == (3, 5, 5)
    assert together.scores.shape == (3, 5)
    for i, best in enumerate(found):
        assert together.scores[i].tolist() == [tree.score for tree in best] + [-np.inf] * (5 - len(best))
        for k, tree in enumerate(best):
            assert together.heads[i, k, : len(tree.heads)].tolist() == tree.heads.tolist()


@pytest.mark.parametrize("labels", [(), (3,)], ids=["unlabelled", "labelled"])
def test_marginals_have_the_shape_of_padded_scores(labels):
    scores = padded_scores(*labels)
    found = trees.marginals_batch(scores, lengths=LENGTHS)
    together = trees.padded(found, size=6)
    assert together.shape == scores.shape
    assert together.sum() == pytest.approx(sum(LENGTHS))
    for own, array in zip(together, found, strict=True):
        assert own[: len(array), : len(array)].tolist() == array.tolist()


def test_what_does_not_fit():
    found = trees.best_trees(padded_scores(), lengths=LENGTHS)
    with pytest.raises(ValueError, match="size is 4, but a sentence has 5 nodes"):
        trees.padded(found, size=4)
    with pytest.raises(ValueError, match="no results to pad"):
        trees.padded([])
    with pytest.raises(ValueError, match="different labels"):
        trees.padded([np.zeros((2, 2)), np.zeros((2, 2, 3))])
