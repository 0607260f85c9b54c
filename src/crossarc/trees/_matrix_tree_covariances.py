"""The covariance of each arc with the value of the tree, over all trees: the derivative of the marginals. O(n³).

The value of a tree is the sum of ``values[h, m]`` over its arcs. The covariance of an arc with it is the derivative of
the arc's marginal when the scores move along the values. So this is ``_matrix_tree.marginals``, with a derivative
beside each number; as that one, it does without the inverse of the Laplacian, whose entries lose their digits when
two likely arcs make a cycle. We keep the derivative of a number's logarithm, its *slope*: the slope of a sum is the
mean of the slopes of its terms, that of a product or quotient their sum or difference.

Words are eliminated as there, by halves, but each half has a graph of its own. ``graph[g, x]`` is the number,
``graph[g, size + x]`` its slope.
"""

import numpy as np

from crossarc._jit import jit_helper
from crossarc.trees._matrix_tree import copy_row, head_distributions, normalise, one, plus, times, trusted, zero


@jit_helper
def covariances(scores, values, single_root, out):
    """out[h, m] = the covariance of the arc from h to m with the value of the tree. There must be a tree."""
    if not all_covariances(scores, values, single_root, False, out):
        all_covariances(scores, values, single_root, True, out)


@jit_helper
def all_covariances(scores, values, single_root, in_logs, out):
    """Fill ``out``; returns False if the numbers must be kept ``in_logs``, and are not."""
    size = len(scores)
    if size == 1:
        out[0, 0] = 0.0
        return True
    weights, escapes, slopes = np.empty((size, size)), np.empty((size, size)), np.empty((size, size))
    normalise(scores, single_root, in_logs, weights)
    # a graph for each time that the words can be halved
    graphs = np.empty((2 + int(np.ceil(np.log2(size))), size, 2 * size))
    fill_graph(graphs[0], weights, values)
    z = one(in_logs)
    # the graph of this depth is to keep the words first..last-1 and lose begin..end-1 of those of the depth above
    waiting = [(1, 1, size, size, size, not single_root)]
    while len(waiting) > 0:
        depth, first, last, begin, end, rooted = waiting.pop()
        graph = graphs[depth]
        copy_graph(graphs[depth - 1], graph, min(first, begin), max(last, end))
        for word in range(begin, end):
            pivot, rooted = eliminate(graph, first, last, word, end, rooted, in_logs)
            if first == 1:
                z = trusted(times(z, pivot, in_logs), in_logs)
        if last - first > 1:
            middle = (first + last) // 2
            waiting.append((depth + 1, middle, last, first, middle, rooted))
            waiting.append((depth + 1, first, middle, middle, last, rooted))
        else:
            read_escapes(graph, values, first, escapes, slopes)
            escapes[first, 0] = zero(in_logs) if single_root and rooted else one(in_logs)
    z = trusted(times(z, escapes[1, 1], in_logs), in_logs)
    if np.isnan(z) or not head_distributions(weights, escapes, in_logs, out):
        return False
    times_deviations(out, slopes)
    return True


@jit_helper
def fill_graph(graph, weights, values):
    """The graph of all words. What weights were divided by does not count: marginals do not depend on it."""
    size = len(weights)
    for g in range(size):
        for x in range(size):
            graph[g, x] = weights[g, x]
            graph[g, size + x] = values[g, x] if x != g and x > 0 else 0.0


@jit_helper
def copy_graph(graph, to, first, last):
    """Copy the root's row and those of the words first..last-1."""
    copy_row(to, 0, graph, 0)
    for g in range(first, last):
        copy_row(to, g, graph, g)


@jit_helper
def eliminate(graph, first, last, word, end, rooted, in_logs):
    """``_matrix_tree.eliminate_one``: the words first..last-1 and word+1..end-1 stay."""
    size = len(graph)
    pivot, slope = zero(in_logs), 0.0
    if rooted:
        pivot, slope = graph[0, word], graph[0, size + word]
    for low, high in ((first, last), (word + 1, end)):
        for g in range(low, high):
            pivot, slope = sum_and_slope(pivot, slope, graph[g, word], graph[g, size + word], in_logs)
    if pivot == zero(in_logs):
        return pivot if rooted else put_for_root(graph, word, in_logs), True
    for low, high in ((0, 1), (first, last), (word + 1, end)):
        for g in range(low, high):
            step_past(graph, g, word, pivot, slope, in_logs)
    return pivot, rooted


@jit_helper
def put_for_root(graph, word, in_logs):
    """``_matrix_tree.put_for_root``: the word is the root's only child, and stands for it from now on."""
    pivot = graph[0, word]
    copy_row(graph, 0, graph, word)
    graph[0, word], graph[0, len(graph) + word] = one(in_logs), 0.0
    return pivot


@jit_helper
def step_past(graph, target, word, pivot, slope, in_logs):
    """``_matrix_tree.step_past``: whoever stepped to the word now steps, as often as the word, to the target."""
    size = len(graph)
    share = graph[target, word] - pivot if in_logs else graph[target, word] / pivot
    if share > zero(in_logs):
        share_slope = graph[target, size + word] - slope
        for x in range(size):
            number, its_slope = times(share, graph[word, x], in_logs), share_slope + graph[word, size + x]
            graph[target, x], graph[target, size + x] = sum_and_slope(
                graph[target, x], graph[target, size + x], number, its_slope, in_logs
            )
        graph[target, size + word] = share_slope
    graph[target, word] = share


@jit_helper
def sum_and_slope(a, a_slope, b, b_slope, in_logs):
    """a + b, and its slope: the mean of the slopes."""
    total = plus(a, b, in_logs)
    if total == zero(in_logs):
        return total, 0.0
    share = np.exp(b - total) if in_logs else b / total
    return total, a_slope + share * (b_slope - a_slope)


@jit_helper
def read_escapes(graph, values, word, escapes, slopes):
    """When no other word is left: the root's row, and the slopes of the arcs into the word times their escapes."""
    size = len(graph)
    for h in range(size):
        escapes[word, h] = graph[0, h]
        slopes[word, h] = values[h, word] + graph[0, size + h] if h != word else 0.0


@jit_helper
def times_deviations(marginals, slopes):
    """Multiply the probability of each head of a word by the difference of its slope and their mean."""
    size = len(marginals)
    for m in range(1, size):
        mean = 0.0
        for h in range(size):
            if marginals[h, m] > 0.0:
                mean += marginals[h, m] * slopes[m, h]
        for h in range(size):
            marginals[h, m] = marginals[h, m] * (slopes[m, h] - mean) if marginals[h, m] > 0.0 else 0.0
