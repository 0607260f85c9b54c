"""Sums over projective trees whose heads decide after each modifier whether to stop (Klein and Manning 2004)."""

import numpy as np

from crossarc._kernel import kernel
from crossarc.trees._inside_outside_second_order import marginals_second_order


@kernel
def sums_with_stops(flat, starts, nodes, first, other, log_z, out, first_out):
    """Fill log_z of each sentence, the probabilities ``out`` of arcs, and ``first_out`` [node, direction]: of there being
    a modifier in that direction.

    The arcs of sentence i are flat[starts[i] : starts[i + 1]], its nodes are nodes[i] to nodes[i + 1]. An arc weighs
    more by first[node, direction] if no modifier is between it and its head, else by other[node, direction].
    """
    first_out[:] = 0.0
    for i in range(len(log_z)):
        size = nodes[i + 1] - nodes[i]
        arcs = flat[starts[i] : starts[i + 1]].reshape((size, size))
        siblings = weights_of_siblings(size, first[nodes[i] :], other[nodes[i] :])
        parts = np.empty((size, size, size))
        arcs_out = out[starts[i] : starts[i + 1]].reshape((size, size))
        log_z[i] = marginals_second_order(arcs, siblings, True, arcs_out, parts)
        for h in range(size):
            for m in range(1, size):
                first_out[nodes[i] + h, int(m < h)] += parts[h, h, m]


@kernel
def weights_of_siblings(size, first, other):
    """siblings[h, s, m] where s is h or between h and m."""
    siblings = np.full((size, size, size), -np.inf)
    for h in range(size):
        for m in range(1, size):
            direction = int(m < h)
            if m != h:
                siblings[h, h, m] = first[h, direction]
            for s in range(min(h, m) + 1, max(h, m)):
                siblings[h, s, m] = other[h, direction]
    return siblings
