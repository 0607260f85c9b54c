"""Sums over all projective trees: inside-outside on Eisner's items, in O(n³) time and O(n²) memory.

The items are those of ``_eisner``. An item's weight is the sum of exp(score) over all that it can be made of.
Each word's scores are first normalised to a distribution over its heads, and on the way some words' weights are
lifted by a factor, so that the items of long spans are neither tiny nor huge (``lift``). A sum of products of
weights is right in plain arithmetic unless it is out of range. Then it is summed again from logarithms, which
are taken when the first such sum asks for them. So nearly all of the O(n³) work needs no exp or log, while scores
of any size and -inf give right answers.

The way back does not carry outside weights but posteriors (weight times outside weight, divided by the sum
over all trees): an item shares out its posterior among its splits, in proportion to their weights. The
posteriors of the incomplete items are the marginals of the arcs.

A chart is one flat array with a square for each kind of item, so that a run of splits is three integers:
where its first items start, where its second items start, and how many there are.
"""

import numpy as np
from numba import njit

from crossarc._jit import jit, jit_helper
from crossarc.trees._exponential import exponentials

# flipped[e, h] repeats complete[h, e] (see _eisner); halves[i, j] is what an arc between i and j spans
COMPLETE, FLIPPED, INCOMPLETE, HALVES = range(4)

# Products of weights lose digits below 1e-308: next to a sum above TINY, what they lose does not count, even
# after a lift. Below HUGE there is room for a posterior to be divided by a weight.
TINY, HUGE = 1e-250, 1e200

# The logarithm of the largest lift, and of the weight that asks for one.
LIFT = 70.0

# A sum may be taken in the order that suits vector registers.
jit_sum = njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})


@jit
def log_partition(scores, single_root):
    """log of the sum of exp(score) over all projective trees; -inf if there is none."""
    _, _, log_z = inside(scores, single_root)
    return log_z


@jit
def marginals(scores, single_root, out):
    """out[h, m] = probability of the arc h -> m; returns log Z (if that is -inf, out is 0)."""
    weights, logs, log_z = inside(scores, single_root)
    out[:] = 0.0
    if log_z > -np.inf:
        read_arcs(outside(weights, logs, len(scores)), out)
    return log_z


@jit
def sample(scores, single_root, rng, size, heads):
    """heads[s], s < size: independent samples, O(n²) each; returns log Z (if that is -inf, there is none)."""
    weights, logs, log_z = inside(scores, single_root)
    if log_z > -np.inf:
        for s in range(size):
            sample_one(weights, logs, rng, heads[s])
    return log_z


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
    """Weights, and logarithms of which none is known (NaN)."""
    return np.zeros(4 * size * size), np.full(4 * size * size, np.nan)


@jit_helper
def inside(scores, single_root):
    """The weights of all items, their logarithms as far as they are known, and log Z."""
    size = len(scores)
    arcs, log_scale = normalised(scores)
    weights, logs = empty_chart(size)
    for m in range(1, size):
        if log_scale[m] == -np.inf:
            return weights, logs, -np.inf
    for i in range(size - 1, -1, -1):
        log_lift = lift(i, weights, logs, size)
        if log_lift != 0.0:
            log_scale[i] -= log_lift
            arcs[:, i] *= np.exp(log_lift)
        weights[place_of(COMPLETE, i, i, size)] = weights[place_of(FLIPPED, i, i, size)] = 1.0
        for j in range(i + 1, size):
            halves = place_of(HALVES, i, j, size)
            weights[halves] = sum_of_products(weights, splits_of_halves(i, j, size))
            if out_of_range(weights[halves]):
                sum_of_logs(halves, weights, logs, splits_of_halves(i, j, size))
            for h, m in ((i, j), (j, i)):
                if m > 0:
                    incomplete = place_of(INCOMPLETE, h, m, size)
                    weights[incomplete] = weights[halves] * arcs[h, m]
                    if out_of_range(weights[incomplete]):
                        logs[incomplete] = log_at(halves, weights, logs) + scores[h, m] - log_scale[m]
                        weights[incomplete] = np.exp(logs[incomplete])
            if i == 0 and j < size - 1 and single_root:
                continue  # a second modifier of the root finds nothing to join
            for h, e in ((i, j), (j, i)):
                complete, flipped = place_of(COMPLETE, h, e, size), place_of(FLIPPED, e, h, size)
                weights[complete] = sum_of_products(weights, splits_of_complete(h, e, size))
                if out_of_range(weights[complete]):
                    sum_of_logs(complete, weights, logs, splits_of_complete(h, e, size))
                    logs[flipped] = logs[complete]
                weights[flipped] = weights[complete]
    return weights, logs, np.sum(log_scale) + log_at(place_of(COMPLETE, 0, size - 1, size), weights, logs)


