"""Sets of words that too little of a fractional tree reaches: smallest cuts, by shortest augmenting paths."""

import numpy as np

from crossarc._kernel import kernel

SMALLEST = 1e-9  # what is below this is no capacity


@kernel
def cut_sets(capacity, tolerance):
    """apart[i]: the words of the i-th set; less than 1 - tolerance comes into it from outside.

    ``capacity[h, m]`` is how much there is of the arc. A word that is in one of the sets is not looked at again.
    """
    size = len(capacity)
    apart, count = np.zeros((size, size), np.bool_), 0
    separated = np.zeros(size, np.bool_)
    for word in range(1, size):
        if not separated[word]:
            residual = capacity.copy()
            if flow_to(residual, word) < 1.0 - tolerance:
                reaching(residual, word, apart[count])
                separated |= apart[count]
                count += 1
    return apart[:count]


@kernel
def flow_to(residual, word):
    """How much the root can send to the word; what is left of the capacities."""
    size, total = len(residual), 0.0
    before = np.empty(size, np.int64)
    queue = np.empty(size, np.int64)
    while total < 1.0:
        before[:] = -1
        before[0] = 0
        queue[0], first, last = 0, 0, 1
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
        while node != 0:
            amount = min(amount, residual[before[node], node])
            node = before[node]
        node = word
        while node != 0:
            residual[before[node], node] -= amount
            residual[node, before[node]] += amount
            node = before[node]
        total += amount
    return total


@kernel
def reaching(residual, word, found):
    """Mark the nodes that can still send something to the word."""
    stack, count = np.empty(len(residual), np.int64), 1
    stack[0] = word
    found[word] = True
    while count > 0:
        count -= 1
        node = stack[count]
        for other in range(len(residual)):
            if not found[other] and residual[other, node] > SMALLEST:
                found[other] = True
                stack[count] = other
                count += 1
