"""Sums over all trees by a subtraction-free form of the Matrix-Tree theorem (MS07 §3.2 and §3.3).

McDonald & Satta (2007) take the determinant and the inverse of the Laplacian. Both subtract numbers of the same
size, so we eliminate words instead, in the manner of Grassmann, Taksar & Heyman (1985). Read the scores as a random
walk: word m steps to head h with a probability proportional to exp(scores[h, m]). To eliminate a word w is to
walk on from it at once: whoever stepped to w steps to one of w's heads. The sum over all trees is the product of
the pivots, the total weights of the arcs into each word when its turn comes. Everything is a sum, product or quotient
of positive numbers, so that it keeps its full relative accuracy.

``rows[g, x]`` is, for a word x that is still there, the weight of the arc from g to x; and, for a word x that has
been eliminated, the probability that a walk from x meets g before any other node that is still there. Entries
[x, x] mean nothing.

One child of the root (``single_root``): give the root's arcs an infinitesimal weight. The order of a tree is its number
of root arcs, and we keep what is of order one. The root's row is then of order one and drops out of the pivots,
until a word turns up that has no other head: that one is the root's child and takes the root's place, and its
arcs are like all others (``rooted``).

Plain floating-point numbers are right as long as heads that are drawn independently make a tree with a probability
that is not absurdly small: an underflow loses less than 1e-304, and a unit of weight on an arc changes Z by at most 1.
Below ``TRUSTED`` the same elimination is done with the logarithms of the numbers (``in_logs``).
"""

import numpy as np

from crossarc._jit import jit_helper, jit_inline
from crossarc.trees._exponential import exponential, exponentials

TRUSTED = 1e-200


@jit_helper
def log_partition(scores, single_root):
    """The logarithm of the sum over all trees of exp(score); -inf if there is no tree. O(n³)."""
    log_z = np.nan
    for in_logs in (False, True):
        if np.isnan(log_z):
            log_z = log_sum(scores, single_root, in_logs)
    return log_z


@jit_helper
def log_sum(scores, single_root, in_logs):
    """log Z. NaN if the numbers must be kept ``in_logs``, and are not."""
    size = len(scores)
    graph = np.empty((size, size))
    scale = normalise(scores, single_root, in_logs, graph)
    if scale == -np.inf or size == 1:
        return scale
    z, _ = eliminate(graph, 0, 0, 1, size, 2, size, not single_root, one(in_logs), in_logs)
    return scale + log_of(trusted(times(z, graph[0, 1], in_logs), in_logs), in_logs)


@jit_helper
def marginals(scores, single_root, out):
    """out[h, m] = the probability of the arc from h to m; returns log Z, or -inf if there is no tree. O(n³).

    ``out`` may be ``scores`` itself.
    """
    log_z = np.nan
    for in_logs in (False, True):
        if np.isnan(log_z):
            log_z = all_marginals(scores, single_root, in_logs, out)
    return log_z


@jit_helper
def all_marginals(scores, single_root, in_logs, out):
    """The marginals and log Z. NaN if the numbers must be kept ``in_logs``, and are not.

    The marginals of a word are simple when all others have been eliminated (``head_distributions``). To get there
    for every word, halve the words: eliminate the right half and go on with the left one, then the other way
    round. Eliminating k/2 of k words costs O(k²n), so all of this costs O(n³): about 3/2 n³ multiplications.
    """
    size = len(scores)
    weights = np.empty((size, size))
    scale = normalise(scores, single_root, in_logs, weights)
    if scale == -np.inf or size == 1:
        out[:] = 0.0
        return scale
    rows = first_graph(weights)
    escapes = np.empty((size, size))
    right_halves = []
    lo, hi, root, shift, free, rooted = 1, size, 0, 0, size, not single_root
    z = one(in_logs)
    while True:
        while hi - lo > 2:
            mid = (lo + hi) // 2
            right_halves.append((lo, mid, hi, root, shift, free, rooted))
            root, shift = copy_graph(rows, lo, hi, root, shift, free)
            product, rooted = eliminate(rows, root, shift, lo, hi, mid, hi, rooted, z, in_logs)
            if lo == 1:
                z = product
            hi, free = mid, shift + mid
        for word in range(lo, hi):
            copy_row(escapes, word, rows, root)
            rooted_here = rooted
            if hi - lo == 2:
                other = lo + hi - 1 - word
                pivot, rooted_here = eliminate_last(
                    escapes, word, rows, shift + word, shift + other, other, rooted, in_logs
                )
                if word == 1:
                    z = trusted(times(z, pivot, in_logs), in_logs)
            escapes[word, 0] = zero(in_logs) if single_root and rooted_here else one(in_logs)
        if len(right_halves) == 0:
            break
        lo, mid, hi, root, shift, free, rooted = right_halves.pop()
        _, rooted = eliminate(rows, root, shift, lo, hi, lo, mid, rooted, z, in_logs)
        lo = mid
    log_z = log_of(trusted(times(z, escapes[1, 1], in_logs), in_logs), in_logs)
    if log_z > -np.inf and not head_distributions(weights, escapes, in_logs, out):
        return np.nan
    return scale + log_z