@jit_helper
def out_of_range(weight):
    """Whether a weight must be found by logarithms; inf * 0 on the way makes it NaN."""
    return not TINY < weight < HUGE


@jit_helper
def lift(i, weights, logs, size):
    """The logarithm of a factor for the weights of word i, when all items to its right are known.

    It brings the weight of i + 1 and the last word with all between them back to about 1 when that has become small
    or large. The weight of a span is about the ratio of two such weights, so that most others stay in range too.
    """
    if i == 0 or i >= size - 2:
        return 0.0
    halves = place_of(HALVES, i + 1, size - 1, size)
    if np.exp(-LIFT) < weights[halves] < np.exp(LIFT):
        return 0.0
    log_weight = log_at(halves, weights, logs)
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
def log_at(item, weights, logs):
    """The logarithm of a weight."""
    if np.isnan(logs[item]):
        logs[item] = np.log(weights[item])
    return logs[item]


@jit_sum
def sum_of_products(weights, splits):
    first, second, count = splits
    firsts, seconds = weights[first : first + count], weights[second : second + count]
    total = 0.0
    for r in range(count):
        total += firsts[r] * seconds[r]
    return total


@jit_helper
def sum_of_logs(item, weights, logs, splits):
    """The logarithm of an item's weight by a sum with a shift, and from it the weight."""
    first, second, count = splits
    top = -np.inf
    for r in range(count):
        top = max(top, log_at(first + r, weights, logs) + log_at(second + r, weights, logs))
    total = 0.0
    if top > -np.inf:
        for r in range(count):
            total += np.exp(logs[first + r] + logs[second + r] - top)
    logs[item] = top + np.log(total)
    weights[item] = np.exp(logs[item])


@jit_helper
def outside(weights, logs, size):
    """The posteriors of all items; complete[h, e] has the sum of its own and that of flipped[e, h]."""
    posteriors = np.zeros(4 * size * size)
    posteriors[place_of(COMPLETE, 0, size - 1, size)] = 1.0
    for i in range(size):
        for j in range(size - 1, i, -1):
            for h, e in ((i, j), (j, i)):
                complete = place_of(COMPLETE, h, e, size)
                posteriors[complete] += posteriors[place_of(FLIPPED, e, h, size)]
                share_out(complete, weights, logs, splits_of_complete(h, e, size), posteriors)
            halves = place_of(HALVES, i, j, size)
            arc, reverse = place_of(INCOMPLETE, i, j, size), place_of(INCOMPLETE, j, i, size)
            posteriors[halves] = posteriors[arc] + posteriors[reverse]
            share_out(halves, weights, logs, splits_of_halves(i, j, size), posteriors)
    return posteriors


@jit_helper
def share_out(item, weights, logs, splits, posteriors):
    """Adds the posterior of each split of an item to those of the two items that it is made of."""
    if posteriors[item] > 0.0:
        if out_of_range(weights[item]):
            share_out_logs(item, logs, splits, posteriors)
        else:
            share_out_products(posteriors[item] / weights[item], weights, splits, posteriors)


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
        start = place_of(INCOMPLETE, h, 0, size)
        out[h] = posteriors[start : start + size]


@jit_helper
def sample_one(weights, logs, rng, heads):
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
        m = lowest + draw(place_of(COMPLETE, h, e, size), weights, logs, splits_of_complete(h, e, size), rng)
        heads[m] = h
        i, j = min(h, m), max(h, m)
        r = i + draw(place_of(HALVES, i, j, size), weights, logs, splits_of_halves(i, j, size), rng)
        for head, end in ((m, e), (i, r), (j, r + 1)):
            if head != end:
                waiting[n_waiting, 0], waiting[n_waiting, 1] = head, end
                n_waiting += 1


@jit_helper
def draw(item, weights, logs, splits, rng):
    """The number of a split of an item, with probability in proportion to its weight."""
    first, second, count = splits
    rest = rng.random()
    chosen = 0
    for r in range(count):
        if out_of_range(weights[item]):
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
