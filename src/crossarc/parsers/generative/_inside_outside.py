"""Sums over projective trees whose heads decide after each modifier whether to stop (Klein and Manning 2004).

Inside and outside, in O(n³) time and O(n²) memory, on the items of Eisner (1996). complete[h, e] is the sum over what h
can have as far as e, before it decides whether to go on; incomplete[h, m] that over an arc and all between its ends.
Both are logarithms, to the left of h if the other index is smaller.

A head knows how many words there are already between it and its next modifier's first word: its reach, which is 0
before it has a modifier on that side. It does not know how far away the modifier will be, for that depends on the
modifier's own modifiers, which are not chosen yet.
"""

import numpy as np

from crossarc._jit import jit, jit_helper


@jit
def sums_with_stops(arcs, starts, nodes, stops, bins, log_z, arcs_out, stops_out):
    """Fill log_z of each sentence, and the probabilities of its arcs and stops.

    The weights of arcs of sentence i are arcs[starts[i] : starts[i + 1], bin], a square [head, modifier], where the
    head's reach is in this bin; its nodes are nodes[i] to nodes[i + 1], and stops[node, direction, bin] the weights of
    their decisions to stop. bins[reach] is the bin of a reach. The root has one modifier.
    """
    arcs_out[:] = 0.0
    stops_out[:] = 0.0
    n_bins = arcs.shape[1]
    for i in range(len(log_z)):
        begin, end = nodes[i], nodes[i + 1]
        size = end - begin
        of_arcs = arcs[starts[i] : starts[i + 1]].reshape((size, size, n_bins))
        of_stops = stops[begin:end]
        complete = np.zeros((size, size))
        incomplete = np.full((size, size), -np.inf)
        terms = np.empty(size)
        log_z[i] = inside(of_arcs, of_stops, bins, complete, incomplete, terms)
        if log_z[i] > -np.inf:
            probabilities = arcs_out[starts[i] : starts[i + 1]].reshape((size, size, n_bins))
            outside(
                of_arcs,
                of_stops,
                bins,
                complete,
                incomplete,
                terms,
                log_z[i],
                probabilities,
                stops_out[begin:end],
            )


@jit_helper
def inside(arcs, stops, bins, complete, incomplete, terms):
    """Fill the items, from short to long; returns log Z. Without words there is one tree."""
    size = len(arcs)
    if size == 1:
        return 0.0
    for width in range(1, size - 1):
        for left in range(1, size - width):
            for h, e in ((left, left + width), (left + width, left)):
                count = parts_of_incomplete(h, e, arcs, stops, bins, complete, terms)
                incomplete[h, e] = log_sum(terms[:count])
            for h, e in ((left, left + width), (left + width, left)):
                count = parts_of_complete(h, e, stops, bins, complete, incomplete, terms)
                complete[h, e] = log_sum(terms[:count])
    for m in range(1, size):
        terms[m - 1] = whole_sentence(m, arcs, stops, bins, complete)
    return log_sum(terms[: size - 1])


@jit_helper
def stopped(h, e, direction, stops, bins, complete):
    """What h has as far as e, with its decision to stop there."""
    return complete[h, e] + stops[h, direction, bins[abs(e - h)]]


@jit_helper
def whole_sentence(m, arcs, stops, bins, complete):
    """All trees in which m is the modifier of the root."""
    left = stopped(m, 1, 1, stops, bins, complete)
    return arcs[0, m, 0] + left + stopped(m, len(arcs) - 1, 0, stops, bins, complete)


@jit_helper
def parts_of_incomplete(h, m, arcs, stops, bins, complete, terms):
    """Fill the terms: what h has as far as a place, the arc, and m from the next place on."""
    step = 1 if m > h else -1
    count = abs(m - h)
    for k in range(count):
        end = h + k * step
        inner = stopped(m, end + step, int(m > h), stops, bins, complete)
        terms[k] = complete[h, end] + arcs[h, m, bins[k]] + inner
    return count


@jit_helper
def parts_of_complete(h, e, stops, bins, complete, incomplete, terms):
    """Fill the terms: the last modifier of h, and what that has as far as e."""
    step = 1 if e > h else -1
    count = abs(e - h)
    for k in range(count):
        m = h + (k + 1) * step
        terms[k] = incomplete[h, m] + stopped(m, e, int(e < h), stops, bins, complete)
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
def outside(arcs, stops, bins, complete, incomplete, terms, log_z, arcs_out, stops_out):
    """Fill the probabilities of arcs and of stops.

    Each item, from long to short, shares its probability out to its parts.
    """
    size = len(arcs)
    of_complete = np.zeros((size, size))
    of_incomplete = np.zeros((size, size))
    for m in range(1, size):
        share = np.exp(whole_sentence(m, arcs, stops, bins, complete) - log_z)
        arcs_out[0, m, 0] += share
        add_stopped(m, 1, 1, share, bins, of_complete, stops_out)
        add_stopped(m, size - 1, 0, share, bins, of_complete, stops_out)
    for width in range(size - 2, 0, -1):
        for left in range(1, size - width):
            for h, e in ((left, left + width), (left + width, left)):
                if of_complete[h, e] > 0.0:
                    count = parts_of_complete(h, e, stops, bins, complete, incomplete, terms)
                    to_probabilities(terms[:count], of_complete[h, e], complete[h, e])
                    share_complete(h, e, terms[:count], bins, of_complete, of_incomplete, stops_out)
            for h, m in ((left, left + width), (left + width, left)):
                if of_incomplete[h, m] > 0.0:
                    count = parts_of_incomplete(h, m, arcs, stops, bins, complete, terms)
                    to_probabilities(terms[:count], of_incomplete[h, m], incomplete[h, m])
                    share_incomplete(h, m, terms[:count], bins, of_complete, arcs_out, stops_out)


@jit_helper
def add_stopped(h, e, direction, share, bins, of_complete, stops_out):
    of_complete[h, e] += share
    stops_out[h, direction, bins[abs(e - h)]] += share


@jit_helper
def to_probabilities(terms, probability, log_total):
    """What each term has of the probability of their sum."""
    for k in range(len(terms)):
        terms[k] = probability * np.exp(terms[k] - log_total)


@jit_helper
def share_complete(h, e, shares, bins, of_complete, of_incomplete, stops_out):
    step = 1 if e > h else -1
    for k in range(len(shares)):
        m = h + (k + 1) * step
        of_incomplete[h, m] += shares[k]
        add_stopped(m, e, int(e < h), shares[k], bins, of_complete, stops_out)


@jit_helper
def share_incomplete(h, m, shares, bins, of_complete, arcs_out, stops_out):
    step = 1 if m > h else -1
    for k in range(len(shares)):
        end = h + k * step
        of_complete[h, end] += shares[k]
        add_stopped(m, end + step, int(m > h), shares[k], bins, of_complete, stops_out)
        arcs_out[h, m, bins[k]] += shares[k]
