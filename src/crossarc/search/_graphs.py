"""The search for the best graph of words with several heads, from a tree (McDonald and Pereira 2006, §3).

A graph is a tree and extra arcs, which have scores of their own. Siblings are adjacent children in the graph, by
whatever arc.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc._jit import jit_helper, jit_inline
from crossarc.scorers._part_scores import arc_matrix, candidate_number, is_projective, score_sibling, sibling_score
from crossarc.search._find_tree import LONG
from crossarc.trees._graph_search import add_descendants, find_descendants, set_arcs
from crossarc.trees._hill_climbing import find_gains, graph_score


class GraphParts(NamedTuple):
    """What the graphs of one sentence are made of; -inf for arcs that are not looked at."""

    arcs: NDArray[np.float64]  # [h, m] in the tree
    extras: NDArray[np.float64]  # [h, m] beside the tree
    siblings: NDArray[np.float64]  # [h, s, m]; without elements if the sentence is too long for them


@jit_helper
def graph_parts(parts, extras):
    """The parts of trees, and extra arcs with these scores."""
    arcs = arc_matrix(parts)
    siblings = np.empty((0, 0, 0)) if len(arcs) > LONG + 1 else graph_siblings(parts, arcs, extras)
    return GraphParts(arcs, extras, siblings)


@jit_helper
def graph_siblings(parts, arcs, extras):
    """scores[h, s, m] of two arcs side by side, each in the tree or extra; s == h: m is the first on its side."""
    scores = np.zeros((len(arcs), len(arcs), len(arcs)))
    for h in range(len(arcs)):
        for m in range(1, len(arcs)):
            if h != m and max(arcs[h, m], extras[h, m]) > -np.inf:
                scores[h, h, m] = sibling_of_any(parts, h, h, m)
                for s in range(min(h, m) + 1, max(h, m)):
                    if max(arcs[h, s], extras[h, s]) > -np.inf:
                        scores[h, s, m] = sibling_of_any(parts, h, s, m)
    return scores


@jit_inline
def sibling_of_any(parts, h, s, m):
    """The score of m beside s, whether h is a candidate head of m or not."""
    j = candidate_number(parts, m, h)
    return sibling_score(parts, m, j, s) if j >= 0 else score_sibling(parts.source, h, s, m)


@jit_helper
def score_of_graph(parts, heads, graph):
    """The sum of all parts of a graph whose tree has these heads."""
    total = graph_score(np.zeros_like(parts.arcs), parts.siblings, graph)
    for h in range(len(graph)):
        for m in range(1, len(graph)):
            if graph[h, m]:
                total += parts.arcs[h, m] if heads[m] == h else parts.extras[h, m]
    return total


@jit_helper
def grow_graph(search, parts, heads, graph):
    """Change a head or add one, the best step first, while the score grows; returns the score.

    As ``trees._graph_search.grow``, which knows no tree among the arcs. The tree stays one: no step makes a
    cycle, and each word keeps one head in it.
    """
    size = len(heads)
    no_arcs = np.zeros_like(parts.arcs)
    beside = np.empty_like(parts.arcs)  # what an arc is worth by its siblings
    for h in range(size):
        find_gains(no_arcs, parts.siblings, graph, beside, h)
    descends = np.empty_like(graph)
    find_descendants(graph, descends)
    score = score_of_graph(parts, heads, graph)
    for _ in range(min(search.max_changes, size * size)):
        old, head, m = best_step(search, parts, beside, heads, graph, descends)
        if m == 0:
            break
        in_tree = old == heads[m]
        set_arcs(graph, old, head, m, True)
        if in_tree:
            heads[m] = head
        # Adding up anew, instead of the change, keeps rounding from sending the search in circles
        new_score = score_of_graph(parts, heads, graph)
        if not new_score > score:
            set_arcs(graph, old, head, m, False)
            if in_tree:
                heads[m] = old
            break
        score = new_score
        find_gains(no_arcs, parts.siblings, graph, beside, head)
        if old >= 0:
            find_gains(no_arcs, parts.siblings, graph, beside, old)
            find_descendants(graph, descends)
        else:
            add_descendants(descends, head, m)
    return score


@jit_helper
def best_step(search, parts, beside, heads, graph, descends):
    """The head that goes (-1 for an addition), the head that comes, and the word; (-1, 0, 0) for no step.

    The extra head that may go is the one that lowers the score most. With a single root, its child cannot change; if
    arcs of the tree must not cross, none of them does.
    """
    size = len(heads)
    losers, loss = np.full(size, -1), np.zeros(size)
    for h in range(size):
        for m in range(1, size):
            if graph[h, m] and heads[m] != h and beside[h, m] + parts.extras[h, m] < loss[m]:
                losers[m], loss[m] = h, beside[h, m] + parts.extras[h, m]
    best = 0.0
    old, best_head, best_m = -1, 0, 0
    for h in range(size):
        for m in range(1, size):
            if h == m or graph[h, m] or descends[m, h]:
                continue
            gain = beside[h, m] + parts.extras[h, m] - loss[m]
            if gain > best:
                best = gain
                old, best_head, best_m = losers[m], h, m
            if is_projective(search.shape) or (search.shape.single_root and (h == 0 or heads[m] == 0)):
                continue
            gain = beside[h, m] + parts.arcs[h, m] - beside[heads[m], m] - parts.arcs[heads[m], m]
            if gain > best:
                best = gain
                old, best_head, best_m = heads[m], h, m
    return old, best_head, best_m
