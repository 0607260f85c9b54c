"""Approximate second-order non-projective parsing (McDonald and Pereira 2006, Figure 4).

Trees and graphs are kept as ``graph[h, m]``: whether m is a child of h. An array ``siblings`` without
elements stands for first-order scores.
"""

import numpy as np

from crossarc._jit import jit, jit_helper
from crossarc.trees._shape import preorder


@jit
def climb(arcs, siblings, heads, single_root, max_changes):
    """Change heads[m] of one word at a time, the best change first, while the score grows; returns the score.

    The tree must not hold a part of score -inf. The first round takes O(n²) to find the gain of each arc; a change
    alters only those of the old and the new head, so that every later round is a mere O(n²) look at them.
    """
    size = len(heads)
    graph = graph_of(heads)
    gains = np.empty((size, size))
    for h in range(size):
        find_gains(arcs, siblings, graph, gains, h)
    score = graph_score(arcs, siblings, graph)
    for _ in range(max_changes):
        head, m = best_change(gains, graph, heads, single_root)
        if m == 0:
            break
        old = heads[m]
        move(graph, old, head, m)
        # Adding up anew, instead of the change, keeps rounding from sending the search in circles
        new_score = graph_score(arcs, siblings, graph)
        if not new_score > score:
            break
        score = new_score
        heads[m] = head
        find_gains(arcs, siblings, graph, gains, old)
        find_gains(arcs, siblings, graph, gains, head)
    return score


@jit
def graph_of(heads):
    """The tree as a matrix."""
    graph = np.zeros((len(heads), len(heads)), dtype=np.bool_)
    for m in range(1, len(heads)):
        graph[heads[m], m] = True
    return graph


@jit_helper
def best_change(gains, graph, heads, single_root):
    """The head and the word whose new arc raises the score most and keeps a tree; (0, 0) if none does."""
    size = len(heads)
    first = np.empty(size, dtype=np.int64)
    last = np.empty(size, dtype=np.int64)
    preorder(heads, first, last)
    gain_now = np.empty(size)
    for m in range(1, size):
        # A single child of the root can neither leave nor be joined by another
        gain_now[m] = np.inf if single_root and heads[m] == 0 else gains[heads[m], m]
    best = 0.0
    best_head, best_m = 0, 0
    for h in range(1 if single_root else 0, size):
        for m in range(1, size):
            if gains[h, m] - gain_now[m] > best and not graph[h, m] and not first[m] <= first[h] < last[m]:
                best = gains[h, m] - gain_now[m]
                best_head, best_m = h, m
    return best_head, best_m


@jit_helper
def move(graph, old, new, m):
    """Give m the head new in place of old."""
    graph[old, m] = False
    graph[new, m] = True


@jit_helper
def find_gains(arcs, siblings, graph, gains, h):
    """gains[h, m] = score with m as a child of h, less that without it, all else equal. O(n) for one h."""
    size = len(graph)
    inner = np.empty(size, dtype=np.int64)
    outer = np.empty(size, dtype=np.int64)
    find_neighbours(graph[h], h, inner, outer)
    gains[h, 0] = -np.inf
    gains[h, h] = -np.inf
    for m in range(1, size):
        if m != h:
            gains[h, m] = part(arcs, siblings, h, inner[m], m)
            if outer[m] > 0 and siblings.size > 0:
                gains[h, m] += siblings[h, m, outer[m]] - siblings[h, inner[m], outer[m]]


@jit_helper
def find_neighbours(children, h, inner, outer):
    """The nearest children of h to every word m on its own side of h.

    inner[m] lies towards h (h itself if there is none), outer[m] away from it (-1 if there is none).
    """
    size = len(children)
    for start, end, step in ((h, size, 1), (h, 0, -1)):
        nearest = h
        for m in range(start + step, end, step):
            inner[m] = nearest
            if children[m]:
                nearest = m
        nearest = -1
        for m in range(end - step, start, -step):
            outer[m] = nearest
            if children[m]:
                nearest = m


@jit_helper
def part(arcs, siblings, h, s, m):
    """The score of the arc from h to m next to the sibling s."""
    return arcs[h, m] + siblings[h, s, m] if siblings.size > 0 else arcs[h, m]


@jit
def graph_score(arcs, siblings, graph):
    """The sum of the scores of all parts. O(n²)."""
    size = len(graph)
    score = 0.0
    for h in range(size):
        for end, step in ((size, 1), (0, -1)):
            s = h
            for m in range(h + step, end, step):
                if graph[h, m]:
                    score += part(arcs, siblings, h, s, m)
                    s = m
    return score
