"""The k best trees: Camerini, Fratta and Maffioli (1980), O(kn²); labels are parallel arcs (MS07 §3).

The trees that contain the arcs Y and none of the arcs Z are a *subset*, with a best tree A. The second best
tree of a subset differs from A, at some stage of the contraction, in one arc only: the best swap over the
nodes of all stages gives an arc e of A to ban. That splits the rest of the subset in two: the trees without e
(Y, Z + e), whose best tree becomes a *candidate*, and those with it (Y + e, Z), where A, already known, stays
the best. The next tree in rank is the best candidate of all; each costs three contractions.

The root of single-rooted trees stays hidden, as in ``_chu_liu_edmonds``: only another arc of the root swaps
with its arc.
"""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from crossarc._jit import jit, jit_helper
from crossarc.trees._chu_liu_edmonds import (
    add_root,
    contract_cycles,
    entered_member,
    expand_cycles,
    greedy_heads_among_words,
    hang_from_root,
)
from crossarc.trees._scores import best_labels

# Not a plain number: Numba would compile what is called with a constant once more.
NONE = np.int64(-1)


class Candidates(NamedTuple):
    """The best trees of subsets, one row for each; and the subsets themselves."""

    heads: np.ndarray  # [i, m]: the tree
    labels: np.ndarray  # [i, m]
    totals: np.ndarray  # [i]: its score
    swaps: np.ndarray  # [i]: the word whose arc its best swap bans; -1: there is no other tree
    required: np.ndarray  # [i, m]: whether the tree's arc into m is in Y
    banned: np.ndarray  # [i]: the word whose arc in the parent's tree is in Z, beside the Z of the parent; -1: none
    parents: np.ndarray  # [i]: the candidate that this one was split from; -1: none


class Problem(NamedTuple):
    """The scores of a sentence, and what is left of them in a subset."""

    scores: np.ndarray  # [h, m, l]
    all_arcs: np.ndarray  # [h, m]: the highest score of any label
    all_labels: np.ndarray  # [h, m]: that label
    arcs: np.ndarray  # [h, m]: the same in the subset
    labels: np.ndarray  # [h, m]
    is_banned: np.ndarray  # [h, m, l]: whether an arc is in Z
    single_root: bool


class Stages(NamedTuple):
    """What the contraction leaves behind (see _chu_liu_edmonds)."""

    chosen: np.ndarray  # [v]: the best head of each node
    heads: np.ndarray  # [v]: that in the tree: another one where an arc enters a cycle
    weights: np.ndarray  # [v]
    columns: np.ndarray  # [v, h]
    members: np.ndarray  # the nodes of the cycles, one cycle behind the other
    bounds: np.ndarray  # [i]: where those of cycle i start


@jit
def k_best_arborescences(scores, k, single_root):
    """The number of trees found, and their heads, labels and totals, best first, from scores[h, m, l]."""
    size = len(scores)
    problem = new_problem(scores, single_root)
    stages = new_stages(size)
    candidates = new_candidates(size)
    ranking = [(0.0, 0)]
    ranking.clear()
    ranked = np.empty(16, np.int64)
    found = 0
    count = branch(problem, stages, candidates, ranking, np.int64(0), NONE, NONE, np.zeros(size, np.bool_))
    while ranking and found < k:
        best = heappop(ranking)[1]
        if found == len(ranked):
            ranked = with_more_room(ranked)
        ranked[found] = best
        found += 1
        if count + 2 > len(candidates.totals):
            candidates = candidates_with_more_room(candidates)
        required = candidates.required[best]
        if candidates.swaps[best] >= 0:
            count = branch(problem, stages, candidates, ranking, count, best, candidates.swaps[best], required)
        parent = candidates.parents[best]
        if parent >= 0:
            required = required.copy()
            required[candidates.banned[best]] = True
            banned = next_swap(problem, stages, candidates, parent, required)
            if banned >= 0:
                count = branch(problem, stages, candidates, ranking, count, parent, banned, required)
    ranked = ranked[:found]
    return found, candidates.heads[ranked], candidates.labels[ranked], candidates.totals[ranked]


