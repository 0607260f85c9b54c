"""The best tree: Chu-Liu-Edmonds (MST05 §2.2.1) in dense O(n²) (Tarjan 1977), by growing paths (Gabow 1986).

A *node* is a word 1..n or a contracted cycle, numbered from n+1 on as they are found. ``heads[v]`` is the
best head of node v (a word, or 0), ``weights[v]`` the score of that arc. ``columns[v, h]`` is the best score
of an arc from h into v, reduced by the weights of the arcs that it replaces; -inf for h inside v. Contracting
a cycle is a maximum over the columns of its nodes; there are at most 2n - 1 nodes, so all of it together
takes O(n²).

A single root needs no big constant: the root is hidden until every word hangs below one node, the *source*,
that no word outside it can head. The root's arc enters the tree there, at the word where this costs the rest
least.
"""

import numpy as np

from crossarc._jit import copy_values, jit, jit_helper
from crossarc.trees._check import first_bad_score
from crossarc.trees._scores import score_of
from crossarc.trees._simd import LANES, filled, load_run, store_run, where_greater

UNSEEN, ON_PATH, FINISHED, CONTRACTED = 0, 1, 2, 3

# Added from place LANES - 1 - i on, this makes the score in lane i -inf or NaN, neither of which is ever better.
NOT_OWN_HEAD = np.full(2 * LANES - 1, -0.0)
NOT_OWN_HEAD[LANES - 1] = -np.inf


@jit
def best_arborescence(scores, single_root, heads):
    """The best tree in heads, and its score: -inf if there is no tree, NaN if a score is NaN or +inf."""
    size = len(scores)
    node_heads = np.empty(2 * size, np.int64)
    weights = np.empty(2 * size)
    if not greedy_heads_among_words(scores, node_heads, weights):
        return np.nan
    add_root(scores, node_heads, weights, heads)
    if not is_tree(heads, single_root, node_heads[size:]):
        if not single_root:
            hang_from_root(scores, heads, node_heads, weights)
        columns = np.empty((2 * size, size))
        members = np.empty(2 * size, np.int64)
        bounds = np.empty(size + 1, np.int64)
        contracted = contract_cycles(scores, single_root, node_heads, weights, columns, members, bounds)
        if contracted < 0:
            return -np.inf
        expand_cycles(contracted, node_heads, weights, columns, members, bounds)
        copy_values(node_heads[1:size], heads[1:])
    return score_of(scores, heads)


@jit
def best_arborescences(many_scores, count, single_root, heads, totals):
    """``best_arborescence`` of the first ``count`` arrays of a tuple; heads stand one behind the other."""
    start = 0
    for i in range(count):
        scores = many_scores[i]
        end = start + len(scores)
        totals[i] = best_arborescence(scores, single_root, heads[start:end])
        start = end


@jit
def greedy_heads_among_words(scores, heads, weights):
    """The best word to head each word, the lowest at ties; False if a score is NaN or +inf."""
    size = len(scores)
    # The search goes over the cache lines in leaps, so it is good that this reads them in order before.
    if first_bad_score(scores.reshape((size, size, 1))) >= 0:
        return False
    heads[0], weights[0] = -1, -np.inf
    if size > LANES:
        best_heads_simd(scores.reshape(size * size), size, heads, weights)
    else:
        best_heads_one_by_one(scores, heads, weights)
    return True


@jit_helper
def best_heads_one_by_one(scores, heads, weights):
    """Fill the words' heads and weights."""
    for m in range(1, len(scores)):
        head, weight = -1, -np.inf
        for h in range(1, len(scores)):
            if h != m and scores[h, m] > weight:
                head, weight = h, scores[h, m]
        heads[m], weights[m] = head, weight


@jit_helper
def best_heads_simd(flat, size, heads, weights):
    """``best_heads_one_by_one`` for LANES words at a time, which must not be more than there are."""
    lanes = weights[size : size + LANES]
    for m in range(1, size, LANES):
        # the last words come again with some before them, so that no lane is empty
        first = min(m, size - LANES)
        end = first + LANES
        best = filled(-1.0), filled(-np.inf)
        for h in range(1, first):
            best = better_heads(h, load_run(flat, h * size + first), best)
        for h in range(first, end):
            best = better_heads(h, load_run(flat, h * size + first) + load_run(NOT_OWN_HEAD, end - 1 - h), best)
        for h in range(end, size):
            best = better_heads(h, load_run(flat, h * size + first), best)
        head, weight = best
        store_run(weights, first, weight)
        store_run(lanes, 0, head)
        for lane in range(LANES):
            heads[first + lane] = int(lanes[lane])


@jit_helper
def better_heads(h, scores, best):
    """The best (heads, weights) of some words when h, with these scores, joins in."""
    head, weight = best
    better_head = where_greater(scores, weight, filled(float(h)), head)
    return better_head, where_greater(scores, weight, scores, weight)


