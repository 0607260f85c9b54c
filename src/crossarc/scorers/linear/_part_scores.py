"""The parts of trees that a parser may choose from, and their scores.

A small first-order model (the pruner) leaves each word its most likely heads, its candidates. Arcs between them are
scored at once; siblings, grandparents and valencies when they are first looked at. The list of parts is that of the
templates: a part without templates scores 0.
"""

from collections import namedtuple

import numpy as np

from crossarc._jit import jit_helper, jit_inline, jit_macro, jit_noinline
from crossarc.features._hashing import sum_of
from crossarc.scorers.linear._features import (
    MOST_COUNTED,
    any_sibling_indices,
    any_sibling_triple,
    arc_indices,
    counted_indices,
    encode,
    grandparent_indices,
    grandparent_triple,
    most_features,
    sibling_indices,
    sibling_triple,
    triple_indices,
    valency_indices,
)
from crossarc.scorers.linear._labels import label_scores, log_sum, rows_of_arc
from crossarc.scorers.linear._pruner import first_order_scores, keep_candidates
from crossarc.trees._chu_liu_edmonds import best_arborescence
from crossarc.trees._eisner import best_projective

# candidates[m, j] is the j-th head that m may have, j < counts[m], and labels[m, j] the best label of that arc (-1 if
# labels come later). arcs[m, j], siblings[m, j, s], grandparents[m, j, g] and any_siblings[m, j, s] are scores of
# parts with that head, valencies[h, left, right] those of a head; NaN where not yet known.
Space = namedtuple(
    "Space",
    "encoded weights shift candidates counts arcs labels siblings grandparents any_siblings valencies buffer",
)

# heads[m], and which of the candidates of m that is; the children of h from left to right: first[h], then following[x]
# of each of them, until it is 0
Tree = namedtuple("Tree", "heads choice first following")
DETACHED = -1

# kept: how many candidates the pruner leaves each word, 0 for all; near: how much worse than the best of them they may
# be; joint: whether arcs are scored with their labels, with the best one or, if summed, with all of them
Rules = namedtuple("Rules", "single_root projective kept near restarts joint summed")


@jit_macro
def best_first_order(scores, rules, heads):
    """The best tree by the scores of arcs; its score, or -inf if there is none."""
    if rules.projective:
        return best_projective(scores, rules.single_root, heads)
    return best_arborescence(scores, rules.single_root, heads)


@jit_macro
def candidate_space(attributes, pruner, model, always, allowed, rules):
    """The space that the pruner leaves to the model.

    The heads of the tree ``always`` are kept: the gold ones in training; else (-1) those of the pruner's best tree,
    so that there is a tree if the allowed arcs have one.
    """
    size = len(attributes.counts)
    kept = min(rules.kept, size) if rules.kept > 0 else size
    candidates = np.zeros((size, kept + 1), np.int64)
    counts = np.zeros(size, np.int64)
    if rules.kept > 0:
        scores = first_order_scores(attributes, pruner, allowed)
        if size > 1 and always[1] < 0:
            best_first_order(scores, rules, always)
        keep_candidates(scores, kept, rules.near, always, candidates, counts)
    else:
        keep_all(allowed, candidates, counts)
    return open_space(encode(attributes, model.templates), model.weights, model.shift, candidates, counts)


@jit_inline
def keep_all(allowed, candidates, counts):
    for m in range(1, len(counts)):
        for h in range(len(counts)):
            if h != m and (allowed.size == 0 or allowed[h, m]):
                candidates[m, counts[m]] = h
                counts[m] += 1


@jit_helper
def open_space(encoded, weights, shift, candidates, counts):
    """The space over these candidates, with the scores of its arcs."""
    size, width = candidates.shape
    space = Space(
        encoded,
        weights,
        shift,
        candidates,
        counts,
        np.empty((size, width)),
        np.full((size, width), -1),
        unknown_triples(candidates, encoded.sibling),
        unknown_triples(candidates, encoded.grandparent),
        unknown_triples(candidates, encoded.any_sibling),
        np.full((size, MOST_COUNTED + 1, MOST_COUNTED + 1), np.nan, np.float32),
        np.empty(most_features(encoded), np.int64),
    )
    for m in range(1, size):
        for j in range(counts[m]):
            count = arc_indices(encoded, candidates[m, j], m, shift, space.buffer)
            space.arcs[m, j] = sum_of(weights, space.buffer, count)
    return space


@jit_helper
def unknown_triples(candidates, slots):
    """An array for the scores of a candidate with each third word; empty if there are no templates for it."""
    size, width = candidates.shape
    return np.full((size, width, size) if slots.shape[2] > 0 else (0, 0, 0), np.nan, np.float32)


