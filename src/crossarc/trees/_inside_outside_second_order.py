"""Sums over all projective trees with scores of adjacent siblings: inside-outside in O(n³) time and memory.

The items are those of ``_eisner_second_order``, and their weights, logarithms and posteriors are kept as in
``_inside_outside``: its halves[s, m] are the sibling items, repeated here as halves[m, s]. Each word's scores
are normalised to a distribution over its parts (h, s, m), and some words' lifted as there.
"""

import numpy as np

from crossarc._jit import jit, jit_helper
from crossarc.trees._inside_outside import (
    COMPLETE,
    FLIPPED,
    HALVES,
    INCOMPLETE,
    TINY,
    empty_chart,
    jit_sum,
    lift,
    log_at,
    out_of_range,
    place_of,
    read_arcs,
    set_log,
    share_out,
    splits_of_complete,
    splits_of_halves,
    sum_of_logs,
    sum_of_products,
)


@jit
def log_partition_second_order(arcs, siblings, single_root):
    """log of the sum of exp(score) over all projective trees; -inf if there is none."""
    _, _, _, log_z = inside(arcs, siblings, single_root)
    return log_z


@jit
def marginals_second_order(arcs, siblings, single_root, arc_out, sibling_out):
    """Probabilities of arcs [h, m] and of parts [h, s, m]; returns log Z (if that is -inf, both are 0)."""
    flat = sibling_out.reshape(sibling_out.size)
    for i in range(len(flat)):
        flat[i] = 0.0
    parts, log_parts, chart, log_z = inside(arcs, siblings, single_root)
    possible = log_z > -np.inf
    posteriors = outside(parts, log_parts, chart, sibling_out) if possible else np.zeros(len(chart.weights))
    read_arcs(posteriors, arc_out)
    return log_z


@jit_helper
def inside(arcs, siblings, single_root):
    """The weights of all parts and their logarithms, the chart of all items, and log Z."""
    size = len(arcs)
    log_parts = scores_of_parts(arcs, siblings, single_root)
    parts, log_scale = normalise(log_parts)
    chart = empty_chart(size)
    if log_scale == -np.inf:
        return parts, log_parts, chart, -np.inf
    log_lifts = fill_chart(parts, log_parts, chart)
    log_z = log_scale - log_lifts + log_at(place_of(COMPLETE, 0, size - 1, size), chart)
    return parts, log_parts, chart, log_z


@jit_helper
def scores_of_parts(arcs, siblings, single_root):
    """parts[h, m, s] = arcs[h, m] + siblings[h, s, m] where s is h or between h and m.

    -inf for what no tree has: if the root has a single child, that child has no sibling.
    """
    size = len(arcs)
    parts = np.full((size, size, size), -np.inf)
    for h in range(size):
        for m in range(1, size):
            if m != h:
                parts[h, m, h] = arcs[h, m] + siblings[h, h, m]
        if h == 0 and single_root:
            continue
        for s in range(1, h):
            for m in range(1, s):
                parts[h, m, s] = arcs[h, m] + siblings[h, s, m]
        for s in range(h + 1, size):
            for m in range(s + 1, size):
                parts[h, m, s] = arcs[h, m] + siblings[h, s, m]
    return parts


@jit_helper
def normalise(log_parts):
    """Divides the weights of each word's parts by their sum; returns them, and the log of all sums."""
    size = len(log_parts)
    parts = np.zeros(log_parts.shape)
    log_scale = 0.0
    for m in range(1, size):
        top = -np.inf
        for h in range(size):
            for s in range(size):
                top = max(top, log_parts[h, m, s])
        if top == -np.inf:
            return parts, -np.inf
        total = 0.0
        for h in range(size):
            for s in range(size):
                # most places hold no part
                if log_parts[h, m, s] > -np.inf:
                    parts[h, m, s] = np.exp(log_parts[h, m, s] - top)
                    total += parts[h, m, s]
                    if parts[h, m, s] < TINY:
                        # lost digits could count, next to two weights: let sums with it be out of range
                        parts[h, m, s] = np.nan
        divisor = top + np.log(total)
        for h in range(size):
            for s in range(size):
                parts[h, m, s] /= total
                log_parts[h, m, s] -= divisor
        log_scale += divisor
    return parts, log_scale


@jit_helper
def fill_chart(parts, log_parts, chart):
    """The weights of all items; those inside i..j come before those of i..j. Returns the sum of the words' lifts."""
    size = len(parts)
    weights, logs = chart.weights, chart.logs
    log_lifts = 0.0
    for i in range(size - 1, -1, -1):
        log_lift = lift(i, chart, size)
        if log_lift != 0.0:
            log_lifts += log_lift
            factor = np.exp(log_lift)
            for h in range(size):
                for s in range(size):
                    log_parts[h, i, s] += log_lift
                    parts[h, i, s] *= factor
        weights[place_of(COMPLETE, i, i, size)] = weights[place_of(FLIPPED, i, i, size)] = 1.0
        for j in range(i + 1, size):
            halves, flipped = place_of(HALVES, i, j, size), place_of(HALVES, j, i, size)
            weights[halves] = sum_of_products(weights, splits_of_halves(i, j, size))
            if out_of_range(weights[halves]):
                sum_of_logs(halves, chart, splits_of_halves(i, j, size))
            weights[flipped], logs[flipped] = weights[halves], logs[halves]
            for h, m in ((i, j), (j, i)):
                incomplete = place_of(INCOMPLETE, h, m, size)
                weights[incomplete] = sum_of_parts(parts, weights, h, m)
                if out_of_range(weights[incomplete]):
                    sum_of_part_logs(log_parts, chart, h, m)
            for h, e in ((i, j), (j, i)):
                complete, flipped = place_of(COMPLETE, h, e, size), place_of(FLIPPED, e, h, size)
                weights[complete] = sum_of_products(weights, splits_of_complete(h, e, size))
                if out_of_range(weights[complete]):
                    sum_of_logs(complete, chart, splits_of_complete(h, e, size))
                weights[flipped], logs[flipped] = weights[complete], logs[complete]
    return log_lifts