@jit_helper
def trusted(product, in_logs):
    """A product of pivots; NaN, now and for ever, if it came so close to an underflow that it lost digits."""
    return product if in_logs or TRUSTED < product < np.inf else np.nan


@jit_helper
def normalise(scores, single_root, in_logs, graph):
    """Fill the graph with weights whose sum over the heads of each word is 1; returns the log of what that took out.

    With ``single_root`` that sum is over heads other than the root, and row 0 has about 1 as its maximum. -inf if
    a word has no possible head.
    """
    n = len(scores) - 1
    first = 1 if single_root else 0
    top = np.full(n + 1, -np.inf)
    for h in range(first, n + 1):
        # the diagonal may hold anything
        top_without = top[h]
        for m in range(n + 1):
            top[m] = scores[h, m] if scores[h, m] > top[m] else top[m]
        top[h] = top_without
    scale = 0.0
    for m in range(1, n + 1):
        if top[m] == -np.inf:
            top[m] = scores[0, m]
            if top[m] == -np.inf:
                return -np.inf
        scale += top[m]
    for h in range(n + 1):
        for m in range(n + 1):
            graph[h, m] = scores[h, m] - top[m]
    exponentials(graph.reshape(graph.size))
    sums = np.zeros(n + 1)
    for h in range(first, n + 1):
        graph[h, 0] = graph[h, h] = 0.0
        for m in range(n + 1):
            sums[m] += graph[h, m]
    inverses = np.ones(n + 1)
    product = 1.0
    for m in range(1, n + 1):
        # zero: a word without any head but the root, when that one is not counted
        if sums[m] > 0.0:
            product *= sums[m]
            inverses[m] = 1.0 / sums[m]
        if ends_a_product(m, n + 1):
            scale += np.log(product)
            product = 1.0
    for h in range(first, n + 1):
        if in_logs:
            for m in range(n + 1):
                graph[h, m] = scores[h, m] - top[m] + np.log(inverses[m])
            graph[h, 0] = graph[h, h] = -np.inf
        else:
            # not a division: Numba would test every one of them for zero
            for m in range(n + 1):
                graph[h, m] *= inverses[m]
    if single_root and n > 0:
        scale += normalise_root(scores, top, inverses, in_logs, graph)
    return scale


@jit_helper
def ends_a_product(m, size):
    """Whether the words up to m end a product, of so many sums of weights up to 1 that it is sure to be in range."""
    return m % 32 == 0 or m == size - 1


@jit_helper
def normalise_root(scores, top, inverses, in_logs, graph):
    """Fill the root's row; returns the log of what makes the largest exponential 1, -inf if the root has no arcs."""
    best = -np.inf
    for m in range(1, len(scores)):
        graph[0, m] = scores[0, m] - top[m]
        best = max(best, graph[0, m])
    if best > -np.inf:
        for m in range(1, len(scores)):
            log_weight = graph[0, m] - best
            graph[0, m] = log_weight + np.log(inverses[m]) if in_logs else exponential(log_weight) * inverses[m]
    graph[0, 0] = zero(in_logs)
    return best


# A stack of graphs in one array of rows. A graph of the words lo..hi-1 has the root in row `root` and word x in row
# `shift + x`; row `free` and those after it are not in use.


