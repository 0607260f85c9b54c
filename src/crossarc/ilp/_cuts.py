"""Sets of words that too little of a fractional tree reaches: smallest cuts, by shortest augmenting paths.

``capacity[h, m]`` is how much there is of the arc from h to m. Few arcs have any: paths are looked for along these
alone, and only to words that no single path with enough capacity reaches.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc._jit import jit, jit_helper

SMALLEST = 1e-9  # what is below this is no capacity


class Network(NamedTuple):
    """Arcs with a capacity, and room for looking for paths."""

    capacity: NDArray[np.float64]
    residual: NDArray[np.float64]  # what is left of the capacities
    starts: NDArray[np.int64]  # [node]: its neighbours are those from here on
    others: NDArray[np.int64]  # the neighbours of all nodes, in both directions
    before: NDArray[np.int64]  # [node]: where the path to it comes from
    queue: NDArray[np.int64]


@jit_helper
def network_of(capacity):
    size, count = len(capacity), 0
    starts = np.zeros(size + 1, np.int64)
    for node in range(size):
        for other in range(size):
            count += capacity[node, other] > SMALLEST or capacity[other, node] > SMALLEST
        starts[node + 1] = count
    others, count = np.empty(count, np.int64), 0
    for node in range(size):
        for other in range(size):
            if capacity[node, other] > SMALLEST or capacity[other, node] > SMALLEST:
                others[count] = other
                count += 1
    return Network(capacity, capacity.copy(), starts, others, np.empty(size, np.int64), np.empty(size, np.int64))


@jit_helper
def restore(network):
    """Let all capacities be left again."""
    for node in range(len(network.capacity)):
        for i in range(network.starts[node], network.starts[node + 1]):
            network.residual[node, network.others[i]] = network.capacity[node, network.others[i]]


@jit_helper
def find_paths(network, source, word, least):
    """The nodes that the source reaches along arcs with more than ``least`` left, until it reaches the word."""
    before, queue = network.before, network.queue
    for node in range(len(before)):
        before[node] = -1
    before[source] = source
    queue[0], first, last = source, 0, 1
    while first < last and (word < 0 or before[word] < 0):
        node = queue[first]
        first += 1
        for i in range(network.starts[node], network.starts[node + 1]):
            other = network.others[i]
            if before[other] < 0 and network.residual[node, other] > least:
                before[other] = node
                queue[last] = other
                last += 1


@jit_helper
def flow(network, source, word, enough):
    """How much the source can send to the word, or more than enough."""
    before, residual, total = network.before, network.residual, 0.0
    while total < enough:
        find_paths(network, source, word, SMALLEST)
        if before[word] < 0:
            break
        amount, node = np.inf, word
        while node != source:
            amount = min(amount, residual[before[node], node])
            node = before[node]
        node = word
        while node != source:
            residual[before[node], node] -= amount
            residual[node, before[node]] += amount
            node = before[node]
        total += amount
    return total


@jit
def cut_sets(capacity, tolerance):
    """apart[i]: the words of the i-th set; less than 1 - tolerance comes into it from outside.

    A word that is in one of the sets is not looked at again.
    """
    size, network = len(capacity), network_of(capacity)
    apart, count = np.zeros((size, size), np.bool_), 0
    find_paths(network, 0, -1, 1.0 - tolerance)
    looked_at = network.before >= 0
    for word in range(1, size):
        if looked_at[word]:
            continue
        if flow(network, 0, word, 1.0) < 1.0 - tolerance:
            can_reach(network, word, apart[count])
            for other in range(size):
                looked_at[other] = looked_at[other] or apart[count, other]
            count += 1
        restore(network)
    return apart[:count]


@jit
def unreached_spans(capacity, heads, modifiers, there, marked, tolerance):
    """Arcs of which more is not projective than is marked so: their numbers, and sets[i] around the i-th one's head.

    ``there[a]`` is how much there is of the arc, ``marked[a]`` how much of it is said to be not projective. Too little
    leaves the set for some word in the span of the arc to be reached from its head.
    """
    size, network = len(capacity), network_of(capacity)
    arcs, sets, count = np.empty(len(heads), np.int64), np.zeros((len(heads), size), np.bool_), 0
    reached = np.empty(size, np.bool_)
    for a in range(len(heads)):
        h, m = heads[a], modifiers[a]
        enough = there[a] - marked[a] - tolerance
        if h == 0 or enough <= 0.0:
            continue
        find_paths(network, h, -1, enough)
        for node in range(size):
            reached[node] = network.before[node] >= 0
        for word in range(min(h, m) + 1, max(h, m)):
            if reached[word]:
                continue
            sent = flow(network, h, word, enough)
            if sent < enough:
                find_paths(network, h, -1, SMALLEST)
                for node in range(size):
                    sets[count, node] = network.before[node] >= 0
                arcs[count] = a
                count += 1
            restore(network)
            if sent < enough:
                break
    return arcs[:count], sets[:count]


@jit_helper
def can_reach(network, word, found):
    """Mark the nodes that can still send something to the word."""
    queue, last = network.queue, 1
    queue[0], found[word], first = word, True, 0
    while first < last:
        node = queue[first]
        first += 1
        for i in range(network.starts[node], network.starts[node + 1]):
            other = network.others[i]
            if not found[other] and network.residual[other, node] > SMALLEST:
                found[other] = True
                queue[last] = other
                last += 1
