"""Sums over all projective trees: inside-outside on Eisner's items, in O(n³) time and O(n²) memory.

The items are those of ``_eisner``. An item's weight is the sum of exp(score) over all that it can be made of.
Each word's scores are first normalised to a distribution over its heads, and on the way some words' weights are
lifted by a factor, so that the items of long spans are neither tiny nor huge (``lift``). A sum of products of
weights is right in plain arithmetic if it is in range (``TINY``). Otherwise it is summed again from logarithms, which
are taken when the first such sum asks for them, and the item is marked as one ``in_logs``: its shares must be found in
the same way. So nearly all of the O(n³) work needs no exp or log, while scores of any size and -inf give right
answers.

The way back does not carry outside weights but posteriors (weight times outside weight, divided by the sum
over all trees): an item shares out its posterior among its splits, in proportion to their weights. The
posteriors of the incomplete items are the marginals of the arcs.

A chart is one flat array with a square for each kind of item, so that a run of splits is three integers:
where its first items start, where its second items start, and how many there are.
"""

from typing import NamedTuple

import numpy as np

from crossarc._jit import jit, jit_helper, njit
from crossarc.trees._exponential import exponentials

# flipped[e, h] repeats complete[h, e] (see _eisner); halves[i, j] is what an arc between i and j spans
COMPLETE, FLIPPED, INCOMPLETE, HALVES = range(4)

# A weight below 1e-308 loses digits, or becomes 0. It may be multiplied by a weight up to HUGE, and with siblings by a
# part up to exp(LIFT): next to a sum above TINY, what is lost then does not count. A weight above HUGE is kept as
# inf, so that every sum with it is out of range.
TINY, HUGE = 1e-200, 1e70

# The logarithm of the largest lift, and of the weight that asks for one; most weights then stay below HUGE.
LIFT = 45.0

# A sum may be taken in the order that suits vector registers.
jit_sum = njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})


@jit
def log_partition(scores, single_root):
    """log of the sum of exp(score) over all projective trees; -inf if there is none."""
    _, log_z = inside(scores, single_root)
    return log_z


@jit
def marginals(scores, single_root, out):
    """out[h, m] = probability of the arc h -> m; returns log Z (if that is -inf, out is 0)."""
    chart, log_z = inside(scores, single_root)
    posteriors = outside(chart, len(scores)) if log_z > -np.inf else np.zeros(len(chart.weights))
    read_arcs(posteriors, out)
    return log_z


@jit
def sample(scores, single_root, rng, size, heads):
    """heads[s], s < size: independent samples, O(n²) each; returns log Z (if that is -inf, there is none)."""
    chart, log_z = inside(scores, single_root)
    if log_z > -np.inf:
        for s in range(size):
            sample_one(chart, rng, heads[s])
    return log_z


class Chart(NamedTuple):
    """All items, those of each kind in a square."""

    weights: np.ndarray  # plain numbers: 0 or without all its digits if tiny, inf if huge
    logs: np.ndarray  # their logarithms, NaN if not known yet; always known if the weight is out of range
    in_logs: np.ndarray  # whether the item was summed from logarithms


@jit_helper
def place_of(kind, row, column, size):
    """Where in the chart an item stands."""
    return (kind * size + row) * size + column


@jit_helper
def splits_of_halves(i, j, size):
    """complete[i, r] and complete[j, r + 1] for i <= r < j."""
    return place_of(COMPLETE, i, i, size), place_of(COMPLETE, j, i + 1, size), j - i


@jit_helper
def splits_of_complete(h, e, size):
    """incomplete[h, m] and complete[m, e] = flipped[e, m] for each m from the neighbour of h to e."""
    lowest = h + 1 if h < e else e
    return place_of(INCOMPLETE, h, lowest, size), place_of(FLIPPED, e, lowest, size), abs(h - e)


@jit_helper
def empty_chart(size):
    """A chart without items."""
    places = 4 * size * size
    return Chart(np.zeros(places), np.full(places, np.nan), np.zeros(places, np.bool_))