@jit_helper
def new_problem(scores, single_root):
    size = len(scores)
    arcs = np.empty((size, size))
    labels = np.empty((size, size), np.int64)
    best_labels(scores, arcs, labels)
    arcs[:, 0] = -np.inf
    for m in range(size):
        arcs[m, m] = -np.inf
    is_banned = np.empty(scores.shape, np.bool_)
    return Problem(scores, arcs, labels, arcs.copy(), labels.copy(), is_banned, single_root)


@jit_helper
def new_stages(size):
    return Stages(
        np.empty(2 * size, np.int64),
        np.empty(2 * size, np.int64),
        np.empty(2 * size),
        np.empty((2 * size, size)),
        np.empty(2 * size, np.int64),
        np.empty(size + 1, np.int64),
    )


@jit_helper
def new_candidates(size):
    room = 32
    return Candidates(
        np.empty((room, size), np.int64),
        np.empty((room, size), np.int64),
        np.empty(room),
        np.empty(room, np.int64),
        np.empty((room, size), np.bool_),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
    )


@jit_helper
def with_more_room(rows):
    return np.concatenate((rows, np.empty_like(rows)))


@jit_helper
def candidates_with_more_room(candidates):
    return Candidates(
        with_more_room(candidates.heads),
        with_more_room(candidates.labels),
        with_more_room(candidates.totals),
        with_more_room(candidates.swaps),
        with_more_room(candidates.required),
        with_more_room(candidates.banned),
        with_more_room(candidates.parents),
    )


@jit_helper
def branch(problem, stages, candidates, ranking, new, parent, banned, required):
    """Adds the best tree without the parent's arc into `banned` as candidate `new`; their number then."""
    restrict(problem, candidates, parent, banned, required)
    contracted = solve(problem, stages)
    if contracted < 0:
        return new
    total = 0.0
    candidates.heads[new, 0] = candidates.labels[new, 0] = -1
    for m in range(1, len(required)):
        head = stages.heads[m]
        label = problem.labels[head, m]
        candidates.heads[new, m] = head
        candidates.labels[new, m] = label
        total += problem.scores[head, m, label]
    candidates.totals[new] = total
    candidates.swaps[new] = best_swap(problem, stages, contracted, candidates.labels[new], required)
    candidates.required[new] = required
    candidates.banned[new] = banned
    candidates.parents[new] = parent
    heappush(ranking, (-total, new))
    return new + 1


@jit_helper
def next_swap(problem, stages, candidates, tree, required):
    """The word whose arc must go for the second best tree of a tree's subset, with more words required."""
    restrict(problem, candidates, tree, NONE, required)
    contracted = solve(problem, stages)
    heads, labels = candidates.heads[tree], candidates.labels[tree]
    for m in range(1, len(required)):
        # Another tree just as good was found: it must stay when this one goes.
        if stages.heads[m] != heads[m] or problem.labels[heads[m], m] != labels[m]:
            return m
    return best_swap(problem, stages, contracted, labels, required)


@jit_helper
def restrict(problem, candidates, tree, banned, required):
    """Leaves of the problem the subset of a tree without its arc into `banned`, with more words required."""
    problem.arcs[:] = problem.all_arcs
    problem.labels[:] = problem.all_labels
    problem.is_banned[:] = False
    candidate = tree
    while candidate >= 0:
        if banned >= 0:
            ban(problem, candidates.heads[candidate, banned], banned, candidates.labels[candidate, banned])
        banned = candidates.banned[candidate]
        candidate = candidates.parents[candidate]
    for m in range(1, len(required)):
        if required[m]:
            head, label = candidates.heads[tree, m], candidates.labels[tree, m]
            problem.arcs[:, m] = -np.inf
            problem.arcs[head, m] = problem.scores[head, m, label]
            problem.labels[head, m] = label


