"""Sets of words that too little of a fractional tree reaches: smallest cuts, by shortest augmenting paths.

``capacity[h, m]`` is how much there is of the arc from h to m.
"""

import numpy as np

from crossarc._jit import jit, jit_helper

SMALLEST = 1e-9  # what is below this is no capacity


@jit
def cut_sets(capacity, tolerance):
    """apart[i]: the words of the i-th set; less than 1 - tolerance comes into it from outside.

    A word that is in one of the sets is not looked at again.
    """
    size = len(capacity)
    apart, count = np.zeros((size, size), np.bool_), 0
    separated = np.zeros(size, np.bool_)
    for word in range(1, size):
        if not separated[word]:
            residual = capacity.copy()
            if flow(residual, 0, word, 1.0) < 1.0 - tolerance:
                reached(residual.T, word, apart[count])  # backwards: what can still send to the word
                separated |= apart[count]
                count += 1
    return apart[:count]


@jit_helper
def flow(residual, source, word, enough):
    """How much the source can send to the word, or more than enough; what is left of the capacities."""
    size, total = len(residual), 0.0
    before = np.empty(size, np.int64)
    queue = np.empty(size, np.int64)
    while total < enough:
        before[:] = -1
        before[source] = source
        queue[0], first, last = source, 0, 1
        while first < last and before[word] < 0:
            node = queue[first]
            first += 1
            for other in range(1, size):
                if before[other] < 0 and residual[node, other] > SMALLEST:
                    before[other] = node
                    queue[last] = other
                    last += 1
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
def unreached_spans(capacity, heads, modifiers, there, marked, tolerance):
    """Arcs of which more is not projective than is marked so: their numbers, and sets[i] around the i-th one's head.

    ``there[a]`` is how much there is of the arc, ``marked[a]`` how much of it is said to be not projective. Too little
    leaves the set for some word in the span of the arc to be reached from its head.
    """
    size = len(capacity)
    arcs, sets, count = np.empty(len(heads), np.int64), np.zeros((len(heads), size), np.bool_), 0
    for a in range(len(heads)):
        h, m = heads[a], modifiers[a]
        enough = there[a] - marked[a] - tolerance
        if h == 0 or enough <= 0.0:
            continue
        for word in range(min(h, m) + 1, max(h, m)):
            residual = capacity.copy()
            if flow(residual, h, word, enough) < enough:
                reached(residual, h, sets[count])
                arcs[count] = a
                count += 1
                break
    return arcs[:count], sets[:count]


@jit_helper
def reached(residual, source, found):
    """Mark the nodes that the source can still send something to."""
    stack, count = np.empty(len(residual), np.int64), 1
    stack[0] = source
    found[source] = True
    while count > 0:
        count -= 1
        node = stack[count]
        for other in range(len(residual)):
            if not found[other] and residual[node, other] > SMALLEST:
                found[other] = True
                stack[count] = other
                count += 1