@jit_helper
def first_graph(weights):
    """The rows of the stack, with the graph of all words at its bottom."""
    size = len(weights)
    rows = np.empty((3 * size + 2, size))
    for g in range(size):
        copy_row(rows, g, weights, g)
    return rows


@jit_helper
def copy_row(to, to_row, rows, row):
    """to[to_row] = rows[row]; Numba would compile the slices into a great deal of code."""
    for x in range(rows.shape[1]):
        to[to_row, x] = rows[row, x]


@jit_helper
def copy_graph(rows, lo, hi, root, shift, free):
    """Copy the graph of the words lo..hi-1 to the row ``free``; returns the new root and shift."""
    copy_row(rows, free, rows, root)
    for word in range(lo, hi):
        copy_row(rows, free + 1 + word - lo, rows, shift + word)
    return free, free + 1 - lo


@jit_helper
def eliminate(rows, root, shift, lo, hi, begin, end, rooted, product, in_logs):
    """Eliminate the words begin..end-1, the first or the last ones of the graph of lo..hi-1.

    Returns the product times the pivots, NaN if that is not to be trusted any more, and whether the root's arcs
    now count like any others.
    """
    from_left = begin == lo
    while begin < end:
        word = lo if from_left else hi - 1
        gone = 0
        if end - begin > 1 and not in_logs:
            next_word = lo + 1 if from_left else hi - 2
            first, last = (lo + 2, hi) if from_left else (lo, hi - 2)
            gone, pivot = eliminate_two(rows, root, shift, first, last, word, next_word, rooted)
        if gone == 0:
            first, last = (lo + 1, hi) if from_left else (lo, hi - 1)
            pivot, rooted = eliminate_one(rows, root, shift, first, last, word, rooted, in_logs)
            gone = 1
        product = trusted(times(product, pivot, in_logs), in_logs)
        lo, hi, begin, end = without(gone, from_left, lo, hi, begin, end)
    return product, rooted


@jit_inline
def without(gone, from_left, lo, hi, begin, end):
    """The graph lo..hi-1 and the words begin..end-1 when the first or the last ones of both are gone."""
    if from_left:
        return lo + gone, hi, begin + gone, end
    return lo, hi - gone, begin, end - gone


@jit_helper
def eliminate_one(rows, root, shift, first, last, word, rooted, in_logs):
    """Eliminate a word, so that first..last-1 stay; returns the pivot and ``rooted``. O(n) for each word that stays."""
    row = shift + word
    pivot = rows[root, word] if rooted else zero(in_logs)
    for g in range(shift + first, shift + last):
        pivot = plus(pivot, rows[g, word], in_logs)
    if pivot == zero(in_logs):
        return pivot if rooted else put_for_root(rows, root, rows, row, word, in_logs), True
    for g in range(shift + first, shift + last):
        step_past(rows, g, rows, row, word, pivot, in_logs)
    step_past(rows, root, rows, row, word, pivot, in_logs)
    return pivot, rooted


@jit_helper
def eliminate_last(escapes, root, rows, kept, row, word, rooted, in_logs):
    """``eliminate_one`` when one other word is left, in row ``kept``, of which nothing is needed any more."""
    pivot = plus(rows[kept, word], escapes[root, word] if rooted else zero(in_logs), in_logs)
    if pivot == zero(in_logs):
        return pivot if rooted else put_for_root(escapes, root, rows, row, word, in_logs), True
    step_past(escapes, root, rows, row, word, pivot, in_logs)
    return pivot, rooted


@jit_helper
def put_for_root(to, root, rows, row, word, in_logs):
    """A word without any head but the root is the root's only child, and stands for it from now on; its pivot."""
    pivot = to[root, word]
    copy_row(to, root, rows, row)
    to[root, word] = one(in_logs)
    return pivot


# Rows are passed as an array and an index: a view of a row would cost more than the work on a short row.


@jit_helper
def step_past(to, target, rows, row, word, pivot, in_logs):
    """Whoever steps to the word now steps, as often as the word itself does, to the node of row ``target``."""
    if in_logs:
        share = to[target, word] - pivot
        if share > -np.inf:
            for x in range(rows.shape[1]):
                to[target, x] = plus(to[target, x], share + rows[row, x], True)
    else:
        share = to[target, word] / pivot
        for x in range(rows.shape[1]):
            to[target, x] += share * rows[row, x]
    to[target, word] = share