@jit_helper
def ban(problem, head, modifier, label):
    """Takes one label from an arc, which then has the best of its other labels."""
    problem.is_banned[head, modifier, label] = True
    other = best_label_but(problem, head, modifier, NONE)
    problem.labels[head, modifier] = other
    problem.arcs[head, modifier] = problem.scores[head, modifier, other] if other >= 0 else -np.inf


@jit_helper
def best_label_but(problem, head, modifier, excluded):
    """The best label of an arc that is neither banned nor excluded; -1 if there is none."""
    best = -1
    for label in range(problem.scores.shape[2]):
        if label == excluded or problem.is_banned[head, modifier, label]:
            continue
        if best < 0 or problem.scores[head, modifier, label] > problem.scores[head, modifier, best]:
            best = label
    return best


@jit_helper
def solve(problem, stages):
    """Best tree in stages.heads[1:n+1]; the number of contracted cycles, -1 if there is no tree."""
    arcs, heads = problem.arcs, stages.heads
    greedy_heads_among_words(arcs, heads, stages.weights)
    if not problem.single_root:
        add_root(arcs, heads, stages.weights, stages.chosen[: len(arcs)])
        hang_from_root(arcs, stages.chosen, heads, stages.weights)
    contracted = contract_cycles(
        arcs, problem.single_root, heads, stages.weights, stages.columns, stages.members, stages.bounds
    )
    stages.chosen[:] = heads
    if contracted > 0:
        expand_cycles(contracted, heads, stages.weights, stages.columns, stages.members, stages.bounds)
    return contracted


@jit_helper
def best_swap(problem, stages, contracted, labels, required):
    """The word, not a required one, whose arc is swapped with least loss at any stage; -1 if none can be.

    At each stage, the other arc into the node must not come from below it: that would close a cycle.
    """
    size = len(required)
    order = heads_first(stages.heads[:size])
    below = np.empty(size, np.bool_)
    swapped, least_loss = -1, np.inf
    for v in range(1, size + contracted):
        head = stages.heads[v]
        if head != stages.chosen[v]:
            continue
        word, loss = swap_within(stages, v, head, size)
        if required[word]:
            continue
        label = best_label_but(problem, head, word, labels[word])
        if label >= 0:
            loss = min(loss, problem.scores[head, word, labels[word]] - problem.scores[head, word, label])
        mark_below(word, stages.heads, order, below)
        for h in range(1 if problem.single_root else 0, size):
            if h != head and not below[h]:
                other = stages.columns[v, h] if v >= size else problem.arcs[h, v]
                loss = min(loss, stages.weights[v] - other)
        if loss < least_loss:
            swapped, least_loss = word, loss
    return swapped


@jit_helper
def swap_within(stages, v, head, size):
    """The word of node v that the arc from head enters, and the least loss if it enters v at another word."""
    least_loss = np.inf
    while v >= size:
        cycle = stages.members[stages.bounds[v - size] : stages.bounds[v - size + 1]]
        entered = entered_member(head, cycle, stages.weights, stages.columns)
        gain = stages.columns[entered, head] - stages.weights[entered]
        for u in cycle:
            if u != entered:
                least_loss = min(least_loss, gain - (stages.columns[u, head] - stages.weights[u]))
        v = entered
    return v, least_loss


@jit_helper
def heads_first(heads):
    """The words of a tree, every word after its head."""
    size = len(heads)
    order = np.empty(size - 1, np.int64)
    placed = np.zeros(size, np.bool_)
    placed[0] = True
    end = 0
    for m in range(1, size):
        start = end
        while not placed[m]:
            placed[m] = True
            order[end] = m
            end += 1
            m = heads[m]
        order[start:end] = order[start:end][::-1].copy()
    return order


@jit_helper
def mark_below(word, heads, order, below):
    """below[m]: whether m is the word or descends from it."""
    below[0] = False
    for m in order:
        below[m] = m == word or below[heads[m]]