@jit_helper
def score_labels(space, slots, labels_model, allowed_labels, gold, gold_labels, loss, summed):
    """Give each arc its best label, and add the label's score to the arc's (the multi-digraph of MS07).

    If ``summed``, what is added is the sum over all labels, as a score.

    ``slots`` are those of [label]; ``loss`` is added to a wrong label of a gold arc. An arc without an allowed label
    can be in no tree.
    """
    rows = np.empty(slots.shape[2], np.int64)
    scores = np.empty(allowed_labels.shape[1], np.float32)
    for m in range(1, len(space.counts)):
        for j in range(space.counts[m]):
            n_rows = rows_of_arc(slots, space.candidates[m, j], m, labels_model.shift, rows)
            label_scores(labels_model.weights, rows, n_rows, allowed_labels, m, scores)
            if gold[m] == space.candidates[m, j]:
                scores += np.float32(loss)
                scores[gold_labels[m]] -= np.float32(loss)
            label = np.argmax(scores)
            space.labels[m, j] = label
            space.arcs[m, j] += log_sum(scores) if summed and scores[label] > -np.inf else scores[label]


@jit_helper
def arc_matrix(space):
    """scores[h, m] of the arcs of the space; -inf for the others."""
    size = len(space.counts)
    scores = np.full((size, size), -np.inf)
    for m in range(1, size):
        for j in range(space.counts[m]):
            scores[space.candidates[m, j], m] = space.arcs[m, j]
    return scores


@jit_helper
def tree_of(space, heads):
    """A tree that can be changed; ``heads`` stays a part of it."""
    tree = Tree(heads, np.zeros_like(heads), np.zeros_like(heads), np.zeros_like(heads))
    refresh(space, tree)
    return tree


@jit_inline
def refresh(space, tree):
    """All else after the heads of a tree."""
    choose(space, tree.heads, tree.choice)
    tree.first[:] = 0
    for m in range(len(tree.heads) - 1, 0, -1):
        if tree.heads[m] >= 0:
            tree.following[m] = tree.first[tree.heads[m]]
            tree.first[tree.heads[m]] = m


@jit_inline
def detach(tree, m):
    """Let m hang nowhere."""
    h = tree.heads[m]
    if tree.first[h] == m:
        tree.first[h] = tree.following[m]
    else:
        x = tree.first[h]
        while tree.following[x] != m:
            x = tree.following[x]
        tree.following[x] = tree.following[m]
    tree.heads[m] = DETACHED


@jit_inline
def attach(space, tree, m, j):
    """Attach m, which hangs nowhere, to its candidate j."""
    h = space.candidates[m, j]
    x = tree.first[h]
    if x == 0 or x > m:
        tree.following[m] = x
        tree.first[h] = m
    else:
        while 0 < tree.following[x] < m:
            x = tree.following[x]
        tree.following[m] = tree.following[x]
        tree.following[x] = m
    tree.heads[m] = h
    tree.choice[m] = j


@jit_inline
def choose(space, heads, choice):
    """choice[m]: which of its candidates each word's head is; -1 if it is none of them."""
    for m in range(1, len(heads)):
        choice[m] = candidate_number(space, m, heads[m])


@jit_inline
def candidate_number(space, m, h):
    for j in range(space.counts[m]):
        if space.candidates[m, j] == h:
            return j
    return -1


@jit_noinline
def triple_score(triple, weights, shift, buffer):
    """The score of a part of three words (not of the whole space: every call copies its arguments)."""
    return np.float32(sum_of(weights, buffer, triple_indices(triple, shift, buffer)))


@jit_noinline
def counted_score(head, left, right, weights, shift, buffer):
    """The same for a head and the numbers of its children."""
    return np.float32(sum_of(weights, buffer, counted_indices(head, left, right, shift, buffer)))


@jit_inline
def sibling_score(space, m, j, s):
    if space.siblings.size == 0:
        return np.float32(0.0)
    score = space.siblings[m, j, s]
    if np.isnan(score):
        triple = sibling_triple(space.encoded, space.candidates[m, j], s, m)
        score = triple_score(triple, space.weights, space.shift, space.buffer)
        space.siblings[m, j, s] = score
    return score


@jit_inline
def grandparent_score(space, m, j, g):
    if space.grandparents.size == 0:
        return np.float32(0.0)
    score = space.grandparents[m, j, g]
    if np.isnan(score):
        triple = grandparent_triple(space.encoded, g, space.candidates[m, j], m)
        score = triple_score(triple, space.weights, space.shift, space.buffer)
        space.grandparents[m, j, g] = score
    return score


@jit_inline
def any_sibling_score(space, m, j, s):
    score = space.any_siblings[m, j, s]
    if np.isnan(score):
        triple = any_sibling_triple(space.encoded, space.candidates[m, j], s, m)
        score = triple_score(triple, space.weights, space.shift, space.buffer)
        space.any_siblings[m, j, s] = score
    return score


@jit_inline
def valency_score(space, h, left, right):
    if space.encoded.valency.shape[2] == 0:
        return np.float32(0.0)
    left, right = min(left, MOST_COUNTED), min(right, MOST_COUNTED)
    score = space.valencies[h, left, right]
    if np.isnan(score):
        head = space.encoded.valency[0, h]
        score = counted_score(head, left, right, space.weights, space.shift, space.buffer)
        space.valencies[h, left, right] = score
    return score