@jit_helper
def eliminate_two(rows, root, shift, first, last, a, b, rooted):
    """``eliminate_one`` for the word a and then for b, reading and writing every other row once instead of twice.

    Returns 2 and the product of both pivots (which may underflow); or 0, changing nothing, if one of them is zero.
    """
    row_a, row_b = shift + a, shift + b
    into_a = rows[root, a] if rooted else 0.0
    into_b = rows[root, b] if rooted else 0.0
    for g in range(shift + first, shift + last):
        into_a += rows[g, a]
        into_b += rows[g, b]
    pivot_a = into_a + rows[row_b, a]
    if pivot_a == 0.0:
        return 0, 0.0
    pivot_b = into_b + rows[row_a, b] * (into_a / pivot_a)
    if pivot_b == 0.0:
        return 0, 0.0
    step_past(rows, row_b, rows, row_a, a, pivot_a, False)
    for g in range(shift + first, shift + last):
        step_past_two(rows, g, row_a, row_b, a, b, 1.0 / pivot_a, 1.0 / pivot_b)
    step_past_two(rows, root, row_a, row_b, a, b, 1.0 / pivot_a, 1.0 / pivot_b)
    return 2, pivot_a * pivot_b


@jit_helper
def step_past_two(rows, target, row_a, row_b, a, b, inverse_a, inverse_b):
    """``step_past`` for a and then for b, with the inverses of their pivots."""
    share_a = rows[target, a] * inverse_a
    share_b = (rows[target, b] + share_a * rows[row_a, b]) * inverse_b
    for x in range(rows.shape[1]):
        rows[target, x] += share_a * rows[row_a, x] + share_b * rows[row_b, x]
    rows[target, a] = share_a + share_b * rows[row_b, a]
    rows[target, b] = share_b


@jit_helper
def head_distributions(weights, escapes, in_logs, out):
    """out[h, m] = the probability of each head h of each word m; False, changing nothing, if out of range.

    Wilson (1996): the head of a word is the one that a walk takes on leaving the word for the last time, so
    its probability is proportional to the weight of the arc times the probability that a walk from h comes to
    the root before it comes back to m: ``escapes[m, h]``, the root's row when all words but m are eliminated.
    """
    size = len(weights)
    for h in range(size):
        for m in range(size):
            weights[h, m] = times(weights[h, m], escapes[m, h], in_logs)
        weights[h, h] = weights[h, 0] = zero(in_logs)
    if in_logs:
        exponentials_of_columns(weights)
    totals = np.zeros(size)
    for h in range(size):
        for m in range(size):
            totals[m] += weights[h, m]
    totals[0] = 1.0
    for m in range(size):
        if not in_range(totals[m]):
            return False
        totals[m] = 1.0 / totals[m]
    for h in range(size):
        for m in range(size):
            out[h, m] = weights[h, m] * totals[m]
    return True


@jit_helper
def in_range(total):
    """Whether both the total and its inverse have all their digits."""
    return 1e-300 < total < 1e300


@jit_helper
def exponentials_of_columns(logs):
    """Replace each column of logarithms by the numbers, up to a factor that makes the largest one 1."""
    size = len(logs)
    logs[:, 0] = 0.0
    for m in range(1, size):
        top = -np.inf
        for h in range(size):
            top = max(top, logs[h, m])
        for h in range(size):
            logs[h, m] = np.exp(logs[h, m] - top)


# The two arithmetics: positive numbers, or their logarithms.


@jit_helper
def zero(in_logs):
    return -np.inf if in_logs else 0.0


@jit_helper
def one(in_logs):
    return 0.0 if in_logs else 1.0


@jit_helper
def times(a, b, in_logs):
    return a + b if in_logs else a * b


@jit_helper
def plus(a, b, in_logs):
    if not in_logs:
        return a + b
    low, high = min(a, b), max(a, b)
    # below, the smaller one is less than half a unit in the last place of the sum
    return high if low < high - 40.0 or low == -np.inf else high + np.log1p(np.exp(low - high))


@jit_helper
def log_of(product, in_logs):
    return product if in_logs else np.log(product)
