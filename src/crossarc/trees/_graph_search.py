"""Approximate parsing to acyclic graphs, words with several heads (McDonald and Pereira 2006, §3)."""

import numpy as np

from crossarc._jit import jit, jit_helper
from crossarc.trees._hill_climbing import find_gains, graph_score


@jit
def grow(arcs, siblings, graph, required, max_changes):
    """Change or add the head of one word at a time, the best first, while the score grows; returns the score.

    The graph must not hold a part of score -inf; it keeps its ``required`` arcs. A round takes O(n²); after a change
    (not an addition) also n for every arc, because descendants may be lost.
    """
    size = len(graph)
    gains = np.empty((size, size))
    for h in range(size):
        find_gains(arcs, siblings, graph, gains, h)
    descends = np.empty((size, size), dtype=np.bool_)
    find_descendants(graph, descends)
    score = graph_score(arcs, siblings, graph)
    for _ in range(max_changes):
        old, head, m = best_change_or_addition(gains, graph, required, descends)
        if m == 0:
            break
        set_arcs(graph, old, head, m, True)
        # Adding up anew, instead of the change, keeps rounding from sending the search in circles
        new_score = graph_score(arcs, siblings, graph)
        if not new_score > score:
            set_arcs(graph, old, head, m, False)
            break
        score = new_score
        find_gains(arcs, siblings, graph, gains, head)
        if old >= 0:
            find_gains(arcs, siblings, graph, gains, old)
            find_descendants(graph, descends)
        else:
            add_descendants(descends, head, m)
    return score


@jit_helper
def best_change_or_addition(gains, graph, required, descends):
    """The head that goes (-1 for an addition), the head that comes, and the word; (-1, 0, 0) for no step.

    The gain of a new head does not depend on the head that goes, so the head with the lowest gain is the one to go,
    if it lowers the score and is not required. No cycle arises if the new head does not descend from m.
    """
    size = len(graph)
    losers = np.full(size, -1)
    loss = np.zeros(size)
    for h in range(size):
        for m in range(1, size):
            if graph[h, m] and not required[h, m] and gains[h, m] < loss[m]:
                losers[m] = h
                loss[m] = gains[h, m]
    best = 0.0
    best_head, best_m = 0, 0
    for h in range(size):
        for m in range(1, size):
            if gains[h, m] - loss[m] > best and not graph[h, m] and not descends[m, h]:
                best = gains[h, m] - loss[m]
                best_head, best_m = h, m
    return losers[best_m], best_head, best_m


@jit_helper
def set_arcs(graph, old, head, m, forwards):
    """Take the step that gives m a head and takes the old one, if any; or take it back."""
    graph[head, m] = forwards
    if old >= 0:
        graph[old, m] = not forwards


@jit_helper
def find_descendants(graph, descends):
    """descends[h, m] = whether h ->* m. O(n²), and n for every arc.

    The nodes are first put in an order in which heads stand before their children.
    """
    size = len(graph)
    missing = np.zeros(size, dtype=np.int64)
    for h in range(size):
        for m in range(1, size):
            missing[m] += graph[h, m]
    order = np.zeros(size, dtype=np.int64)
    end = 1
    for i in range(size):
        for m in range(1, size):
            if graph[order[i], m]:
                missing[m] -= 1
                if missing[m] == 0:
                    order[end] = m
                    end += 1
    for h in order[::-1]:
        descends[h] = False
        descends[h, h] = True
        for m in range(1, size):
            if graph[h, m]:
                include(descends[h], descends[m])


@jit_helper
def add_descendants(descends, head, m):
    """What descends from m now descends from all above the new head. O(n²)."""
    for h in range(len(descends)):
        if descends[h, head]:
            include(descends[h], descends[m])


@jit_helper
def include(descendants, others):
    """Add the others to the descendants of a node."""
    for w in range(len(others)):
        descendants[w] |= others[w]