@jit_helper
def inside(scores, single_root):
    """The chart of all items, and log Z."""
    size = len(scores)
    arcs, log_scale = normalised(scores)
    chart = empty_chart(size)
    weights, logs = chart.weights, chart.logs
    for m in range(1, size):
        if log_scale[m] == -np.inf:
            return chart, -np.inf
    for i in range(size - 1, -1, -1):
        log_lift = lift(i, chart, size)
        if log_lift != 0.0:
            log_scale[i] -= log_lift
            factor = np.exp(log_lift)
            for h in range(size):
                arcs[h, i] *= factor
        weights[place_of(COMPLETE, i, i, size)] = weights[place_of(FLIPPED, i, i, size)] = 1.0
        for j in range(i + 1, size):
            halves = place_of(HALVES, i, j, size)
            weights[halves] = sum_of_products(weights, splits_of_halves(i, j, size))
            if out_of_range(weights[halves]):
                sum_of_logs(halves, chart, splits_of_halves(i, j, size))
            for h, m in ((i, j), (j, i)):
                if m > 0:
                    incomplete = place_of(INCOMPLETE, h, m, size)
                    weights[incomplete] = weights[halves] * arcs[h, m]
                    if out_of_range(weights[incomplete]):
                        set_log(incomplete, chart, log_at(halves, chart) + scores[h, m] - log_scale[m])
            if i == 0 and j < size - 1 and single_root:
                continue  # a second modifier of the root finds nothing to join
            for h, e in ((i, j), (j, i)):
                complete, flipped = place_of(COMPLETE, h, e, size), place_of(FLIPPED, e, h, size)
                weights[complete] = sum_of_products(weights, splits_of_complete(h, e, size))
                if out_of_range(weights[complete]):
                    sum_of_logs(complete, chart, splits_of_complete(h, e, size))
                    logs[flipped] = logs[complete]
                weights[flipped] = weights[complete]
    log_z = log_at(place_of(COMPLETE, 0, size - 1, size), chart)
    for m in range(1, size):
        log_z += log_scale[m]
    return chart, log_z


@jit_helper
def out_of_range(weight):
    """Whether a weight must be found by logarithms; inf * 0 on the way makes it NaN."""
    return not TINY < weight <= HUGE


@jit_helper
def lift(i, chart, size):
    """The logarithm of a factor for the weights of word i, when all items to its right are known.

    It brings the weight of i + 1 and the last word with all between them back to about 1 when that has become small
    or large. The weight of a span is about the ratio of two such weights, so that most others stay in range too.
    """
    if i == 0 or i >= size - 2:
        return 0.0
    halves = place_of(HALVES, i + 1, size - 1, size)
    if np.exp(-LIFT) < chart.weights[halves] < np.exp(LIFT):
        return 0.0
    log_weight = log_at(halves, chart)
    # nothing can be said about a span without a tree
    return max(-LIFT, min(-log_weight, LIFT)) if log_weight > -np.inf else 0.0


@jit_helper
def normalised(scores):
    """Probabilities of each word's heads, and the logarithms of what their weights were divided by."""
    size = len(scores)
    arcs = np.empty((size, size))
    top, total = np.full(size, -np.inf), np.zeros(size)
    for h in range(size):
        for m in range(size):
            arcs[h, m] = scores[h, m] if m != h and m > 0 else -np.inf
            top[m] = max(top[m], arcs[h, m])
    for h in range(size):
        for m in range(size):
            # NaN for a word without heads, which has a weight of 0
            arcs[h, m] -= top[m]
    exponentials(arcs.reshape(arcs.size))
    for h in range(size):
        for m in range(size):
            total[m] += arcs[h, m]
    log_scale = np.zeros(size)
    for m in range(1, size):
        log_scale[m] = top[m] + np.log(max(total[m], 1.0))
        total[m] = 1.0 / max(total[m], 1.0)
    for h in range(size):
        for m in range(size):
            arcs[h, m] *= total[m]
    return arcs, log_scale


@jit_helper
def log_at(item, chart):
    """The logarithm of a weight."""
    if np.isnan(chart.logs[item]):
        chart.logs[item] = np.log(chart.weights[item])
    return chart.logs[item]


@jit_helper
def set_log(item, chart, log_weight):
    """An item whose weight was found by logarithms."""
    weight = np.exp(log_weight)
    chart.weights[item] = weight if weight <= HUGE else np.inf
    chart.logs[item] = log_weight
    chart.in_logs[item] = True


@jit_sum
def sum_of_products(weights, splits):
    first, second, count = splits
    firsts, seconds = weights[first : first + count], weights[second : second + count]
    total = 0.0
    for r in range(count):
        total += firsts[r] * seconds[r]
    return total


