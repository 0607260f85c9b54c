"""``_matrix_tree.marginals`` of several sentences of the same length at once: see ``_simd``.

The rows of a short sentence are too short for vector instructions. The operations here and their order are those of
``_matrix_tree`` for plain numbers, so that the results are the same to the last bit, in whatever company a sentence
comes. What must be decided for one sentence alone is not done: such a sentence gets a log Z that is not finite, and
its turn comes in ``_matrix_tree``.
"""

import numpy as np

from crossarc._jit import njit
from crossarc.trees._exponential import exponential
from crossarc.trees._matrix_tree import ends_a_product, in_range, trusted, without
from crossarc.trees._simd import LANES, empty_lanes, filled, load, store

# "numpy": a division by zero gives inf or NaN, and need not be tested for
jit_simd = njit(cache=True, nogil=True, error_model="numpy")
# a step that allocates nothing: its calls count no references, with atomic operations (see ``jit_inline``)
jit_step = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)


@jit_simd
def marginals(weights, single_root, log_z):
    """Replace the scores weights[h, m, lane] by the marginals; fill log_z[lane], not finite where this failed.

    The diagonal must be -inf, as the score of an arc that cannot be; column 0 must be 0, and stays so. The halving is
    that of ``_matrix_tree.all_marginals``. ``rooted`` never changes: a word that has no head left makes everything NaN.
    """
    size = len(weights)
    rooted = not single_root
    rows = empty_lanes(3 * size + 2, size)
    normalise(weights, single_root, rows, log_z)
    product = filled(1.0)
    right_halves = []
    lo, hi, root, shift, free = 1, size, 0, 0, size
    while True:
        while hi - lo > 2:
            mid = (lo + hi) // 2
            right_halves.append((lo, mid, hi, root, shift, free))
            pivots = eliminate(rows, root, shift, free, free + 1 - lo, lo, hi, mid, hi, rooted, product)
            if lo == 1:
                product = pivots
            hi, root, shift, free = mid, free, free + 1 - lo, free + 1 + mid - lo
        for word in range(lo, hi):
            if hi - lo == 2:
                pivots = times_last_escapes(weights, word, rows, root, shift, lo + hi - 1 - word, rooted, product)
            else:
                pivots = times_escapes(weights, word, rows, root, product)
            if word == 1:
                product = pivots
        if len(right_halves) == 0:
            break
        lo, mid, hi, root, shift, free = right_halves.pop()
        eliminate(rows, root, shift, root, shift, lo, hi, lo, mid, rooted, product)
        lo = mid
    store(rows, 0, 0, product)
    for lane in range(LANES):
        log_z[lane] += np.log(trusted(rows[0, 0, lane], False))
    head_distributions(weights, rows, log_z)


@jit_simd
def normalise(weights, single_root, rows, scale):
    """``_matrix_tree.normalise`` in place, with a copy at the bottom of the rows.

    The scale is not finite if a word, or a single root, has no arc at all. All loops run over words and lanes at once,
    and are vectors as they are.
    """
    size = len(weights)
    width = size * LANES
    first = 1 if single_root else 0
    graph, bottom = weights.reshape((size, width)), rows.reshape((len(rows), width))
    top = np.full(width, -np.inf)
    for h in range(first, size):
        for c in range(LANES, width):
            top[c] = graph[h, c] if graph[h, c] > top[c] else top[c]
    sums = np.zeros(width)
    for h in range(first, size):
        for c in range(LANES, width):
            graph[h, c] = exponential(graph[h, c] - top[c])
            sums[c] += graph[h, c]
    scale[:] = 0.0
    for c in range(LANES, width):
        scale[c % LANES] += top[c]
    products = np.ones(LANES)
    for m in range(1, size):
        for lane in range(LANES):
            products[lane] *= sums[m * LANES + lane]
        if ends_a_product(m, size):
            for lane in range(LANES):
                scale[lane] += np.log(products[lane])
                products[lane] = 1.0
    for c in range(LANES, width):
        sums[c] = 1.0 / sums[c]
    for h in range(first, size):
        for c in range(LANES, width):
            graph[h, c] *= sums[c]
            bottom[h, c] = graph[h, c]
    if single_root:
        normalise_root(top, sums, graph, scale)
        for c in range(LANES, width):
            bottom[0, c] = graph[0, c]


