"""The sums of many sentences in one call: their scores stand one after the other in a flat array.

Sentence i has the entries ``starts[i]:starts[i + 1]``, an array of shape (sizes[i], sizes[i]).
"""

import numpy as np

from crossarc.trees import _inside_outside, _matrix_tree
from crossarc._kernel import kernel


@kernel
def square(flat, starts, sizes, i):
    """The array of sentence i, as a view."""
    return flat[starts[i] : starts[i + 1]].reshape((sizes[i], sizes[i]))


@kernel
def first_bad_place(flat, starts, sizes):
    """(sentence, head, modifier) of the first NaN or +inf that is not ignored; (-1, -1, -1) if there is none."""
    for i in range(len(sizes)):
        scores = square(flat, starts, sizes, i)
        for h in range(sizes[i]):
            for m in range(1, sizes[i]):
                # False for NaN as well as for +inf
                if not scores[h, m] < np.inf and h != m:
                    return i, h, m
    return -1, -1, -1


@kernel
def log_partitions(flat, starts, sizes, single_root, log_z, first, last):
    """Fill log_z[first:last]: all trees."""
    for i in range(first, last):
        log_z[i] = _matrix_tree.log_partition(square(flat, starts, sizes, i), single_root)


@kernel
def marginals(flat, starts, sizes, single_root, log_z, out, first, last):
    """Fill log_z[first:last] and the sentences' part of ``out``: all trees."""
    for i in range(first, last):
        log_z[i] = _matrix_tree.marginals(square(flat, starts, sizes, i), single_root, square(out, starts, sizes, i))


@kernel
def projective_log_partitions(flat, starts, sizes, single_root, log_z, first, last):
    """Fill log_z[first:last]: projective trees."""
    for i in range(first, last):
        log_z[i] = _inside_outside.log_partition(square(flat, starts, sizes, i), single_root)


@kernel
def projective_marginals(flat, starts, sizes, single_root, log_z, out, first, last):
    """Fill log_z[first:last] and the sentences' part of ``out``: projective trees."""
    for i in range(first, last):
        log_z[i] = _inside_outside.marginals(square(flat, starts, sizes, i), single_root, square(out, starts, sizes, i))