@jit_helper
def sum_of_logs(item, chart, splits):
    """An item's weight by a sum of logarithms with a shift."""
    first, second, count = splits
    logs = chart.logs
    top = -np.inf
    for r in range(count):
        top = max(top, log_at(first + r, chart) + log_at(second + r, chart))
    total = 0.0
    if top > -np.inf:
        for r in range(count):
            total += np.exp(logs[first + r] + logs[second + r] - top)
    set_log(item, chart, top + np.log(total))


@jit_helper
def outside(chart, size):
    """The posteriors of all items; complete[h, e] has the sum of its own and that of flipped[e, h]."""
    posteriors = np.zeros(4 * size * size)
    posteriors[place_of(COMPLETE, 0, size - 1, size)] = 1.0
    for i in range(size):
        for j in range(size - 1, i, -1):
            for h, e in ((i, j), (j, i)):
                complete = place_of(COMPLETE, h, e, size)
                posteriors[complete] += posteriors[place_of(FLIPPED, e, h, size)]
                share_out(complete, chart, splits_of_complete(h, e, size), posteriors)
            halves = place_of(HALVES, i, j, size)
            arc, reverse = place_of(INCOMPLETE, i, j, size), place_of(INCOMPLETE, j, i, size)
            posteriors[halves] = posteriors[arc] + posteriors[reverse]
            share_out(halves, chart, splits_of_halves(i, j, size), posteriors)
    return posteriors


@jit_helper
def share_out(item, chart, splits, posteriors):
    """Adds the posterior of each split of an item to those of the two items that it is made of."""
    if posteriors[item] > 0.0:
        if chart.in_logs[item]:
            share_out_logs(item, chart.logs, splits, posteriors)
        else:
            share_out_products(posteriors[item] / chart.weights[item], chart.weights, splits, posteriors)


@jit_helper
def share_out_products(factor, weights, splits, posteriors):
    first, second, count = splits
    firsts, seconds = weights[first : first + count], weights[second : second + count]
    to_firsts, to_seconds = posteriors[first : first + count], posteriors[second : second + count]
    for r in range(count):
        part = factor * (firsts[r] * seconds[r])
        to_firsts[r] += part
        to_seconds[r] += part


@jit_helper
def share_out_logs(item, logs, splits, posteriors):
    first, second, count = splits
    for r in range(count):
        part = posteriors[item] * np.exp(logs[first + r] + logs[second + r] - logs[item])
        posteriors[first + r] += part
        posteriors[second + r] += part


@jit_helper
def read_arcs(posteriors, out):
    """The marginals of the arcs."""
    size = len(out)
    for h in range(size):
        for m in range(size):
            out[h, m] = posteriors[place_of(INCOMPLETE, h, m, size)]


@jit_helper
def sample_one(chart, rng, heads):
    """A tree, drawn from complete[0, n] down: each split in proportion to its weight."""
    size = len(heads)
    heads[0] = -1
    # items that wait have no gap between two neighbouring words in common, so there are fewer than size
    waiting = np.empty((size, 2), dtype=np.int64)
    waiting[0, 0], waiting[0, 1] = 0, size - 1
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        h, e = waiting[n_waiting, 0], waiting[n_waiting, 1]
        if h == e:
            continue
        lowest = h + 1 if h < e else e
        m = lowest + draw(place_of(COMPLETE, h, e, size), chart, splits_of_complete(h, e, size), rng)
        heads[m] = h
        i, j = min(h, m), max(h, m)
        r = i + draw(place_of(HALVES, i, j, size), chart, splits_of_halves(i, j, size), rng)
        for head, end in ((m, e), (i, r), (j, r + 1)):
            if head != end:
                waiting[n_waiting, 0], waiting[n_waiting, 1] = head, end
                n_waiting += 1


@jit_helper
def draw(item, chart, splits, rng):
    """The number of a split of an item, with probability in proportion to its weight."""
    first, second, count = splits
    weights, logs = chart.weights, chart.logs
    rest = rng.random()
    chosen = 0
    for r in range(count):
        if chart.in_logs[item]:
            part = np.exp(logs[first + r] + logs[second + r] - logs[item])
        else:
            part = weights[first + r] * weights[second + r] / weights[item]
        if part > 0.0:
            # when rounding leaves a rest after the last split, that one is taken
            chosen = r
            rest -= part
            if rest < 0.0:
                break
    return chosen