@jit_inline
def worth(space, tree, m, j):
    """What the tree gains if m, which hangs nowhere now, is attached to its candidate j."""
    h = space.candidates[m, j]
    total = space.arcs[m, j] + worth_beside_others(space, tree, m, j)
    if h > 0:
        total += grandparent_score(space, m, j, tree.heads[h])
    child = tree.first[m]
    while child > 0:
        total += grandparent_score(space, child, tree.choice[child], h)
        child = tree.following[child]
    return total


@jit_inline
def worth_beside_others(space, tree, m, j):
    """The same of the parts that m has with other children of its new head, all found in one go through them."""
    h = space.candidates[m, j]
    inner, outer = h, 0  # see ``neighbours``
    left, right = 0, 0
    total = 0.0
    x = tree.first[h]
    while x > 0:
        if space.any_siblings.size > 0:
            total += any_sibling_score(space, m, j, x) if x < m else any_sibling_score(space, x, tree.choice[x], m)
        if x < h:
            left += 1
        else:
            right += 1
        if (x < h) == (m < h):
            if (x < m) == (m < h):  # beyond m, seen from the head
                outer = x if m < h or outer == 0 else outer
            else:
                inner = x if h < m or inner == h else inner
        x = tree.following[x]
    total += sibling_score(space, m, j, inner) - valency_score(space, h, left, right)
    total += valency_score(space, h, left + (m < h), right + (m > h))
    if outer > 0:
        choice = tree.choice[outer]
        total += sibling_score(space, outer, choice, m) - sibling_score(space, outer, choice, inner)
    return total


@jit_inline
def count_children(heads, h):
    """The numbers of children of h to its left and to its right."""
    left, right = 0, 0
    for x in range(1, len(heads)):
        if heads[x] == h:
            if x < h:
                left += 1
            else:
                right += 1
    return left, right


@jit_inline
def neighbours(heads, h, m):
    """The children of h next to m on its side: towards h (h itself if there is none), and away from h (0 if none)."""
    n = len(heads) - 1
    step = 1 if h < m else -1
    inner = m - step
    while inner != h and heads[inner] != h:
        inner -= step
    outer = m + step
    while 0 < outer <= n and heads[outer] != h:
        outer += step
    return inner, outer if outer <= n else 0


@jit_inline
def tree_score(space, heads, choice):
    """The sum of all parts of a tree."""
    total = 0.0
    for m in range(1, len(heads)):
        h, j = heads[m], choice[m]
        inner, _ = neighbours(heads, h, m)
        total += space.arcs[m, j] + sibling_score(space, m, j, inner)
        if h > 0:
            total += grandparent_score(space, m, j, heads[h])
        if space.any_siblings.size > 0:
            for s in range(1, m):
                if heads[s] == h:
                    total += any_sibling_score(space, m, j, s)
    for h in range(len(heads)):
        left, right = count_children(heads, h)
        total += valency_score(space, h, left, right)
    return total


@jit_helper
def tree_indices(encoded, heads, other, shift, buffer, out):
    """The features of a tree's parts that another tree does not have; their number."""
    count = 0
    for m in range(1, len(heads)):
        h = heads[m]
        if other[m] != h:
            count = append(arc_indices(encoded, h, m, shift, buffer), buffer, out, count)
        inner, _ = neighbours(heads, h, m)
        if encoded.sibling.shape[2] > 0 and (other[m] != h or neighbours(other, h, m)[0] != inner):
            count = append(sibling_indices(encoded, h, inner, m, shift, buffer), buffer, out, count)
        if h > 0 and (other[m] != h or other[h] != heads[h]):
            count = append(grandparent_indices(encoded, heads[h], h, m, shift, buffer), buffer, out, count)
        if encoded.any_sibling.shape[2] > 0:
            for s in range(1, m):
                if heads[s] == h and (other[m] != h or other[s] != h):
                    count = append(any_sibling_indices(encoded, h, s, m, shift, buffer), buffer, out, count)
    if encoded.valency.shape[2] > 0:
        for h in range(len(heads)):
            left, right = count_children(heads, h)
            if count_children(other, h) != (left, right):
                left, right = min(left, MOST_COUNTED), min(right, MOST_COUNTED)
                count = append(valency_indices(encoded, h, left, right, shift, buffer), buffer, out, count)
    return count


@jit_inline
def append(n_new, new, out, count):
    for i in range(n_new):
        out[count + i] = new[i]
    return count + n_new


@jit_helper
def most_tree_features(encoded, heads):
    """An upper bound of the number of features of a tree."""
    pairs = 0
    for h in range(len(heads)):
        left, right = count_children(heads, h)
        pairs += (left + right) ** 2
    return 4 * len(heads) * most_features(encoded) + pairs * encoded.any_sibling.shape[2]
