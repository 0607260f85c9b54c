"""Decisions of support vector machines with a polynomial kernel, one class against one (Chang and Lin 2001).

What is classified has a number of symbols, one for each atom, and the vectors are binary: K(x, y) is a function of the
number of atoms whose symbols are the same. The symbol 0 stands for nothing, and is never the same. There are several
groups of machines, each with classes of its own.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc._jit import jit_helper, jit_inline, jit_noinline


class Svm(NamedTuple):
    """Several groups of machines; the support vectors of all stand side by side, in the order of groups and classes."""

    keys: NDArray[np.uint64]  # what each group is for, the first being for all else
    vectors: NDArray[np.uint32]  # [a, s]: the symbol of atom a in support vector s
    ends: NDArray[np.int64]  # [g, c]: where the vectors of class c of group g end
    classes: NDArray[np.int64]  # [g, c]: the number of class c of group g, -1 for none
    coefficients: NDArray[np.float32]  # [s, d]: in the machine of the vector's class and the d-th other one
    intercepts: NDArray[np.float32]  # [g, c, d] for c < d
    unseen: NDArray[np.float32]  # the score of each class where the group has never seen it
    kernel: NDArray[np.float64]  # K of two vectors, by the number of symbols that they share


class Workspace(NamedTuple):
    """The numbers of one decision."""

    symbols: NDArray[np.uint32]  # of what is classified, by atom
    matches: NDArray[np.uint16]  # how many of them each support vector shares
    sums: NDArray[np.float64]  # [c, d]: what the vectors of class c say in its machine with the d-th other class
    votes: NDArray[np.float64]  # for each class
    margins: NDArray[np.float64]


@jit_helper
def new_workspace(svm):
    groups, most = svm.classes.shape
    largest = 0
    for g in range(groups):
        largest = max(largest, svm.ends[g, -1] - first_of(svm, g))
    return Workspace(
        np.empty(len(svm.vectors), np.uint32),
        np.empty(largest, np.uint16),
        np.empty((most, most)),
        np.empty(most),
        np.empty(most),
    )


@jit_inline
def group_of(svm, key):
    """The group for a key."""
    for g in range(1, len(svm.keys)):
        if svm.keys[g] == key:
            return g
    return 0


@jit_noinline
def class_scores(svm, group, work, scores):
    """scores[n] of each class: the machines that vote for it, and how clearly they do, which decides only ties."""
    count_matches(svm, group, work)
    n = 0
    while n < svm.classes.shape[1] and svm.classes[group, n] >= 0:
        n += 1
    sum_kernels(svm, group, work, n)
    work.votes[:n] = 0.0
    work.margins[:n] = 0.0
    for c in range(n):
        for d in range(c + 1, n):
            margin = work.sums[c, d - 1] + work.sums[d, c] + svm.intercepts[group, c, d]
            work.votes[c if margin > 0.0 else d] += 1.0
            work.margins[c] += margin
            work.margins[d] -= margin
    for number in range(len(scores)):
        scores[number] = svm.unseen[number]
    for c in range(n):
        scores[svm.classes[group, c]] = work.votes[c] + work.margins[c] / (3.0 * (abs(work.margins[c]) + 1.0))


@jit_inline
def first_of(svm, group):
    """Where the support vectors of a group begin."""
    return svm.ends[group - 1, -1] if group > 0 else 0


@jit_inline
def count_matches(svm, group, work):
    """matches[s - first]: how many symbols of support vector s are those in question."""
    first, last = first_of(svm, group), svm.ends[group, -1]
    matches = work.matches[: last - first]
    matches[:] = 0
    for a in range(len(svm.vectors)):
        symbol = work.symbols[a]
        if symbol == 0:
            continue
        vectors = svm.vectors[a, first:last]
        for s in range(len(vectors)):
            matches[s] += vectors[s] == symbol


@jit_inline
def sum_kernels(svm, group, work, n):
    """sums[c, d]: what the vectors of class c say in its machine with the d-th other class."""
    first = start = first_of(svm, group)
    for c in range(n):
        sums = work.sums[c]
        sums[:] = 0.0
        for s in range(start, svm.ends[group, c]):
            k = svm.kernel[work.matches[s - first]]
            for d in range(n - 1):
                sums[d] += k * svm.coefficients[s, d]
        start = svm.ends[group, c]
