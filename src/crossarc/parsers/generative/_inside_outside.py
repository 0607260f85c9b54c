"""Sums over projective trees whose heads decide after each modifier whether to stop (Klein and Manning 2004).

Inside and outside, in O(n³) time and O(n²) memory, on the items of Eisner (1996). complete[h, e] is the sum over what h
can have as far as e; incomplete[h, m] that over an arc and all between its ends. Both are logarithms, to the left of h
if the other index is smaller. An arc is its head's first on that side where no part of the span is the head's yet.
"""

import numpy as np

from crossarc._jit import jit, jit_helper


@jit
def sums_with_stops(flat, starts, nodes, first, other, log_z, out, first_out):
    """Fill log_z of each sentence, the probabilities ``out`` of arcs, and ``first_out`` [node, direction]: of there
    being a modifier in that direction.

    The arcs of sentence i are flat[starts[i] : starts[i + 1]], its nodes are nodes[i] to nodes[i + 1]. An arc weighs
    more by first[node, direction] if its head has no modifier between them, else by other[node, direction]. The
    root has one modifier.
    """
    out[:] = 0.0
    first_out[:] = 0.0
    for i in range(len(log_z)):
        begin, end = nodes[i], nodes[i + 1]
        size = end - begin
        arcs = flat[starts[i] : starts[i + 1]].reshape((size, size))
        complete = np.zeros((size, size))
        incomplete = np.full((size, size), -np.inf)
        terms = np.empty(size)
        log_z[i] = inside(arcs, first[begin:end], other[begin:end], complete, incomplete, terms)
        if log_z[i] > -np.inf:
            probabilities = out[starts[i] : starts[i + 1]].reshape((size, size))
            outside(
                arcs,
                first[begin:end],
                other[begin:end],
                complete,
                incomplete,
                terms,
                log_z[i],
                probabilities,
                first_out[begin:end],
            )


@jit_helper
def inside(arcs, first, other, complete, incomplete, terms):
    """Fill the items, from short to long; returns log Z. Without words there is one tree."""
    size = len(arcs)
    if size == 1:
        return 0.0
    for width in range(1, size - 1):
        for left in range(1, size - width):
            for h, e in ((left, left + width), (left + width, left)):
                count = parts_of_incomplete(h, e, first, other, complete, terms)
                incomplete[h, e] = arcs[h, e] + log_sum(terms[:count])
            for h, e in ((left, left + width), (left + width, left)):
                count = parts_of_complete(h, e, complete, incomplete, terms)
                complete[h, e] = log_sum(terms[:count])
    for m in range(1, size):
        terms[m - 1] = arcs[0, m] + complete[m, 1] + complete[m, size - 1]
    return log_sum(terms[: size - 1])


@jit_helper
def parts_of_incomplete(h, m, first, other, complete, terms):
    """Fill the terms: what h has as far as a place, and m from the next place on."""
    step = 1 if m > h else -1
    direction = int(m < h)
    count = abs(m - h)
    for k in range(count):
        end = h + k * step
        terms[k] = complete[h, end] + complete[m, end + step] + (first if k == 0 else other)[h, direction]
    return count


@jit_helper
def parts_of_complete(h, e, complete, incomplete, terms):
    """Fill the terms: the last modifier of h, and what that has as far as e."""
    step = 1 if e > h else -1
    count = abs(e - h)
    for k in range(count):
        m = h + (k + 1) * step
        terms[k] = incomplete[h, m] + complete[m, e]
    return count


@jit_helper
def log_sum(terms):
    """log of the sum of exp(term)."""
    top = np.max(terms)
    if top == -np.inf:
        return top
    total = 0.0
    for term in terms:
        total += np.exp(term - top)
    return top + np.log(total)


@jit_helper
def outside(arcs, first, other, complete, incomplete, terms, log_z, out, first_out):
    """Fill the probabilities of arcs and of first modifiers.

    Each item, from long to short, shares its probability out to its parts.
    """
    size = len(arcs)
    of_complete = np.zeros((size, size))
    for m in range(1, size):
        out[0, m] = np.exp(arcs[0, m] + complete[m, 1] + complete[m, size - 1] - log_z)
        of_complete[m, 1] += out[0, m]
        of_complete[m, size - 1] += out[0, m]
        first_out[0, 0] += out[0, m]
    for width in range(size - 2, 0, -1):
        for left in range(1, size - width):
            for h, e in ((left, left + width), (left + width, left)):
                if of_complete[h, e] > 0.0:
                    share_complete(h, e, of_complete, out, complete, incomplete, terms)
            for h, m in ((left, left + width), (left + width, left)):
                if out[h, m] > 0.0:
                    count = parts_of_incomplete(h, m, first, other, complete, terms)
                    share_incomplete(h, m, terms[:count], incomplete[h, m] - arcs[h, m], of_complete, out, first_out)


@jit_helper
def share_complete(h, e, of_complete, out, complete, incomplete, terms):
    step = 1 if e > h else -1
    for k in range(parts_of_complete(h, e, complete, incomplete, terms)):
        m = h + (k + 1) * step
        share = of_complete[h, e] * np.exp(terms[k] - complete[h, e])
        out[h, m] += share
        of_complete[m, e] += share


@jit_helper
def share_incomplete(h, m, terms, log_total, of_complete, out, first_out):
    step = 1 if m > h else -1
    for k in range(len(terms)):
        end = h + k * step
        share = out[h, m] * np.exp(terms[k] - log_total)
        of_complete[h, end] += share
        of_complete[m, end + step] += share
        if k == 0:
            first_out[h, int(m < h)] += share
