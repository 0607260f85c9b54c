"""Kernels for the shape of a tree: projectivity, degree, gaps, nesting. All of them take well-formed heads.

Degree: Nivre (2007), Definition 3. Gap degree and well-nestedness: Kuhlmann and Nivre (2006).
"""

import numpy as np

from crossarc._jit import jit, jit_helper

TREE = -1
CYCLE = -2


@jit
def first_problem(heads):
    """TREE, CYCLE, or the position of the first head that is no node (or of heads[0] != -1). O(n)."""
    size = len(heads)
    if heads[0] != -1:
        return 0
    for m in range(1, size):
        if not 0 <= heads[m] < size:
            return m
    # The walk from word w upwards ends at a node that an earlier walk passed; its own nodes mean a cycle.
    walk = np.zeros(size, dtype=np.int64)
    for w in range(1, size):
        node = w
        while node != 0 and walk[node] == 0:
            walk[node] = w
            node = heads[node]
        if node != 0 and walk[node] == w:
            return CYCLE
    return TREE


@jit
def arc_degrees(heads, degrees):
    """degrees[m] = degree of the arc into m (0 for m = 0); returns the largest. O(sum of the arcs' lengths).

    A component of the subgraph strictly inside the arc has one node whose head lies outside it. The component
    is dominated by the arc's head if that node hangs on either end of the arc; otherwise it counts.
    """
    degrees[0] = 0
    largest = 0
    for m in range(1, len(heads)):
        low, high = min(heads[m], m), max(heads[m], m)
        count = 0
        for w in range(low + 1, high):
            count += heads[w] < low or heads[w] > high
        degrees[m] = count
        largest = max(largest, count)
    return largest


@jit
def is_projective(heads):
    """Whether no two arcs cross (node 0 stands to the left of all words). O(sum of the arcs' lengths)."""
    for m in range(1, len(heads)):
        low, high = min(heads[m], m), max(heads[m], m)
        for w in range(low + 1, high):
            if heads[w] < low or heads[w] > high:
                return False
    return True


@jit_helper
def preorder(heads, first, last):
    """Number the nodes so that h dominates w if and only if first[h] <= first[w] < last[h]. O(n).

    One visit in breadth-first order adds up the sizes of the subtrees, a second one hands out the numbers.
    """
    size = len(heads)
    child = np.full(size, -1)
    sibling = np.full(size, -1)
    for m in range(size - 1, 0, -1):
        sibling[m] = child[heads[m]]
        child[heads[m]] = m
    queue = np.zeros(size, dtype=np.int64)
    end = 1
    for i in range(size):
        m = child[queue[i]]
        while m >= 0:
            queue[end] = m
            end += 1
            m = sibling[m]
    nodes = np.ones(size, dtype=np.int64)
    for i in range(size - 1, 0, -1):
        nodes[heads[queue[i]]] += nodes[queue[i]]
    free = np.zeros(size, dtype=np.int64)
    for node in queue:
        first[node] = free[heads[node]] if node != 0 else 0
        last[node] = first[node] + nodes[node]
        free[node] = first[node] + 1
        if node != 0:
            free[heads[node]] = last[node]


@jit
def nonprojective_arcs(heads, nonprojective):
    """nonprojective[m] = whether a word inside the arc into m does not descend from the arc's head. O(n²)."""
    size = len(heads)
    first = np.empty(size, dtype=np.int64)
    last = np.empty(size, dtype=np.int64)
    preorder(heads, first, last)
    nonprojective[0] = False
    for m in range(1, size):
        h = heads[m]
        nonprojective[m] = False
        for w in range(min(h, m) + 1, max(h, m)):
            if not first[h] <= first[w] < last[h]:
                nonprojective[m] = True
                break


@jit
def gap_degree(heads):
    """The most gaps in the projection of any node. O(n · depth).

    The projection of a node has a block that begins at w if it holds w but not w - 1: so w begins a block of
    those of its ancestors that do not dominate w - 1.
    """
    size = len(heads)
    blocks = np.zeros(size, dtype=np.int64)
    passed = np.zeros(size, dtype=np.int64)
    largest = 1
    for w in range(1, size):
        node = w - 1
        while node != -1:
            passed[node] = w
            node = heads[node]
        node = w
        while passed[node] != w:
            blocks[node] += 1
            largest = max(largest, blocks[node])
            node = heads[node]
    return largest - 1


@jit
def is_well_nested(heads):
    """Whether no two disjoint subtrees interleave (l1 < l2 < r1 < r2). O(n · depth).

    If two disjoint subtrees interleave, so do those of two children of one node. Reading the words from left
    to right, every node keeps a stack of its children whose subtrees are open: coming back to one of them
    closes all above it, and a closed one must not come back.
    """
    size = len(heads)
    unseen, is_open, closed = 0, 1, 2
    state = np.full(size, unseen)
    top = np.full(size, -1)
    below = np.full(size, -1)
    for w in range(1, size):
        c = w
        while c != 0:
            h = heads[c]
            if state[c] == closed:
                return False
            if state[c] == unseen:
                state[c] = is_open
                below[c] = top[h]
                top[h] = c
            while top[h] != c:
                state[top[h]] = closed
                top[h] = below[top[h]]
            c = h
    return True


@jit_helper
def arcs_cross(heads, m1, m2):
    """Whether exactly one end of an arc lies strictly inside the other."""
    low1, high1 = min(heads[m1], m1), max(heads[m1], m1)
    low2, high2 = min(heads[m2], m2), max(heads[m2], m2)
    return low1 < low2 < high1 < high2 or low2 < low1 < high2 < high1


@jit
def crossing_arcs(heads):
    """All pairs m1 < m2 of words whose arcs cross, in lexicographic order. O(n²)."""
    size = len(heads)
    count = 0
    for m1 in range(1, size):
        for m2 in range(m1 + 1, size):
            count += arcs_cross(heads, m1, m2)
    pairs = np.empty((count, 2), dtype=np.int64)
    count = 0
    for m1 in range(1, size):
        for m2 in range(m1 + 1, size):
            if arcs_cross(heads, m1, m2):
                pairs[count, 0] = m1
                pairs[count, 1] = m2
                count += 1
    return pairs
