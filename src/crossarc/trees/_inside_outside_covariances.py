"""The covariance of each arc, or part, with the value of the tree, over all projective trees. O(n³).

The value of a tree is the sum of the values of its arcs; with siblings, of its parts. The chart of ``_inside_outside``
says with which probability an item is made of each of its splits (``share_of``), and that is all we need of it. On the
way up we find the mean value of what an item can be made of (the expectation semiring of Eisner 2002); on the way
down, with each posterior, its covariance with the value of the tree: the *change* of the posterior when the scores move
along the values.
"""

import numpy as np

from crossarc._jit import jit, jit_helper
from crossarc.trees import _inside_outside_second_order as second_order
from crossarc.trees._inside_outside import (
    COMPLETE,
    FLIPPED,
    HALVES,
    INCOMPLETE,
    inside,
    place_of,
    read_arcs,
    splits_of_complete,
    splits_of_halves,
)


@jit_helper
def covariances(scores, values, single_root, out):
    """out[h, m] = the covariance of the arc from h to m with the value of the tree. There must be a tree."""
    chart, _ = inside(scores, single_root)
    read_arcs(changes_of_arcs(chart, means_by_arcs(chart, values), len(scores)), out)


@jit_helper
def means_by_arcs(chart, values):
    """The mean value of each item; items that cannot be have 0."""
    size = len(values)
    means = np.zeros(len(chart.weights))
    for i in range(size - 1, -1, -1):
        for j in range(i + 1, size):
            halves = place_of(HALVES, i, j, size)
            means[halves] = mean_of_splits(halves, chart, splits_of_halves(i, j, size), means)
            for h, m in ((i, j), (j, i)):
                if m > 0:
                    means[place_of(INCOMPLETE, h, m, size)] = means[halves] + values[h, m]
            set_means_of_complete(chart, i, j, size, means)
    return means


@jit_helper
def set_means_of_complete(chart, i, j, size, means):
    for h, e in ((i, j), (j, i)):
        complete = place_of(COMPLETE, h, e, size)
        means[complete] = mean_of_splits(complete, chart, splits_of_complete(h, e, size), means)
        means[place_of(FLIPPED, e, h, size)] = means[complete]


@jit_helper
def share_of(item, chart, first, second):
    """The probability that an item is made of these two, if it can be made at all."""
    if chart.in_logs[item]:
        return np.exp(chart.logs[first] + chart.logs[second] - chart.logs[item])
    return chart.weights[first] * chart.weights[second] / chart.weights[item]


@jit_helper
def possible(item, chart):
    """Whether an item can be made of anything."""
    return chart.logs[item] > -np.inf if chart.in_logs[item] else chart.weights[item] > 0.0


@jit_helper
def mean_of_splits(item, chart, splits, means):
    first, second, count = splits
    total = 0.0
    if possible(item, chart):
        for r in range(count):
            total += share_of(item, chart, first + r, second + r) * (means[first + r] + means[second + r])
    return total


@jit_helper
def changes_of_arcs(chart, means, size):
    """The changes of all posteriors."""
    posteriors, changes = np.zeros(len(means)), np.zeros(len(means))
    posteriors[place_of(COMPLETE, 0, size - 1, size)] = 1.0
    for i in range(size):
        for j in range(size - 1, i, -1):
            share_out_complete(chart, i, j, size, means, posteriors, changes)
            halves = place_of(HALVES, i, j, size)
            for arc in (place_of(INCOMPLETE, i, j, size), place_of(INCOMPLETE, j, i, size)):
                posteriors[halves] += posteriors[arc]
                changes[halves] += changes[arc]
            share_out(halves, chart, splits_of_halves(i, j, size), means, posteriors, changes)
    return changes


@jit_helper
def share_out_complete(chart, i, j, size, means, posteriors, changes):
    for h, e in ((i, j), (j, i)):
        complete, flipped = place_of(COMPLETE, h, e, size), place_of(FLIPPED, e, h, size)
        posteriors[complete] += posteriors[flipped]
        changes[complete] += changes[flipped]
        share_out(complete, chart, splits_of_complete(h, e, size), means, posteriors, changes)


@jit_helper
def share_out(item, chart, splits, means, posteriors, changes):
    """``_inside_outside.share_out``, with the changes."""
    first, second, count = splits
    if posteriors[item] > 0.0:
        for r in range(count):
            share = share_of(item, chart, first + r, second + r)
            deviation = means[first + r] + means[second + r] - means[item]
            part, change = share * posteriors[item], share * (changes[item] + posteriors[item] * deviation)
            for place in (first + r, second + r):
                posteriors[place] += part
                changes[place] += change


