"""Decisions of support vector machines with a quadratic kernel, one class against one (Chang and Lin 2001).

What is classified has a number of symbols, one for each atom, and the vectors are binary: K(x, y) = (gamma · m + r)²,
where m counts the atoms whose symbols are the same. There are several groups of machines, each with classes of its own.
"""

from collections import namedtuple

import numpy as np

from crossarc._jit import jit_helper, jit_inline, jit_noinline

# keys[g]: what group g is for, the first being for all else; vectors[a, s]: the symbols of the support vectors, side by
# side in the order of groups and classes; ends[g, c]: where those of class c end; classes[g, c]: its number, -1: none;
# coefficients[s, d]: in the machine of the vector's class and the d-th other one; intercepts[g, c, d] for c < d;
# unseen[n]: the score of class n where the group has never seen it
Svm = namedtuple("Svm", "keys vectors ends classes coefficients intercepts unseen")

# Room for the numbers of one decision
Room = namedtuple("Room", "symbols matches sums votes margins")

GAMMA = 0.2
R = 0.0


@jit_helper
def new_room(svm):
    groups, most = svm.classes.shape
    largest = 0
    for g in range(groups):
        largest = max(largest, svm.ends[g, -1] - first_of(svm, g))
    return Room(
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
def class_scores(svm, group, room, scores):
    """scores[n] of each class: the machines that vote for it, and how clearly they do, which decides only ties."""
    count_matches(svm, group, room)
    n = 0
    while n < svm.classes.shape[1] and svm.classes[group, n] >= 0:
        n += 1
    sum_kernels(svm, group, room, n)
    room.votes[:n] = 0.0
    room.margins[:n] = 0.0
    for c in range(n):
        for d in range(c + 1, n):
            margin = room.sums[c, d - 1] + room.sums[d, c] + svm.intercepts[group, c, d]
            room.votes[c if margin > 0.0 else d] += 1.0
            room.margins[c] += margin
            room.margins[d] -= margin
    for number in range(len(scores)):
        scores[number] = svm.unseen[number]
    for c in range(n):
        scores[svm.classes[group, c]] = room.votes[c] + room.margins[c] / (3.0 * (abs(room.margins[c]) + 1.0))


@jit_inline
def first_of(svm, group):
    """Where the support vectors of a group begin."""
    return svm.ends[group - 1, -1] if group > 0 else 0


@jit_inline
def count_matches(svm, group, room):
    """matches[s - first]: how many symbols of support vector s are those in question."""
    first, last = first_of(svm, group), svm.ends[group, -1]
    matches = room.matches[: last - first]
    matches[:] = 0
    for a in range(len(svm.vectors)):
        symbol = room.symbols[a]
        vectors = svm.vectors[a, first:last]
        for s in range(len(vectors)):
            matches[s] += vectors[s] == symbol


@jit_inline
def sum_kernels(svm, group, room, n):
    """sums[c, d]: what the vectors of class c say in its machine with the d-th other class."""
    first = start = first_of(svm, group)
    for c in range(n):
        sums = room.sums[c]
        sums[:] = 0.0
        for s in range(start, svm.ends[group, c]):
            k = (GAMMA * room.matches[s - first] + R) ** 2
            for d in range(n - 1):
                sums[d] += k * svm.coefficients[s, d]
        start = svm.ends[group, c]
