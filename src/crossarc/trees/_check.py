"""Kernels that look at a score array before anything else does."""

import numpy as np

from crossarc._jit import jit, jit_helper


@jit_helper
def all_below_infinity(numbers):
    """Whether none of the numbers is NaN or +inf: many are compared at a time, since nothing is said about which."""
    below = True
    for i in range(len(numbers)):
        # False for NaN as well as for +inf
        below &= numbers[i] < np.inf
    return below


@jit
def first_bad_score(scores):
    """Flat index of the first NaN or +inf of scores[h, m, l] with m > 0 and h != m, else -1."""
    size, _, labels = scores.shape
    if all_below_infinity(scores.reshape(scores.size)):
        return -1
    for h in range(size):
        for m in range(1, size):
            if h != m:
                for label in range(labels):
                    if not scores[h, m, label] < np.inf:
                        return (h * size + m) * labels + label
    return -1


@jit
def first_bad_place(flat, starts, sizes):
    """(sentence, head, modifier) of the first NaN or +inf in packed scores that is not ignored, else (-1, -1, -1)."""
    if all_below_infinity(flat):
        return -1, -1, -1
    for i in range(len(sizes)):
        size = sizes[i]
        bad = first_bad_score(flat[starts[i] : starts[i + 1]].reshape((size, size, 1)))
        if bad >= 0:
            return i, bad // size, bad % size
    return -1, -1, -1


@jit
def first_bad_sibling(siblings):
    """Flat index of the first NaN or +inf among the siblings[h, s, m] that a tree could use, else -1."""
    size = len(siblings)
    if all_below_infinity(siblings.reshape(siblings.size)):
        return -1
    for h in range(size):
        for s in range(size):
            low, high = (s + 1, size) if s > h else (1, size if s == h else s)
            for m in range(low, high):
                if m != h and not siblings[h, s, m] < np.inf:
                    return (h * size + s) * size + m
    return -1
