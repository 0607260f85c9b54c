"""The features of an extra arc by where its words stand in the basic tree; see ``features``.

What an atom takes from a word is hashed once for each sentence.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc._jit import jit_helper, jit_inline, jit_noinline
from crossarc.features._hashing import mix
from crossarc.features.attributes import PADDING
from crossarc.scorers.linear._features import direction_of

MAX_CHILDREN = 8  # whose labels are looked at
MAX_STEPS = 4  # up or down that are told apart


class BasicTree(NamedTuple):
    """The tree that features of extra arcs look at, with a row for each node."""

    heads: NDArray[np.int64]
    labels: NDArray[np.int64]
    depths: NDArray[np.int64]
    first_child: NDArray[np.int64]  # from left to right; 0 for none
    next_child: NDArray[np.int64]  # of the same head
    values: NDArray[np.uint64]  # [node, a]: what atom a stands for at a node
    hashes: NDArray[np.uint64]  # [node, a]: the same if it is the only atom of a template


@jit_helper
def basic_tree(words, templates, heads, labels):
    """A copy of a tree, since the search may change heads."""
    size = len(heads)
    depths = np.full(size, -1)
    depths[0] = 0
    first_child, next_child = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for m in range(size - 1, 0, -1):
        next_child[m] = first_child[heads[m]]
        first_child[heads[m]] = m
        steps, a = 0, m
        while depths[a] < 0:
            steps += 1
            a = heads[a]
        depths[m] = depths[a] + steps
    values = atom_values(words, labels, templates.atoms)
    hashes = np.empty_like(values)
    for node in range(size):
        for a in range(values.shape[1]):
            hashes[node, a] = mix(values[node, a] + np.uint64(a + 1))
    return BasicTree(heads.copy(), labels.copy(), depths, first_child, next_child, values, hashes)


@jit_helper
def atom_values(words, labels, atoms):
    values = np.empty((len(labels), len(atoms)), np.uint64)
    for node in range(len(labels)):
        for a in range(len(atoms)):
            is_label = atoms[a, 2] == words.shape[1]
            values[node, a] = (
                label_number(labels, node) if is_label else words[node + PADDING + atoms[a, 1], atoms[a, 2]]
            )
    return values


@jit_inline
def label_number(labels, node):
    return np.uint64(labels[node] + 2)


@jit_inline
def max_path_features(templates):
    """How many features there can be."""
    return len(templates.bases) + MAX_CHILDREN


@jit_noinline
def path_features(basic, templates, h, m, out):
    """Hashes of the templates and then of the children of h; their number, 0 for an empty feature set."""
    n_templates = len(templates.bases)
    if n_templates == 0 and not templates.children:
        return 0
    path, steps = hash_path(basic, h, m)
    rival, count = hash_children(basic, path, h, m, out, n_templates)
    bases = (np.uint64(0), path, steps)
    nodes = (h, m, basic.heads[m], basic.first_child[h], basic.first_child[m])  # by the slots of ``features``
    for t in range(n_templates):
        first, second, x = templates.words[t, 0], templates.words[t, 1], np.uint64(0)
        if first >= 0:
            node = nodes[templates.atoms[first, 0]]
            x = basic.hashes[node, first]
            if second >= 0:
                other = basic.values[nodes[templates.atoms[second, 0]], second]
                x = mix(basic.values[node, first] ^ mix(other))
        if templates.rivals[t]:
            x = mix(x + rival)
        out[t] = mix((x ^ bases[templates.bases[t]]) + np.uint64(t))
    return count if templates.children else n_templates


@jit_inline
def hash_path(basic, h, m):
    """The labels on the way from m to h; and the number of its steps."""
    ups, downs = 0, 0
    up, down = np.uint64(1), np.uint64(2)
    a, b = m, h
    while a != b:
        if basic.depths[a] >= basic.depths[b]:
            up = mix(up ^ mix(label_number(basic.labels, a)))
            a = basic.heads[a]
            ups += 1
        else:
            down = mix(down ^ mix(label_number(basic.labels, b)))
            b = basic.heads[b]
            downs += 1
    direction = direction_of(h, m)
    steps = mix(np.uint64(16 * min(ups, MAX_STEPS) + min(downs, MAX_STEPS) + 1))
    return mix(up + mix(down)) + direction, steps + direction


@jit_inline
def hash_children(basic, path, h, m, out, count):
    """The path with the label of each child of h, from out[count] on: the number of the rival; where it ends."""
    rival, first = np.uint64(1), count
    child = basic.first_child[h]
    while child > 0:
        if child != m and basic.labels[child] == basic.labels[m]:
            rival = np.uint64(2)
        if count < first + MAX_CHILDREN:
            out[count] = mix(mix(path ^ mix(np.uint64(1000 + basic.labels[child]))) + np.uint64(first))
            count += 1
        child = basic.next_child[child]
    return rival, count
