"""A tree that changes under the search: the children of each head as lists, and what a word adds by where it hangs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc._jit import jit_helper, jit_inline, jit_macro
from crossarc.scorers._part_scores import (
    any_sibling_score,
    candidate_number,
    grandparent_score,
    sibling_score,
    valency_score,
)

DETACHED = -1


class CandidateTree(NamedTuple):
    """A tree of candidate arcs, some words of which may hang nowhere for a while."""

    heads: NDArray[np.int64]  # [m]; -1 if it hangs nowhere
    choice: NDArray[np.int64]  # [m]: which of the candidates of m its head is
    first: NDArray[np.int64]  # [h]: the leftmost child, 0 if there is none
    following: NDArray[np.int64]  # [m]: the next child of the same head to the right of m, 0 if there is none


@jit_helper
def candidate_tree(parts, heads):
    """A tree that can be changed; ``heads`` stays a part of it."""
    tree = CandidateTree(heads, np.zeros_like(heads), np.zeros_like(heads), np.zeros_like(heads))
    refresh(parts, tree)
    return tree


@jit_inline
def refresh(parts, tree):
    """Bring everything else in line with the heads of a tree."""
    find_choices(parts, tree.heads, tree.choice)
    tree.first[:] = 0
    for m in range(len(tree.heads) - 1, 0, -1):
        if tree.heads[m] >= 0:
            tree.following[m] = tree.first[tree.heads[m]]
            tree.first[tree.heads[m]] = m


@jit_inline
def detach(tree, m):
    """Let m hang nowhere."""
    h = tree.heads[m]
    if tree.first[h] == m:
        tree.first[h] = tree.following[m]
    else:
        x = tree.first[h]
        while tree.following[x] != m:
            x = tree.following[x]
        tree.following[x] = tree.following[m]
    tree.heads[m] = DETACHED


@jit_inline
def attach(parts, tree, m, j):
    """Attach m, which hangs nowhere, to its candidate j."""
    h = parts.candidates[m, j]
    x = tree.first[h]
    if x == 0 or x > m:
        tree.following[m] = x
        tree.first[h] = m
    else:
        while 0 < tree.following[x] < m:
            x = tree.following[x]
        tree.following[m] = tree.following[x]
        tree.following[x] = m
    tree.heads[m] = h
    tree.choice[m] = j


@jit_inline
def find_choices(parts, heads, choice):
    """choice[m]: which of its candidates each word's head is; -1 if it is none of them."""
    for m in range(1, len(heads)):
        choice[m] = candidate_number(parts, m, heads[m])


@jit_inline
def attachment_gain(parts, tree, m, j):
    """What the tree gains if m, which hangs nowhere now, is attached to its candidate j."""
    h = parts.candidates[m, j]
    total = parts.arcs[m, j] + gain_from_siblings(parts, tree, m, j)
    if h > 0:
        total += grandparent_score(parts, m, j, tree.heads[h])
    child = tree.first[m]
    while child > 0:
        total += grandparent_score(parts, child, tree.choice[child], h)
        child = tree.following[child]
    return total


@jit_macro
def gain_from_siblings(parts, tree, m, j):
    """What m and the other children of its new head gain by each other, all found in one walk through them."""
    h = parts.candidates[m, j]
    inner, outer = h, 0  # see ``neighbours``
    left, right = 0, 0
    total = 0.0
    x = tree.first[h]
    while x > 0:
        if parts.any_siblings.size > 0:
            total += any_sibling_score(parts, m, j, x) if x < m else any_sibling_score(parts, x, tree.choice[x], m)
        if x < h:
            left += 1
        else:
            right += 1
        if (x < h) == (m < h):
            if (x < m) == (m < h):  # beyond m, seen from the head
                outer = x if m < h or outer == 0 else outer
            else:
                inner = x if h < m or inner == h else inner
        x = tree.following[x]
    total += sibling_score(parts, m, j, inner) - valency_score(parts, h, left, right)
    total += valency_score(parts, h, left + (m < h), right + (m > h))
    if outer > 0:
        choice = tree.choice[outer]
        total += sibling_score(parts, outer, choice, m) - sibling_score(parts, outer, choice, inner)
    return total


@jit_inline
def count_children(heads, h):
    """The numbers of children of h to its left and to its right."""
    left, right = 0, 0
    for x in range(1, len(heads)):
        if heads[x] == h:
            if x < h:
                left += 1
            else:
                right += 1
    return left, right


@jit_inline
def neighbours(heads, h, m):
    """The children of h next to m on its side: towards h (h itself if there is none), and away from h (0 if none)."""
    n = len(heads) - 1
    step = 1 if h < m else -1
    inner = m - step
    while inner != h and heads[inner] != h:
        inner -= step
    outer = m + step
    while 0 < outer <= n and heads[outer] != h:
        outer += step
    return inner, outer if outer <= n else 0


@jit_inline
def tree_score(parts, heads, choice):
    """The sum of all parts of a tree."""
    total = 0.0
    for m in range(1, len(heads)):
        h, j = heads[m], choice[m]
        inner, _ = neighbours(heads, h, m)
        total += parts.arcs[m, j] + sibling_score(parts, m, j, inner)
        if h > 0:
            total += grandparent_score(parts, m, j, heads[h])
        if parts.any_siblings.size > 0:
            for s in range(1, m):
                if heads[s] == h:
                    total += any_sibling_score(parts, m, j, s)
    for h in range(len(heads)):
        left, right = count_children(heads, h)
        total += valency_score(parts, h, left, right)
    return total
