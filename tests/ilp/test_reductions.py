"""The hardness proofs of McDonald & Satta (2007, §5) and McDonald & Pereira (2006, appendix), run as programs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from crossarc.core import Constraints, NoTreeError
from crossarc.ilp import parts_of, solve


def hamiltonian_path(n: int, edges: set[tuple[int, int]]) -> list[int] | None:
    """MS07 §5.1: a tree in which no node, the root included, has more than one child."""
    scores = np.full((n + 1, n + 1), -np.inf)
    scores[0] = 0.0
    for i, j in edges:
        scores[i, j] = 0.0
    try:
        tree = solve(parts_of(scores), constraints=Constraints(max_children=dict.fromkeys(range(n + 1), 1))).tree
    except NoTreeError:
        return None
    after = {int(head): word for word, head in enumerate(tree.heads) if word}
    path = [after[0]]
    while path[-1] in after:
        path.append(after[path[-1]])
    return path


@pytest.mark.parametrize("seed", range(12))
def test_hamiltonian_path_by_arity(seed):
    rng = np.random.default_rng(seed)
    n = 6
    edges = {(i, j) for i, j in itertools.permutations(range(1, n + 1), 2) if rng.random() < 0.25}
    paths = [p for p in itertools.permutations(range(1, n + 1)) if edges.issuperset(itertools.pairwise(p))]
    found = hamiltonian_path(n, edges)
    assert (found is not None) == bool(paths)
    if found is not None:
        assert tuple(found) in paths


MATCHINGS = [
    # (m, triples, whether there is a matching)
    (2, {(0, 0, 1), (1, 1, 0), (0, 1, 1)}, True),
    (2, {(0, 0, 1), (1, 1, 1), (0, 1, 0), (1, 1, 0)}, True),
    (2, {(0, 0, 0), (1, 0, 1), (0, 1, 0)}, True),
    (2, {(0, 0, 0), (1, 0, 1), (0, 0, 1)}, False),
    (2, {(0, 0, 0), (1, 1, 0)}, False),
    (3, {(0, 0, 0), (1, 1, 1), (2, 2, 1), (2, 2, 0), (0, 1, 2), (1, 0, 1)}, True),
    (3, {(0, 0, 0), (1, 1, 1), (2, 1, 2), (0, 1, 2), (1, 0, 2), (2, 0, 0)}, False),
]


def test_the_matchings_are_what_they_are_said_to_be():
    for m, triples, possible in MATCHINGS:
        assert possible == any(
            all(len({t[i] for t in chosen}) == m for i in range(3)) for chosen in itertools.combinations(triples, m)
        )


def is_matching(chosen, m, triples) -> bool:
    return len(chosen) == m and set(chosen) <= triples and all(len({t[i] for t in chosen}) == m for i in range(3))


@pytest.mark.parametrize(("m", "triples", "possible"), MATCHINGS)
def test_matching_by_grandparents(m, triples, possible):
    """MS07 §5.2. Labels only say where a path goes on; the paths root -> a -> b -> c are scored without them.

    Each a is to have one child b, and each b one child c. Without labels an a may have two children b, so the
    number of children is limited.
    """
    a, b, c = (1 + m * i + np.arange(m) for i in range(3))
    n = 3 * m
    arcs, grandparents = np.full((n + 1, n + 1), -np.inf), np.full((n + 1,) * 3, -np.inf)
    arcs[0, a] = 0.0
    arcs[np.ix_(a, b)] = 0.0
    arcs[np.ix_(b, c)] = 0.0
    grandparents[np.ix_([0], a, b)] = 0.0
    for x, y, z in triples:
        grandparents[a[x], b[y], c[z]] = 1.0
    one_child = Constraints(max_children=dict.fromkeys(range(1, n + 1), 1))
    parts = parts_of(arcs, grandparents=grandparents)
    if not possible:
        with pytest.raises(NoTreeError):
            solve(parts, constraints=one_child)
        return
    tree = solve(parts, constraints=one_child).tree
    assert tree.score == m
    heads = tree.heads
    assert is_matching([(heads[heads[w]] - a[0], heads[w] - b[0], w - c[0]) for w in c], m, triples)


@pytest.mark.parametrize(("m", "triples", "possible"), MATCHINGS)
def test_matching_by_adjacent_siblings(m, triples, possible):
    """MP06, appendix A: a tree of score m if and only if there is a matching."""
    x, y, z = (1 + m * i + np.arange(m) for i in range(3))
    n = 3 * m
    arcs, siblings = np.full((n + 1, n + 1), -np.inf), np.full((n + 1,) * 3, -np.inf)
    arcs[0, x] = 0.0
    arcs[np.ix_(x, np.concatenate([y, z]))] = 0.0
    siblings[0, 0, x] = 0.0
    siblings[np.ix_([0], x, x)] = 0.0
    for i in x:
        siblings[i, i, y] = 0.0
    for i, j, k in triples:
        siblings[x[i], y[j], z[k]] = 1.0
    parts = parts_of(arcs, next_siblings=siblings)
    if not possible:
        with pytest.raises(NoTreeError):
            solve(parts)
        return
    tree = solve(parts).tree
    assert tree.score == m
    by_head = [(i, [int(w) for w in np.flatnonzero(tree.heads == node)]) for i, node in enumerate(x)]
    assert is_matching([(i, words[0] - y[0], words[1] - z[0]) for i, words in by_head], m, triples)
