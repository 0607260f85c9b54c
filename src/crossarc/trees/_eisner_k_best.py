"""The k best projective trees: Eisner's items with k-best lists (Huang and Chiang 2005, Algorithm 2).

The items are those of Eisner's algorithm, each made from two others:

- arc(h, m): one way for each label, the best label first;
- halves(i, j): complete(i, r) and complete(j, r + 1), for i <= r < j;
- incomplete(h, m): halves(h, m) and arc(h, m);
- complete(h, e): incomplete(h, m) and complete(m, e), for m from h's neighbour to e.

Every tree is made in exactly one way: the last modifier of h on one side and the place where two halves meet
are properties of the tree. So lists without duplicates give lists without duplicates. The merge of an item's
splits takes O(n + k log(n + k)) time, so that the whole takes O(n³ + n² k log(n + k)).
"""

import heapq
from typing import NamedTuple

import numpy as np

from crossarc._jit import jit, jit_helper

ARC, HALVES, INCOMPLETE, COMPLETE = range(4)


class Lists(NamedTuple):
    """The k best ways to make each item, one list behind the other."""

    start: np.ndarray  # [item]: where its list starts
    counts: np.ndarray  # [item]: how long it is
    totals: np.ndarray  # [place]: the score of a way
    first: np.ndarray  # [place]: the place of the first of the two ways that it joins; for an arc, its label
    second: np.ndarray  # [place]: the place of the second one


@jit
def k_best_projective(scores, k, single_root):
    """The number of trees found (k, or all there are), and their heads, labels and totals, best first."""
    n = scores.shape[0] - 1
    # no more trees fit in memory, and the product of two such numbers fits in 64 bits
    counts = count_derivations(scores, min(k, 2**31), single_root)
    start = np.zeros(len(counts) + 1, dtype=np.int64)
    for i in range(len(counts)):
        start[i + 1] = start[i] + counts[i]
    places = np.empty((2, start[-1]), dtype=np.int64)
    lists = Lists(start, counts, np.empty(start[-1]), places[0], places[1])
    fill_lists(scores, lists)
    goal = item_of(COMPLETE, 0, n, n)
    count = counts[goal]
    heads = np.empty((count, n + 1), dtype=np.int64)
    labels = np.empty((count, n + 1), dtype=np.int64)
    totals = np.zeros(count)
    for rank in range(count):
        read_tree(lists, start[goal] + rank, heads[rank], labels[rank])
        for m in range(1, n + 1):
            totals[rank] += scores[heads[rank, m], m, labels[rank, m]]
    # the chart adds up in another order than the sums over m: what rounding disturbs is put in order again
    sort_by_total(totals, heads, labels)
    return count, heads, labels, totals


@jit_helper
def item_of(kind, a, b, n):
    """The number of an item."""
    return (kind * (n + 1) + a) * (n + 1) + b


@jit_helper
def splits_of(kind, a, b, n, firsts, seconds):
    """Writes the pairs of items that make an item (not an arc) of two different nodes; their number."""
    if kind == INCOMPLETE:
        firsts[0] = item_of(HALVES, min(a, b), max(a, b), n)
        seconds[0] = item_of(ARC, a, b, n)
        return 1
    low, high = min(a, b), max(a, b)
    for split in range(high - low):
        r = low + split
        if kind == HALVES:
            firsts[split] = item_of(COMPLETE, a, r, n)
            seconds[split] = item_of(COMPLETE, b, r + 1, n)
        else:
            m = r + 1 if a < b else r
            firsts[split] = item_of(INCOMPLETE, a, m, n)
            seconds[split] = item_of(COMPLETE, m, b, n)
    return high - low


@jit_helper
def count_derivations(scores, k, single_root):
    """In how many ways each item can be made with arcs above -inf, or k if there are more."""
    n = scores.shape[0] - 1
    counts = np.zeros(4 * (n + 1) * (n + 1), dtype=np.int64)
    firsts, seconds = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    for i in range(n, -1, -1):
        counts[item_of(COMPLETE, i, i, n)] = 1
        for j in range(i + 1, n + 1):
            for h, m in ((i, j), (j, i)):
                if m > 0:
                    counts[item_of(ARC, h, m, n)] = min(k, np.sum(scores[h, m] > -np.inf))
            for kind, a, b in items_between(i, j):
                if kind == COMPLETE and a == 0 and b < n and single_root:
                    continue  # a second modifier of the root finds nothing to join
                ways = 0
                for split in range(splits_of(kind, a, b, n, firsts, seconds)):
                    ways = min(k, ways + counts[firsts[split]] * counts[seconds[split]])
                counts[item_of(kind, a, b, n)] = ways
    return counts