@jit_simd
def normalise_root(top, inverses, graph, scale):
    """Fill the single root's row; its largest exponential is 1."""
    width = graph.shape[1]
    best = np.full(LANES, -np.inf)
    for c in range(LANES, width):
        graph[0, c] -= top[c]
        best[c % LANES] = max(best[c % LANES], graph[0, c])
    for m in range(1, width // LANES):
        for lane in range(LANES):
            graph[0, m * LANES + lane] -= best[lane]
    for c in range(LANES, width):
        graph[0, c] = exponential(graph[0, c]) * inverses[c]
    for lane in range(LANES):
        scale[lane] += best[lane]


@jit_step
def eliminate(rows, root, shift, new_root, new_shift, lo, hi, begin, end, rooted, product):
    """Eliminate the words begin..end-1, the first or last ones of the graph of lo..hi-1; the product times pivots.

    The others' rows go to where a graph has its root in row ``new_root`` and word x in row ``new_shift + x``.
    """
    from_left = begin == lo
    while begin < end:
        gone = min(2, end - begin)
        word, next_word = (lo, lo + 1) if from_left else (hi - 1, hi - 2)
        lo, hi, begin, end = without(gone, from_left, lo, hi, begin, end)
        if gone == 2:
            pivot = eliminate_two(rows, root, shift, new_root, new_shift, lo, hi, word, next_word, rooted)
        else:
            pivot = eliminate_one(rows, root, shift, new_root, new_shift, lo, hi, word, rooted)
        root, shift = new_root, new_shift
        product = product * pivot
    return product


@jit_step
def eliminate_one(rows, root, shift, new_root, new_shift, first, last, word, rooted):
    """Eliminate a word, so that first..last-1 stay; returns the pivot."""
    pivot = weight_into(rows, root, shift, first, last, word, rooted)
    for x in range(first, last):
        step_past(rows, shift + x, new_shift + x, shift + word, word, pivot)
    step_past(rows, root, new_root, shift + word, word, pivot)
    return pivot


@jit_step
def weight_into(rows, root, shift, first, last, word, rooted):
    """The sum of the arcs into a word from first..last-1, and from the root if ``rooted``."""
    total = load(rows, root, word) if rooted else filled(0.0)
    for g in range(shift + first, shift + last):
        total = total + load(rows, g, word)
    return total


@jit_step
def step_past(rows, old, new, row, word, pivot):
    """Whoever steps to the word now steps, as often as the word itself does, to the node of row ``old``.

    What becomes of that row goes to row ``new``.
    """
    share = load(rows, old, word) / pivot
    for x in range(1, rows.shape[1]):
        store(rows, new, x, load(rows, old, x) + share * load(rows, row, x))
    store(rows, new, word, share)


@jit_step
def eliminate_two(rows, root, shift, new_root, new_shift, first, last, a, b, rooted):
    """``eliminate_one`` for the word a and then for b; returns the product of both pivots."""
    row_a, row_b = shift + a, shift + b
    into_a = weight_into(rows, root, shift, first, last, a, rooted)
    into_b = weight_into(rows, root, shift, first, last, b, rooted)
    pivot_a = into_a + load(rows, row_b, a)
    pivot_b = into_b + load(rows, row_a, b) * (into_a / pivot_a)
    step_past(rows, row_b, new_shift + b, row_a, a, pivot_a)
    row_b = new_shift + b
    inverse_a, inverse_b = filled(1.0) / pivot_a, filled(1.0) / pivot_b
    for x in range(first, last):
        step_past_two(rows, shift + x, new_shift + x, row_a, row_b, a, b, inverse_a, inverse_b)
    step_past_two(rows, root, new_root, row_a, row_b, a, b, inverse_a, inverse_b)
    return pivot_a * pivot_b


@jit_step
def step_past_two(rows, old, new, row_a, row_b, a, b, inverse_a, inverse_b):
    """``step_past`` for a and then for b, with the inverses of their pivots."""
    share_a = load(rows, old, a) * inverse_a
    share_b = (load(rows, old, b) + share_a * load(rows, row_a, b)) * inverse_b
    for x in range(1, rows.shape[1]):
        steps = share_a * load(rows, row_a, x) + share_b * load(rows, row_b, x)
        store(rows, new, x, load(rows, old, x) + steps)
    store(rows, new, a, share_a + share_b * load(rows, row_b, a))
    store(rows, new, b, share_b)


@jit_step
def times_escapes(weights, word, rows, root, product):
    """When no other word is left: multiply the arcs into the word by the escapes of their heads, the root's row."""
    for h in range(1, len(weights)):
        store(weights, h, word, load(weights, h, word) * load(rows, root, h))
    return product * load(rows, root, word)


@jit_step
def times_last_escapes(weights, word, rows, root, shift, other, rooted, product):
    """``times_escapes`` when one other word is left, which is eliminated on the way."""
    row = shift + other
    pivot = load(rows, shift + word, other) + (load(rows, root, other) if rooted else filled(0.0))
    share = load(rows, root, other) / pivot
    from_other = load(weights, other, word) * share
    for h in range(1, len(weights)):
        escape = load(rows, root, h) + share * load(rows, row, h)
        store(weights, h, word, load(weights, h, word) * escape)
    store(weights, other, word, from_other)
    return product * pivot * (load(rows, root, word) + share * load(rows, row, word))


@jit_step
def head_distributions(weights, rows, log_z):
    """Give the weights of the heads of each word a sum of 1; log_z = NaN where that is out of range."""
    size = len(weights)
    for m in range(1, size):
        total = filled(0.0)
        for h in range(size):
            total = total + load(weights, h, m)
        store(rows, 0, m, total)
        inverse = filled(1.0) / total
        for h in range(size):
            store(weights, h, m, load(weights, h, m) * inverse)
    for m in range(1, size):
        for lane in range(LANES):
            if not in_range(rows[0, m, lane]):
                log_z[lane] = np.nan
