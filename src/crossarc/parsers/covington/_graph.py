"""Covington's algorithm (Nivre 2007, section 3): the partially built graph, and what may be added to it.

Words are taken from left to right; each new word j is paired with i = j-1 down to 0. On the way, the context stack
holds the roots of the graph strictly between i and j: they are what the degree of an arc between i and j counts, unless
i or j is their head.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc._jit import jit_helper, jit_inline


class PartialGraph(NamedTuple):
    """The graph so far; -1 stands for no word and no label."""

    heads: NDArray[np.int64]
    labels: NDArray[np.int64]
    dependents: NDArray[np.uint64]  # a bit for each label that the dependents of a word have
    leftmost: NDArray[np.int64]  # dependent of each word
    rightmost: NDArray[np.int64]
    sets: NDArray[np.int64]  # disjoint sets of connected words, with their ranks
    ranks: NDArray[np.int64]
    context: NDArray[np.int64]  # [: counts[SIZE]]: the context stack, its top last
    counts: NDArray[np.int64]  # see below
    allowed: NDArray[np.bool_]  # [h, m]: whether an arc may be made, empty if all may
    single_root: bool


# counts: the height of the context stack, how many of these hang on j, how many will have their head elsewhere;
# the children of 0; the first word without a head
SIZE, UNDER_J, LOST, ROOTS, FIRST = range(5)

NO_ARC, LEFT_ARC, RIGHT_ARC = range(3)
NO_LIMIT = 1 << 30


@jit_helper
def new_graph(required, allowed, single_root):
    """A graph that has only the required arcs (-1 where there is none)."""
    size = len(required)
    nothing = np.full(size + 1, -1)
    graph = PartialGraph(
        np.full(size, -1),
        nothing,
        np.zeros(size + 1, np.uint64),
        nothing.copy(),
        nothing.copy(),
        np.arange(size),
        np.zeros(size, np.int64),
        np.empty(size, np.int64),
        np.array([0, 0, 0, 0, 1]),
        allowed,
        single_root,
    )
    for m in range(1, size):
        if required[m] >= 0:
            add_arc(graph, required[m], m)
    return graph


@jit_inline
def find(sets, node):
    """The representative of the words that are connected with a node; the path to it is halved."""
    while sets[node] != node:
        sets[node] = sets[sets[node]]
        node = sets[node]
    return node


@jit_inline
def unite(graph, a, b):
    """Union by rank."""
    a, b = find(graph.sets, a), find(graph.sets, b)
    if graph.ranks[a] < graph.ranks[b]:
        a, b = b, a
    graph.sets[b] = a
    graph.ranks[a] += graph.ranks[a] == graph.ranks[b]


@jit_inline
def add_arc(graph, h, m):
    graph.heads[m] = h
    unite(graph, h, m)
    if graph.leftmost[h] < 0 or m < graph.leftmost[h]:
        graph.leftmost[h] = m
    graph.rightmost[h] = max(graph.rightmost[h], m)
    graph.counts[ROOTS] += h == 0


@jit_inline
def give_label(graph, m, label):
    """Label the arc into m."""
    graph.labels[m] = label
    graph.dependents[graph.heads[m]] |= np.uint64(1) << np.uint64(label % 64)


@jit_inline
def may_add(graph, h, m):
    """ROOT, SINGLE-HEAD, no cycle, a single root if that is the rule, and what the constraints say.

    A word without a head is the root of what it is connected with: an arc from there would close a cycle.
    """
    if m == 0 or graph.heads[m] >= 0 or find(graph.sets, h) == find(graph.sets, m):
        return False
    if h == 0 and graph.single_root and graph.counts[ROOTS] > 0:
        return False
    return len(graph.allowed) == 0 or graph.allowed[h, m]


@jit_inline
def begin_word(graph):
    """Nothing stands between j-1 and j."""
    graph.counts[SIZE] = graph.counts[UNDER_J] = graph.counts[LOST] = 0


@jit_inline
def pass_over(graph, i, j):
    """From (i, j) to (i-1, j): i is among the words between, the roots under it are roots no more."""
    heads, context, counts = graph.heads, graph.context, graph.counts
    if graph.rightmost[i] > i:
        size = 0
        for s in range(counts[SIZE]):
            if heads[context[s]] != i:
                context[size] = context[s]
                size += 1
        counts[SIZE] = size
    if not i < heads[i] < j:
        context[counts[SIZE]] = i
        counts[SIZE] += 1
        counts[UNDER_J] += heads[i] == j
        counts[LOST] += heads[i] < 0 or heads[i] > j


@jit_inline
def degree_of_link(graph, i, j):
    """The degree that an arc between i and j has, whichever is its head: roots between them under neither."""
    degree = graph.counts[SIZE] - graph.counts[UNDER_J]
    if graph.rightmost[i] > i:
        for s in range(graph.counts[SIZE]):
            degree -= graph.heads[graph.context[s]] == i
    return degree


@jit_inline
def permissible(graph, i, j, max_degree):
    """PERMISSIBLE(i, j, d)."""
    return max_degree == NO_LIMIT or degree_of_link(graph, i, j) <= max_degree


@jit_inline
def is_done(graph, i, j, max_degree):
    """Whether j can be linked neither with i nor with any word before it.

    A root between i and j that has no head will not get one between them: it counts for all arcs over it. If j has a
    head, it can only become the head of a word that has none.
    """
    if graph.counts[LOST] > max_degree:
        return True
    while graph.counts[FIRST] < j and graph.heads[graph.counts[FIRST]] >= 0:
        graph.counts[FIRST] += 1
    return graph.heads[j] >= 0 and i < graph.counts[FIRST]