@jit_helper
def items_between(i, j):
    """The items over i..j, i < j, those that others are made of first."""
    return (HALVES, i, j), (INCOMPLETE, i, j), (INCOMPLETE, j, i), (COMPLETE, i, j), (COMPLETE, j, i)


@jit_helper
def fill_lists(scores, lists):
    """The best derivations of each item, best first."""
    n = scores.shape[0] - 1
    firsts, seconds = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    for i in range(n, -1, -1):
        lists.totals[lists.start[item_of(COMPLETE, i, i, n)]] = 0.0
        for j in range(i + 1, n + 1):
            list_labels(scores[i, j], item_of(ARC, i, j, n), lists)
            list_labels(scores[j, i], item_of(ARC, j, i, n), lists)
            for kind, a, b in items_between(i, j):
                n_splits = splits_of(kind, a, b, n, firsts, seconds)
                merge_splits(item_of(kind, a, b, n), firsts[:n_splits], seconds[:n_splits], lists)


@jit_helper
def list_labels(label_scores, arc, lists):
    """The best labels of an arc by insertion: the lowest label first at ties."""
    start, end = lists.start[arc], lists.start[arc + 1]
    filled = start
    for label in range(len(label_scores)):
        score = label_scores[label]
        place = filled
        while place > start and lists.totals[place - 1] < score:
            place -= 1
        if place == end or score == -np.inf:
            continue
        filled = min(filled + 1, end)
        for worse in range(filled - 1, place, -1):
            lists.totals[worse] = lists.totals[worse - 1]
            lists.first[worse] = lists.first[worse - 1]
        lists.totals[place] = score
        lists.first[place] = label


@jit_helper
def merge_splits(item, firsts, seconds, lists):
    """The best sums of a place in a split's first list and one in its second list, over all splits."""
    frontier = [
        step(split, lists.start[firsts[split]], lists.start[seconds[split]], lists)
        for split in range(len(firsts))
        if lists.counts[firsts[split]] > 0 and lists.counts[seconds[split]] > 0
    ]
    heapq.heapify(frontier)
    for place in range(lists.start[item], lists.start[item + 1]):
        negative_total, split, x, y = heapq.heappop(frontier)
        lists.totals[place] = -negative_total
        lists.first[place] = x
        lists.second[place] = y
        if y + 1 < lists.start[seconds[split] + 1]:
            heapq.heappush(frontier, step(split, x, y + 1, lists))
        # one way to each pair: along the first list, then along the second
        if y == lists.start[seconds[split]] and x + 1 < lists.start[firsts[split] + 1]:
            heapq.heappush(frontier, step(split, x + 1, y, lists))


@jit_helper
def step(split, x, y, lists):
    """An entry of the frontier; Python's heaps give the least first."""
    return -(lists.totals[x] + lists.totals[y]), split, x, y


@jit_helper
def read_tree(lists, goal, heads, labels):
    """The heads and labels of the derivation at the place `goal` of a list."""
    n = len(heads) - 1
    heads[0] = labels[0] = -1
    # each of the n arcs takes its turn together with one item of each other kind
    waiting = np.empty(4 * n + 4, dtype=np.int64)
    waiting[0] = goal
    size = 1
    while size > 0:
        size -= 1
        place = waiting[size]
        item = np.searchsorted(lists.start, place, side="right") - 1
        kind, a, b = item // (n + 1) // (n + 1), item // (n + 1) % (n + 1), item % (n + 1)
        if kind == ARC:
            heads[b] = a
            labels[b] = lists.first[place]
        elif a != b:
            waiting[size] = lists.first[place]
            waiting[size + 1] = lists.second[place]
            size += 2


@jit_helper
def sort_by_total(totals, heads, labels):
    """Highest total first, by insertion: nearly everything is in its place already."""
    for rank in range(1, len(totals)):
        place = rank
        while place > 0 and totals[place - 1] < totals[rank]:
            place -= 1
        if place < rank:
            total, head, label = totals[rank], heads[rank].copy(), labels[rank].copy()
            for worse in range(rank, place, -1):
                totals[worse] = totals[worse - 1]
                heads[worse] = heads[worse - 1]
                labels[worse] = labels[worse - 1]
            totals[place] = total
            heads[place] = head
            labels[place] = label