@jit_helper
def add_root(scores, word_heads, weights, heads):
    """The best head of each word, now that the root may be one."""
    heads[0] = -1
    for m in range(1, len(scores)):
        root_is_best = scores[0, m] >= weights[m] and scores[0, m] > -np.inf
        heads[m] = 0 if root_is_best else word_heads[m]


@jit_helper
def is_tree(heads, single_root, seen_from):
    """Whether every word reaches the root, and, if asked for, exactly one word hangs from it."""
    size = len(heads)
    children_of_root = 0
    seen_from[:size] = 0
    for m in range(1, size):
        children_of_root += heads[m] == 0
        v = m
        while v > 0 and seen_from[v] == 0:
            seen_from[v] = m
            v = heads[v]
        if v < 0 or (v > 0 and seen_from[v] == m):
            return False
    return not single_root or size == 1 or children_of_root == 1


@jit_helper
def hang_from_root(scores, heads, node_heads, weights):
    """The arcs from the root that are the best of their words take part in the contraction."""
    for m in range(1, len(scores)):
        if heads[m] == 0:
            node_heads[m] = 0
            weights[m] = scores[0, m]


@jit_helper
def contract_cycles(scores, single_root, heads, weights, columns, members, bounds):
    """Grows paths from modifier to head, contracting each cycle; their number, or -1 if there is no tree.

    The nodes of cycle number i (which is node n+1+i) are members[bounds[i]:bounds[i + 1]].
    """
    size = len(scores)
    node_of = np.arange(size)
    state = np.zeros(2 * size, np.int8)
    path = np.empty(size, np.int64)
    first_head = 1 if single_root else 0
    source = -1
    contracted = 0
    bounds[0] = 0
    state[0] = FINISHED
    for m in range(1, size):
        v = node_of[m]
        depth = 0
        while state[v] != FINISHED:
            if state[v] == UNSEEN:
                state[v] = ON_PATH
                path[depth] = v
                depth += 1
            else:
                start = depth - 1
                while path[start] != v:
                    start -= 1
                v = size + contracted
                bounds[contracted + 1] = bounds[contracted] + depth - start
                cycle = members[bounds[contracted] : bounds[contracted + 1]]
                copy_values(path[start:depth], cycle)
                contracted += 1
                merge_columns(scores, cycle, weights, columns, columns[v])
                take_into(v, cycle, node_of, state, columns[v])
                heads[v] = best_head(columns[v], first_head)
                weights[v] = columns[v, heads[v]] if heads[v] >= 0 else -np.inf
                state[v] = ON_PATH
                path[start] = v
                depth = start + 1
            if heads[v] >= 0:
                v = node_of[heads[v]]
            elif single_root and source < 0:
                source = v
                heads[v] = 0
                weights[v] = scores[0, v] if v < size else columns[v, 0]
                v = 0
            else:
                return -1
        for i in range(depth):
            state[path[i]] = FINISHED
    if source >= 0 and weights[source] == -np.inf:
        return -1
    return contracted


@jit_helper
def merge_columns(scores, cycle, weights, columns, merged):
    """merged[h]: what the best arc from h into the cycle gains over the arc of the cycle that it replaces."""
    size = len(merged)
    merged[:] = -np.inf
    for v in cycle:
        column = columns[v]
        if v < size:
            # not column[:] = scores[:, v], which looks first whether they overlap
            for h in range(size):
                column[h] = scores[h, v]
            column[v] = -np.inf
        weight = weights[v]
        for h in range(size):
            merged[h] = np.maximum(merged[h], column[h] - weight)


@jit_helper
def take_into(node, cycle, node_of, state, column):
    """The words of the cycle belong to its node, and cannot head it."""
    for v in cycle:
        state[v] = CONTRACTED
    for h in range(1, len(node_of)):
        if state[node_of[h]] == CONTRACTED:
            node_of[h] = node
            column[h] = -np.inf


@jit_helper
def best_head(column, first_head):
    """The lowest head that reaches the column's maximum; -1 if all are -inf."""
    best = -1
    weight = -np.inf
    for h in range(first_head, len(column)):
        if column[h] > weight:
            best = h
            weight = column[h]
    return best


@jit_helper
def expand_cycles(contracted, heads, weights, columns, members, bounds):
    """From the last cycle to the first: the arc into a cycle replaces one of the cycle's arcs."""
    size = columns.shape[1]
    for i in range(contracted - 1, -1, -1):
        head = heads[size + i]
        heads[entered_member(head, members[bounds[i] : bounds[i + 1]], weights, columns)] = head


@jit_helper
def entered_member(head, cycle, weights, columns):
    """The node of the cycle where an arc from head enters it best."""
    entered = cycle[0]
    for v in cycle:
        if columns[v, head] - weights[v] > columns[entered, head] - weights[entered]:
            entered = v
    return entered