@jit_helper
def half_towards(h, m, size):
    """The half of m towards its head h: all that lies between them if m is a first child."""
    return place_of(COMPLETE, m, h + 1 if h < m else h - 1, size)


@jit_helper
def splits_of_incomplete(h, m, size):
    """incomplete[h, s] and halves[m, s] for each s between h and m."""
    lowest = min(h, m) + 1
    return place_of(INCOMPLETE, h, lowest, size), place_of(HALVES, m, lowest, size), abs(h - m) - 1


@jit_sum
def sum_of_parts(parts, weights, h, m):
    """The weight of incomplete[h, m]: m as a first child, or with a sibling s."""
    size = len(parts)
    first, second, count = splits_of_incomplete(h, m, size)
    firsts, seconds = weights[first : first + count], weights[second : second + count]
    between = parts[h, m, min(h, m) + 1 : max(h, m)]
    total = weights[half_towards(h, m, size)] * parts[h, m, h]
    for r in range(count):
        total += firsts[r] * seconds[r] * between[r]
    return total


@jit_helper
def sum_of_part_logs(log_parts, chart, h, m):
    """The weight of incomplete[h, m] by a sum of logarithms with a shift."""
    size = len(log_parts)
    logs = chart.logs
    first, second, count = splits_of_incomplete(h, m, size)
    between = log_parts[h, m, min(h, m) + 1 : max(h, m)]
    first_child = log_at(half_towards(h, m, size), chart) + log_parts[h, m, h]
    top = first_child
    for r in range(count):
        top = max(top, log_at(first + r, chart) + log_at(second + r, chart) + between[r])
    total = 0.0
    if top > -np.inf:
        total += np.exp(first_child - top)
        for r in range(count):
            total += np.exp(logs[first + r] + logs[second + r] + between[r] - top)
    set_log(place_of(INCOMPLETE, h, m, size), chart, top + np.log(total))


@jit_helper
def outside(parts, log_parts, chart, sibling_out):
    """The posteriors of all items; an item with two places has the sum of both."""
    size = len(parts)
    posteriors = np.zeros(4 * size * size)
    posteriors[place_of(COMPLETE, 0, size - 1, size)] = 1.0
    for i in range(size):
        for j in range(size - 1, i, -1):
            for h, e in ((i, j), (j, i)):
                complete = place_of(COMPLETE, h, e, size)
                posteriors[complete] += posteriors[place_of(FLIPPED, e, h, size)]
                share_out(complete, chart, splits_of_complete(h, e, size), posteriors)
            for h, m in ((i, j), (j, i)):
                share_out_siblings(parts, log_parts, chart, h, m, posteriors, sibling_out)
            halves = place_of(HALVES, i, j, size)
            posteriors[halves] += posteriors[place_of(HALVES, j, i, size)]
            share_out(halves, chart, splits_of_halves(i, j, size), posteriors)
    return posteriors


@jit_helper
def share_out_siblings(parts, log_parts, chart, h, m, posteriors, sibling_out):
    """Finds the posteriors of the parts (h, s, m), and adds them to those of the items of each."""
    size = len(parts)
    weights, logs = chart.weights, chart.logs
    item = place_of(INCOMPLETE, h, m, size)
    posterior = posteriors[item]
    if posterior == 0.0:
        return
    first, second, count = splits_of_incomplete(h, m, size)
    half = half_towards(h, m, size)
    lowest = min(h, m) + 1
    if chart.in_logs[item]:
        sibling_out[h, h, m] = posterior * np.exp(logs[half] + log_parts[h, m, h] - logs[item])
        for r in range(count):
            log_share = logs[first + r] + logs[second + r] + log_parts[h, m, lowest + r] - logs[item]
            sibling_out[h, lowest + r, m] = posterior * np.exp(log_share)
    else:
        factor = posterior / weights[item]
        sibling_out[h, h, m] = factor * (weights[half] * parts[h, m, h])
        for r in range(count):
            share = factor * (weights[first + r] * weights[second + r] * parts[h, m, lowest + r])
            sibling_out[h, lowest + r, m] = share
    posteriors[half] += sibling_out[h, h, m]
    for r in range(count):
        posteriors[first + r] += sibling_out[h, lowest + r, m]
        posteriors[second + r] += sibling_out[h, lowest + r, m]
