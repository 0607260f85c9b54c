"""The features of an extra arc by where its words stand in the basic tree; see ``features``."""

import numpy as np

from crossarc._jit import jit_inline, jit_noinline
from crossarc.features._hashing import mix
from crossarc.features.attributes import PADDING
from crossarc.scorers.linear._features import direction_of

MAX_CHILDREN = 8  # whose labels are looked at
MAX_STEPS = 4  # up or down that are told apart


@jit_inline
def max_path_features(templates):
    """How many features there can be, with room for the values of the atoms behind them."""
    return len(templates.bases) + MAX_CHILDREN + len(templates.atoms)


@jit_noinline
def path_features(words, basic, templates, h, m, out):
    """Hashes of the templates and then of the children of h; their number, 0 for an empty feature set."""
    n_templates = len(templates.bases)
    if n_templates == 0 and not templates.children:
        return 0
    path, steps = hash_path(basic, h, m)
    rival, count = hash_children(basic, path, h, m, out, n_templates)
    values = out[n_templates + MAX_CHILDREN :]
    find_values(words, basic, templates.atoms, h, m, values)
    for t in range(n_templates):
        first, second, x = templates.words[t, 0], templates.words[t, 1], np.uint64(0)
        if second >= 0:
            x = mix(values[first] ^ mix(values[second]))
        elif first >= 0:
            x = mix(values[first] + np.uint64(first + 1))
        if templates.rivals[t]:
            x = mix(x + rival)
        if templates.bases[t] > 0:
            x ^= path if templates.bases[t] == 1 else steps
        out[t] = mix(x + np.uint64(t))
    return count if templates.children else n_templates


@jit_inline
def hash_path(basic, h, m):
    """The labels on the way from m to h; and the number of its steps."""
    ups, downs = 0, 0
    up, down = np.uint64(1), np.uint64(2)
    a, b = m, h
    while a != b:
        if basic.depths[a] >= basic.depths[b]:
            up = mix(up ^ mix(label_number(basic, a)))
            a = basic.heads[a]
            ups += 1
        else:
            down = mix(down ^ mix(label_number(basic, b)))
            b = basic.heads[b]
            downs += 1
    direction = direction_of(h, m)
    steps = mix(np.uint64(16 * min(ups, MAX_STEPS) + min(downs, MAX_STEPS) + 1))
    return mix(up + mix(down)) + direction, steps + direction


@jit_inline
def label_number(basic, node):
    return np.uint64(basic.labels[node] + 2)


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


@jit_inline
def find_values(words, basic, atoms, h, m, values):
    """The attribute that each atom stands for, by the slots of ``features``."""
    for a in range(len(atoms)):
        slot, node = atoms[a, 0], h
        if slot == 1:
            node = m
        elif slot == 2:
            node = basic.heads[m]
        elif slot > 2:
            node = basic.first_child[h if slot == 3 else m]
        is_label = atoms[a, 2] == words.shape[1]
        values[a] = label_number(basic, node) if is_label else words[node + PADDING + atoms[a, 1], atoms[a, 2]]
