"""Trees near a fractional solution, and better ones that differ in the arc or the label of one word.

What a change gains is the difference of what the parts around three heads score: the old one, the new one and the word
itself.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc._jit import copy_values, jit, jit_helper, jit_inline, jit_macro, jit_noinline
from crossarc.ilp._indicators import which_cross
from crossarc.trees._chu_liu_edmonds import best_arborescence
from crossarc.trees._shape import nonprojective_arcs

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

FORBIDDEN = 1e6  # what a part costs that is forbidden, and a hard rule that is broken: differences must be numbers


class Tables(NamedTuple):
    """The scores of pairs of arcs, found by the arcs: those of one head in a table over the arcs out of it."""

    numbers: Indices  # [h, m]: of the arc; -1 if it is no candidate
    place: Indices  # [a]: which of the arcs out of its head it is
    place_into: Indices  # [a]: which of the arcs into its modifier
    n_out: Indices  # [h]
    begins: Indices  # [h, (siblings, next siblings, grandparents)]: where its tables begin
    siblings: Floats  # [place, place]
    next_siblings: Floats  # [place + 1 of the inner one, or 0, place]
    grandparents: Floats  # [place_into, place]


class Ruled(NamedTuple):
    """What a tree chooses from, and what rules say about it."""

    starts: Indices  # [a]: the choices of the arc, which differ in their label, are those from here on
    columns: Indices  # [c]: the variable of a choice; that of the arc itself if the label is no matter
    scores: Floats  # [c]: of the label
    entries: Indices  # [v]: the rows that have the variable begin here
    rows: Indices  # of the entries
    coefficients: Floats
    lower: Floats  # [r]
    upper: Floats
    weights: Floats  # what a row costs for each 1 by which it is broken
    limits: Indices  # [i, (whether crossing, most)]: of arcs that are not projective, or cross others
    limit_weights: Floats


class State(NamedTuple):
    """A tree, and how far each row is filled by it."""

    heads: Indices
    arcs: Indices  # [m]: the number of the arc into m
    chosen: Indices  # [m]: its choice
    filled: Floats  # [r]
    marked: NDArray[np.bool_]  # room for marks


@jit_macro
def tables_of(parts):
    size, n_arcs = parts.size, len(parts.heads)
    numbers = np.full((size, size), -1)
    n_out, n_into = np.zeros(size, np.int64), np.zeros(size, np.int64)
    place, place_into = np.empty(n_arcs, np.int64), np.empty(n_arcs, np.int64)
    for a in range(n_arcs):
        h, m = parts.heads[a], parts.modifiers[a]
        numbers[h, m], place[a], place_into[a] = a, n_out[h], n_into[m]
        n_out[h] += 1
        n_into[m] += 1
    begins = np.zeros((size + 1, 3), np.int64)
    for h in range(size):
        begins[h + 1, 0] = begins[h, 0] + n_out[h] * n_out[h]
        begins[h + 1, 1] = begins[h, 1] + n_out[h] * (n_out[h] + 1)
        begins[h + 1, 2] = begins[h, 2] + n_out[h] * n_into[h]
    siblings = np.zeros(begins[size, 0] if len(parts.siblings.first) > 0 else 0)
    following = np.full(begins[size, 1] if len(parts.next_siblings.first) > 0 else 0, -FORBIDDEN)
    grandparents = np.full(begins[size, 2] if len(parts.grandparents.first) > 0 else 0, -FORBIDDEN)
    for i in range(len(parts.siblings.first)):
        a, b = parts.siblings.first[i], parts.siblings.second[i]
        h = parts.heads[a]
        siblings[begins[h, 0] + place[a] * n_out[h] + place[b]] = max(parts.siblings.scores[i], -FORBIDDEN)
        siblings[begins[h, 0] + place[b] * n_out[h] + place[a]] = max(parts.siblings.scores[i], -FORBIDDEN)
    for i in range(len(parts.next_siblings.first)):
        a, b = parts.next_siblings.first[i], parts.next_siblings.second[i]
        h, row = parts.heads[b], 0 if a < 0 else place[a] + 1
        following[begins[h, 1] + row * n_out[h] + place[b]] = max(parts.next_siblings.scores[i], -FORBIDDEN)
    for i in range(len(parts.grandparents.first)):
        a, b = parts.grandparents.first[i], parts.grandparents.second[i]
        h = parts.heads[b]
        grandparents[begins[h, 2] + place_into[a] * n_out[h] + place[b]] = max(parts.grandparents.scores[i], -FORBIDDEN)
    return Tables(numbers, place, place_into, n_out, begins, siblings, following, grandparents)


@jit_noinline
def score_of_head(parts, tables, state, h):
    """The scores of all parts that have more than one arc out of h, or one of them and the arc into h."""
    total = 0.0
    for side in range(2):
        total += score_of_side(parts, tables, state, h, side)
    if parts.valencies.size > 0:
        most, n_sides, left, right = parts.valencies.shape[2] - 1, parts.valencies.shape[1], 0, 0
        for m in range(1, parts.size):
            left += m < h and state.heads[m] == h
            right += m > h and state.heads[m] == h
        if n_sides == 2:
            total += max(parts.valencies[h, 0, min(left, most)], -FORBIDDEN)
            total += max(parts.valencies[h, 1, min(right, most)], -FORBIDDEN)
        else:
            total += max(parts.valencies[h, 0, min(left + right, most)], -FORBIDDEN)
    if len(tables.siblings) > 0:
        for m in range(1, parts.size):
            if state.heads[m] == h:
                row = tables.begins[h, 0] + tables.place[state.arcs[m]] * tables.n_out[h]
                for s in range(1, m):
                    if state.heads[s] == h:
                        total += tables.siblings[row + tables.place[state.arcs[s]]]
    return total


@jit_inline
def score_of_side(parts, tables, state, h, side):
    """Next siblings on one side of h, from the inside to the outside, and grandparents."""
    total, n_out, row = 0.0, tables.n_out[h], 0
    grand = -1
    if h > 0 and len(tables.grandparents) > 0:
        grand = tables.begins[h, 2] + tables.place_into[state.arcs[h]] * n_out
    step = 1 if side == 1 else -1
    m = h + step
    while 0 < m < parts.size:
        if state.heads[m] == h:
            place = tables.place[state.arcs[m]]
            if len(tables.next_siblings) > 0:
                total += tables.next_siblings[tables.begins[h, 1] + row * n_out + place]
            if grand >= 0:
                total += tables.grandparents[grand + place]
            row = place + 1
        m += step
    return total


@jit_helper
def sum_of_marked(state, scores):
    """The sum of the scores of the arcs that are marked, and how many there are."""
    total, count = 0.0, 0
    for m in range(1, len(state.heads)):
        if state.marked[m]:
            total += max(scores[state.arcs[m]], -FORBIDDEN)
            count += 1
    return total, count


@jit_helper
def score_of_marks(parts, ruled, state):
    """Of arcs that are not projective or cross others, less what it costs if there are too many."""
    total, count, n_crossing = 0.0, 0, 0
    if len(parts.nonprojective) > 0:
        nonprojective_arcs(state.heads, state.marked)
        total, count = sum_of_marked(state, parts.nonprojective)
    if len(parts.crossing) > 0:
        which_cross(state.heads, state.marked)
        crossing, n_crossing = sum_of_marked(state, parts.crossing)
        total += crossing
    for i in range(len(ruled.limits)):
        above = (n_crossing if ruled.limits[i, 0] == 1 else count) - ruled.limits[i, 1]
        total -= ruled.limit_weights[i] * max(above, 0)
    return total


@jit_inline
def cost(ruled, filled, r):
    """What it costs that a row is filled so far."""
    return ruled.weights[r] * max(max(ruled.lower[r] - filled[r], filled[r] - ruled.upper[r]), 0.0)


@jit_noinline
def fill(ruled, filled, arc, choice, times):
    """Add an arc with its label to the rows, or take it away; how much less they cost then."""
    gained = 0.0
    for i in range(2):
        column = arc if i == 0 else ruled.columns[choice]
        if i == 1 and column == arc:
            break
        for e in range(ruled.entries[column], ruled.entries[column + 1]):
            r = ruled.rows[e]
            gained += cost(ruled, filled, r)
            filled[r] += times * ruled.coefficients[e]
            gained -= cost(ruled, filled, r)
    return gained


@jit_noinline
def best_choice(ruled, filled, arc):
    """The best label of an arc that is not in the tree yet: (its choice, what it gains); -1 if it has none."""
    best, highest = -1, -np.inf
    for choice in range(ruled.starts[arc], ruled.starts[arc + 1]):
        gained = ruled.scores[choice] + fill(ruled, filled, arc, choice, 1.0)
        fill(ruled, filled, arc, choice, -1.0)
        if gained > highest:
            best, highest = choice, gained
    return best, highest


@jit_macro
def begin(parts, tables, ruled, state):
    """Bring all in line with the heads; the score of the tree, -inf if it has an arc that is no candidate."""
    for r in range(len(state.filled)):
        state.filled[r] = 0.0
    total = 0.0
    for r in range(len(state.filled)):
        total -= cost(ruled, state.filled, r)
    for m in range(1, parts.size):
        arc = tables.numbers[state.heads[m], m]
        choice, gained = best_choice(ruled, state.filled, arc) if arc >= 0 else (-1, -np.inf)
        state.arcs[m], state.chosen[m] = arc, choice
        if choice < 0:
            total = -np.inf
            break
        total += parts.arcs[arc] + gained
        fill(ruled, state.filled, arc, choice, 1.0)
    if total > -np.inf:
        for h in range(parts.size):
            total += score_of_head(parts, tables, state, h)
        total += score_of_marks(parts, ruled, state)
    return total


@jit_noinline
def score_around(parts, tables, state, old, new, m):
    """The scores of what changes if m hangs from another head."""
    total = score_of_head(parts, tables, state, old) + score_of_head(parts, tables, state, new)
    return total + score_of_head(parts, tables, state, m)


@jit_macro
def climb(parts, tables, ruled, state, arcs, single_root):
    """Take one of the arcs after the other into the tree, as long as that makes it better; its score."""
    score = begin(parts, tables, ruled, state)
    counts_marks = len(parts.nonprojective) > 0 or len(parts.crossing) > 0
    marks = score_of_marks(parts, ruled, state) if counts_marks and score > -np.inf else 0.0
    since = len(arcs) if score == -np.inf else 0  # arcs that were tried without success
    while since < len(arcs):
        for i in range(len(arcs)):
            a = arcs[i]
            since += 1
            m, h = parts.modifiers[a], parts.heads[a]
            old, old_arc, old_choice = state.heads[m], state.arcs[m], state.chosen[m]
            if h != old and not may_change(state.heads, m, h, single_root):
                continue
            gained = fill(ruled, state.filled, old_arc, old_choice, -1.0) - ruled.scores[old_choice]
            choice, more = best_choice(ruled, state.filled, a)
            gained += more + parts.arcs[a] - parts.arcs[old_arc]
            new_marks = marks
            if choice >= 0 and h != old:
                gained -= score_around(parts, tables, state, old, h, m)
                state.heads[m], state.arcs[m] = h, a
                gained += score_around(parts, tables, state, old, h, m)
                if counts_marks:
                    new_marks = score_of_marks(parts, ruled, state)
                    gained += new_marks - marks
            if choice >= 0 and gained > 1e-9:
                score, since, marks = score + gained, 0, new_marks
            else:
                state.heads[m], state.arcs[m], a, choice = old, old_arc, old_arc, old_choice
            state.chosen[m] = choice
            fill(ruled, state.filled, a, choice, 1.0)
    return score


@jit
def best_of_nearest(parts, ruled, many_values, arcs, single_root, heads, chosen):
    """The best tree that is found from the maximal arborescences over values of the arcs; its score.

    Each of them is improved by some arcs; the best one by all. Without values, the tree of ``heads`` is improved.
    """
    tables, size = tables_of(parts), parts.size
    every = np.arange(len(parts.arcs))
    weights, marked = np.full((size, size), -np.inf), np.zeros(size, np.bool_)
    state = State(heads.copy(), np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(len(ruled.lower)), marked)
    best = -np.inf
    for k in range(len(many_values) + 1):
        is_last = k == len(many_values)
        if is_last:
            copy_values(heads, state.heads)
            if size > 1 and heads[1] < 0:
                return -np.inf
        else:
            for a in range(len(every)):
                weights[parts.heads[a], parts.modifiers[a]] = many_values[k, a]
            if best_arborescence(weights, single_root, state.heads) == -np.inf:
                continue
        score = climb(parts, tables, ruled, state, every if is_last else arcs, single_root)
        if is_last or score > best:
            best = score
            copy_values(state.heads, heads)
            copy_values(state.chosen, chosen)
    return best


@jit_noinline
def may_change(heads, m, h, single_root):
    """Whether m may hang from h instead: no cycle, and no second child of the root where it has one only."""
    if single_root and (h == 0 or heads[m] == 0):
        return False
    while h > 0 and h != m:
        h = heads[h]
    return h != m
