"""Trees by scores of one's own: every search against enumeration of all trees."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest

import oracles
from crossarc.core import Constraints, NoTreeError, UnsupportedConstraint
from crossarc.search import best_trees, part_scores

pytestmark = pytest.mark.slow  # compiles much that few people use

N = 4
SHAPES = [{"single_root": r, "projective": p} for r in (False, True) for p in (False, True)]


def random_scores(seed, *kinds):
    rng = np.random.default_rng(seed)
    scores = {kind: rng.normal(size=(N + 1,) * 3) for kind in kinds if kind != "valencies"}
    if "valencies" in kinds:
        scores["valencies"] = rng.normal(size=(N + 1, 2, 3))
    return rng.normal(size=(N + 1, N + 1)), scores


def full_score(arcs, heads, *, siblings=None, grandparents=None, any_siblings=None, valencies=None):
    """The sum of the parts of a tree, from the arrays as they were given."""
    total = oracles.score(arcs, heads)
    if siblings is not None:
        total += sum(siblings[part] for part in oracles.second_order_parts(heads))
    if grandparents is not None:
        total += sum(grandparents[heads[h], h, m] for m, h in enumerate(heads) if h > 0)
    for h in range(len(heads)):
        children = oracles.children(heads, h)
        if any_siblings is not None:
            total += sum(any_siblings[h, s, m] for m in children for s in children if s < m)
        if valencies is not None:
            last = valencies.shape[2] - 1
            total += valencies[h, 0, min(sum(m < h for m in children), last)]
            total += valencies[h, 1, min(sum(m > h for m in children), last)]
    return total


def best_score(arcs, scores, **flags):
    return max(full_score(arcs, heads, **scores) for heads in oracles.all_trees(N, **flags))


EVERY_KIND = ("siblings", "grandparents", "any_siblings", "valencies")


@pytest.mark.parametrize("flags", SHAPES)
def test_arcs_alone_are_searched_exactly(flags):
    for seed in range(10):
        arcs, _ = random_scores(seed)
        (tree,) = best_trees(part_scores(arcs), search="exact", **flags)
        assert tree.score == pytest.approx(best_score(arcs, {}, **flags))
        assert tree.score == pytest.approx(oracles.score(arcs, tree.heads))
        assert tree.labels is None


@pytest.mark.parametrize("single_root", [False, True])
def test_projective_trees_with_siblings_are_searched_exactly(single_root):
    flags = {"single_root": single_root, "projective": True}
    for seed in range(10):
        arcs, scores = random_scores(seed, "siblings")
        (tree,) = best_trees(part_scores(arcs, **scores), search="second-order", **flags)
        assert tree.score == pytest.approx(best_score(arcs, scores, **flags))
        assert tree.score == pytest.approx(full_score(arcs, tree.heads.tolist(), **scores))


@pytest.mark.parametrize("flags", SHAPES)
def test_climbing_finds_the_best_tree_nearly_always(flags):
    best, sentences = 0, []
    for seed in range(40):
        arcs, scores = random_scores(seed, *EVERY_KIND)
        sentences.append(part_scores(arcs, **scores))
    for seed, tree in enumerate(best_trees(sentences, restarts=20, **flags)):
        arcs, scores = random_scores(seed, *EVERY_KIND)
        highest = best_score(arcs, scores, **flags)
        assert tree.score == pytest.approx(full_score(arcs, tree.heads.tolist(), **scores))
        assert tree.score <= highest + 1e-9
        best += tree.score >= highest - 1e-9
    assert best >= (34 if flags["projective"] else 38)  # changes of one head leave fewer ways where none may cross


def test_climbing_is_never_worse_than_its_start_and_more_starts_never_harm():
    for seed in range(30):
        arcs, scores = random_scores(seed, *EVERY_KIND)
        start = best_trees(part_scores(arcs), search="exact", single_root=True)[0].heads
        found = [best_trees(part_scores(arcs, **scores), single_root=True, restarts=k)[0].score for k in (0, 3, 6)]
        assert full_score(arcs, start.tolist(), **scores) <= found[0] + 1e-9
        assert found == sorted(found)


@pytest.mark.parametrize("single_root", [False, True])
def test_programs_find_the_best_tree(single_root):
    for seed in range(6):
        arcs, scores = random_scores(seed, *EVERY_KIND)
        parts, highest = part_scores(arcs, **scores), best_score(arcs, scores, single_root=single_root)
        assert best_trees(parts, search="ilp", single_root=single_root)[0].score == pytest.approx(highest, abs=1e-5)
        assert best_trees(parts, search="ad3", single_root=single_root)[0].score <= highest + 1e-5


def test_the_seed_decides():
    arcs, scores = random_scores(3, *EVERY_KIND)
    parts = part_scores(arcs, **scores)
    first, again = (best_trees(parts, restarts=1, seed=5)[0] for _ in range(2))
    assert (first.heads == again.heads).all()


def test_constraints_are_honoured_or_refused():
    arcs, scores = random_scores(2, *EVERY_KIND)
    parts = part_scores(arcs, **scores)
    for h in range(N):
        (tree,) = best_trees(parts, constraints=Constraints(required_arcs=frozenset([(h, N)])))
        assert tree.heads[N] == h
        assert tree.score == pytest.approx(full_score(arcs, tree.heads.tolist(), **scores))
        (tree,) = best_trees(parts, constraints=Constraints(forbidden_arcs=frozenset([(h, N)]), single_root=True))
        assert tree.heads[N] != h
        assert (tree.heads == 0).sum() == 1
    with pytest.raises(NoTreeError):
        best_trees(parts, constraints=Constraints(required_arcs=frozenset([(1, 2), (2, 1)])))
    for constraints in (
        Constraints(max_children={0: 1}),
        Constraints(max_degree=1),
        Constraints(required_labels={1: 0}),
    ):
        with pytest.raises(UnsupportedConstraint):
            best_trees(parts, constraints=constraints)


def test_labels_are_the_best_of_each_arc():
    rng = np.random.default_rng(1)
    arcs, labels = rng.normal(size=(N + 1, N + 1)), rng.normal(size=(N + 1, N + 1, 3))
    (tree,) = best_trees(part_scores(arcs, labels=labels), search="exact")
    words = np.arange(1, N + 1)
    assert tree.labels[0] == -1
    assert (tree.labels[1:] == labels[tree.heads[1:], words].argmax(axis=1)).all()
    assert tree.score == pytest.approx(best_score(arcs + labels.max(axis=2), {}))


def test_scores_that_a_search_would_ignore_are_refused():
    arcs, scores = random_scores(1, "siblings", "valencies")
    with pytest.raises(ValueError, match="exact search does not look at siblings"):
        best_trees(part_scores(arcs, **scores), search="exact")
    with pytest.raises(ValueError, match="second-order search does not look at valencies"):
        best_trees(part_scores(arcs, **scores), search="second-order")
    with pytest.raises(ValueError, match="'best', none of exact"):
        best_trees(part_scores(arcs), search="best")


def test_a_sentence_without_words():
    (tree,) = best_trees(part_scores(np.zeros((1, 1))))
    assert tree.heads.tolist() == [-1]


def test_the_examples_of_the_guide_run():
    document = Path(__file__).parents[2] / "docs" / "search.md"
    results = doctest.testfile(str(document), module_relative=False)
    assert results.attempted > 8
    assert results.failed == 0
