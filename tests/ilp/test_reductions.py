"""The hardness proofs of McDonald & Satta (2007, §5) and McDonald & Pereira (2006, appendix), run as programs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from crossarc.core import Constraints, NoTreeError
from crossarc.ilp import Rule, parts_of, solve
from crossarc.ilp.program import Block

pytestmark = pytest.mark.slow  # compiles much that few people use


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


@dataclass(frozen=True, eq=False)
class VerticalWeights(Rule):
    """MS07 §5.2: a tree has (h, i) with label k and (i, j) with label l only if ``weights[h, i, k, j, l]``, w = 1."""

    weights: np.ndarray

    @property
    def mentioned(self):
        return frozenset(range(self.weights.shape[2]))

    def rows(self, variables):
        heads, modifiers = variables.parts.heads, variables.parts.modifiers
        above, below = np.nonzero(modifiers[:, np.newaxis] == heads)
        forbidden = ~self.weights[heads[above], modifiers[above], :, modifiers[below]]
        pair, k, label = np.nonzero(forbidden)
        first, second = variables.labelled[above[pair], k], variables.labelled[below[pair], label]
        there = (first >= 0) & (second >= 0)
        first, second, rows = first[there], second[there], np.arange(there.sum())
        return Block.of(len(rows), -np.inf, 1.0, (rows, first, 1.0), (rows, second, 1.0))


@pytest.mark.parametrize(("m", "triples", "possible"), MATCHINGS)
def test_matching_by_labelled_pairs_of_arcs(m, triples, possible):
    """MS07 §5.2, with its labels A + B + C: the one into an a says which b is its child, the one into a b which c.

    The paper's second root 0' is our node 0, its root 0 our word 1.
    """
    root, a, b, c = (1, *(2 + m * i + np.arange(m) for i in range(3)))
    size, n_labels = 3 * m + 2, 3 * m
    label_of = np.arange(size) - 2  # of the elements of A, B and C
    weights = np.zeros((size, size, n_labels, size, n_labels), dtype=bool)
    weights[np.ix_([0], [root], range(n_labels), a, range(n_labels))] = True
    for x, y in itertools.product(a, b):
        weights[root, x, label_of[y], y, label_of[c]] = True
    for x, y, z in triples:
        weights[a[x], b[y], label_of[c[z]], c[z], label_of[c[z]]] = True
    # an arc that is below no other at any weight is in no tree; all that are left weigh 1
    possible_arcs = weights.any(axis=(0, 2))
    possible_arcs[0, root] = True
    parts = parts_of(np.where(possible_arcs, 0.0, -np.inf))
    if not possible:
        with pytest.raises(NoTreeError):
            solve(parts, rules=[VerticalWeights(weights)])
        return
    tree = solve(parts, rules=[VerticalWeights(weights)]).tree
    heads = tree.heads
    assert is_matching([(heads[heads[w]] - a[0], heads[w] - b[0], w - c[0]) for w in c], m, triples)
    assert [tree.labels[x] for x in heads[b]] == label_of[b].tolist()
    assert [tree.labels[y] for y in heads[c]] == label_of[c].tolist()


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