# With siblings: only incomplete items are made of other things.


@jit
def second_order_covariances(siblings, values, single_root, out):
    """out[h, s, m] = the covariance of the part (h, s, m), all of whose score is there, with the value of the tree."""
    size = len(siblings)
    parts, log_parts, chart, _ = second_order.inside(np.zeros((size, size)), siblings, single_root)
    means = means_by_parts(parts, log_parts, chart, values)
    set_changes_of_parts(parts, log_parts, chart, values, means, out)


@jit_helper
def means_by_parts(parts, log_parts, chart, values):
    """The mean value of each item."""
    size = len(parts)
    means = np.zeros(len(chart.weights))
    for i in range(size - 1, -1, -1):
        for j in range(i + 1, size):
            halves = place_of(HALVES, i, j, size)
            means[halves] = mean_of_splits(halves, chart, splits_of_halves(i, j, size), means)
            means[place_of(HALVES, j, i, size)] = means[halves]
            for h, m in ((i, j), (j, i)):
                incomplete = place_of(INCOMPLETE, h, m, size)
                if possible(incomplete, chart):
                    for s in range(i, j + 1):
                        if s != m:
                            share = share_of_part(parts, log_parts, chart, h, s, m)
                            if share > 0.0:
                                means[incomplete] += share * mean_of_part(values, h, s, m, means)
            set_means_of_complete(chart, i, j, size, means)
    return means


@jit_helper
def items_of_part(h, s, m, size):
    """What incomplete[h, m] is made of, with the sibling s: two items, or one (twice) if m is the first child."""
    if s == h:
        half = second_order.half_towards(h, m, size)
        return half, half
    return place_of(INCOMPLETE, h, s, size), place_of(HALVES, m, s, size)


@jit_helper
def share_of_part(parts, log_parts, chart, h, s, m):
    """The probability that incomplete[h, m] is made with the sibling s."""
    size = len(parts)
    item = place_of(INCOMPLETE, h, m, size)
    first, second = items_of_part(h, s, m, size)
    if chart.in_logs[item]:
        log_weight = chart.logs[first] + (chart.logs[second] if s != h else 0.0)
        return np.exp(log_weight + log_parts[h, m, s] - chart.logs[item])
    weight = chart.weights[first] * (chart.weights[second] if s != h else 1.0)
    return weight * parts[h, m, s] / chart.weights[item]


@jit_helper
def mean_of_part(values, h, s, m, means):
    """The mean value of incomplete[h, m] with the sibling s."""
    first, second = items_of_part(h, s, m, len(values))
    return values[h, s, m] + means[first] + (means[second] if s != h else 0.0)


@jit_helper
def set_changes_of_parts(parts, log_parts, chart, values, means, out):
    """The changes of the posteriors of all parts."""
    size = len(parts)
    posteriors, changes = np.zeros(len(means)), np.zeros(len(means))
    posteriors[place_of(COMPLETE, 0, size - 1, size)] = 1.0
    flat = out.reshape(out.size)
    for p in range(len(flat)):
        flat[p] = 0.0
    for i in range(size):
        for j in range(size - 1, i, -1):
            share_out_complete(chart, i, j, size, means, posteriors, changes)
            for h, m in ((i, j), (j, i)):
                share_out_parts(parts, log_parts, chart, values, h, m, means, posteriors, changes, out)
            halves, flipped = place_of(HALVES, i, j, size), place_of(HALVES, j, i, size)
            posteriors[halves] += posteriors[flipped]
            changes[halves] += changes[flipped]
            share_out(halves, chart, splits_of_halves(i, j, size), means, posteriors, changes)


@jit_helper
def share_out_parts(parts, log_parts, chart, values, h, m, means, posteriors, changes, out):
    """``share_out`` of incomplete[h, m]."""
    size = len(parts)
    item = place_of(INCOMPLETE, h, m, size)
    if posteriors[item] == 0.0:
        return
    for s in range(min(h, m), max(h, m) + 1):
        if s != m:
            share = share_of_part(parts, log_parts, chart, h, s, m)
            if share > 0.0:
                deviation = mean_of_part(values, h, s, m, means) - means[item]
                out[h, s, m] = share * (changes[item] + posteriors[item] * deviation)
                first, second = items_of_part(h, s, m, size)
                posteriors[first] += share * posteriors[item]
                changes[first] += out[h, s, m]
                if s != h:
                    posteriors[second] += share * posteriors[item]
                    changes[second] += out[h, s, m]
