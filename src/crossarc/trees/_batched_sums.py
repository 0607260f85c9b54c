"""Partition functions, marginals and covariances of many sentences in one call.

Their scores are packed in one flat array. Sentence i has the entries ``starts[i]:starts[i + 1]``, an array of shape
(sizes[i], sizes[i]).
"""

import numpy as np

from crossarc._jit import jit, jit_helper
from crossarc.trees import (
    _inside_outside,
    _inside_outside_covariances,
    _matrix_tree,
    _matrix_tree_covariances,
    _matrix_tree_simd,
)
from crossarc.trees._simd import (
    LANES,
    MIN_SIMD_SENTENCES,
    empty_lanes,
    filled,
    load_runs,
    store,
    store_runs,
    transposed,
)

# where it pays: the stack of graphs is not far larger than a cache
MAX_SIMD_SIZE = 128


@jit_helper
def square(flat, starts, sizes, i):
    """The array of sentence i, as a view."""
    return flat[starts[i] : starts[i + 1]].reshape((sizes[i], sizes[i]))


@jit
def log_partitions(flat, starts, sizes, single_root, log_z, first, last):
    """Fill log_z[first:last]: all trees."""
    for i in range(first, last):
        log_z[i] = _matrix_tree.log_partition(square(flat, starts, sizes, i), single_root)


@jit
def marginals(flat, starts, sizes, single_root, log_z, out, first, last):
    """Fill log_z[first:last] and the sentences' part of ``out``: all trees. Those of the same size go together."""
    waiting = np.ones(last, dtype=np.bool_)
    group = np.empty(LANES, dtype=np.int64)
    for i in range(first, last):
        if waiting[i]:
            count = take_same_size(sizes, waiting, i, group)
            if count >= MIN_SIMD_SENTENCES and 1 < sizes[i] <= MAX_SIMD_SIZE:
                marginals_simd(flat, starts, sizes[i], single_root, group, count, log_z, out)
            else:
                for k in range(count):
                    log_z[group[k]] = np.nan
            for k in range(count):
                j = group[k]
                if not np.isfinite(log_z[j]):
                    scores = square(flat, starts, sizes, j)
                    log_z[j] = _matrix_tree.marginals(scores, single_root, square(out, starts, sizes, j))


@jit_helper
def take_same_size(sizes, waiting, i, group):
    """Fill the group with waiting sentences as long as i, from i on; returns how many there are."""
    count = 0
    j = i
    while count < len(group) and j < len(waiting):
        if waiting[j] and sizes[j] == sizes[i]:
            group[count] = j
            waiting[j] = False
            count += 1
        j += 1
    return count


@jit_helper
def marginals_simd(flat, starts, size, single_root, group, count, log_z, out):
    """Fill log_z and ``out`` for the sentences group[:count]; log_z is not finite for those that must go alone."""
    # lanes that stay empty do what the first one does
    entries = np.full(LANES, starts[group[0]])
    for lane in range(count):
        entries[lane] = starts[group[lane]]
    weights = empty_lanes(size, size)
    result = np.empty(LANES)
    to_lanes(flat, entries, weights.reshape(weights.size))
    for h in range(size):
        store(weights, h, h, filled(-np.inf))
        store(weights, h, 0, filled(0.0))
    _matrix_tree_simd.marginals(weights, single_root, result)
    for lane in range(count):
        log_z[group[lane]] = result[lane]
    if np.isfinite(result).all():
        from_lanes(weights.reshape(weights.size), entries, out)
        return
    for lane in range(count):
        if np.isfinite(result[lane]):
            for k in range(size * size):
                out[entries[lane] + k] = weights[k // size, k % size, lane]


@jit_helper
def to_lanes(flat, entries, weights):
    """weights[k, lane] = flat[entries[lane] + k], all in arrays of one dimension."""
    length = len(weights) // LANES
    whole = length - length % LANES
    steps = np.arange(LANES) * LANES
    for k in range(0, whole, LANES):
        store_runs(weights, steps, k * LANES, transposed(load_runs(flat, entries, k)))
    for k in range(whole, length):
        for lane in range(LANES):
            weights[k * LANES + lane] = flat[entries[lane] + k]


@jit_helper
def from_lanes(weights, entries, flat):
    """``to_lanes`` the other way."""
    length = len(weights) // LANES
    whole = length - length % LANES
    steps = np.arange(LANES) * LANES
    for k in range(0, whole, LANES):
        store_runs(flat, entries, k, transposed(load_runs(weights, steps, k * LANES)))
    for k in range(whole, length):
        for lane in range(LANES):
            flat[entries[lane] + k] = weights[k * LANES + lane]


@jit
def projective_log_partitions(flat, starts, sizes, single_root, log_z, first, last):
    """Fill log_z[first:last]: projective trees."""
    for i in range(first, last):
        log_z[i] = _inside_outside.log_partition(square(flat, starts, sizes, i), single_root)


@jit
def projective_marginals(flat, starts, sizes, single_root, log_z, out, first, last):
    """Fill log_z[first:last] and the sentences' part of ``out``: projective trees."""
    for i in range(first, last):
        log_z[i] = _inside_outside.marginals(square(flat, starts, sizes, i), single_root, square(out, starts, sizes, i))


@jit
def covariances(flat, values, starts, sizes, single_root, out):
    """Fill ``out``: the covariance of each arc with the value of the tree. All trees; each sentence must have one."""
    for i in range(len(sizes)):
        arguments = square(flat, starts, sizes, i), square(values, starts, sizes, i)
        _matrix_tree_covariances.covariances(*arguments, single_root, square(out, starts, sizes, i))


@jit
def projective_covariances(flat, values, starts, sizes, single_root, out):
    """Fill ``out``: the covariance of each arc with the value of the tree. Projective trees."""
    for i in range(len(sizes)):
        arguments = square(flat, starts, sizes, i), square(values, starts, sizes, i)
        _inside_outside_covariances.covariances(*arguments, single_root, square(out, starts, sizes, i))
