"""Search by single changes of a head, over parts of any kind (McDonald & Pereira 2006, Fig. 4; Zhang et al. 2014).

A small first-order model leaves each word its k most likely heads. Arcs, adjacent siblings and grandparents are scored
when they are first looked at. From a start, word after word takes the head that is best for the tree as it stands,
until no word wants another; then other starts are tried, drawn from the first-order scores, and the best tree found is
kept.
"""

from collections import namedtuple

import numpy as np

from crossarc._kernel import kernel
from crossarc.scoring._indices import (
    arc_indices,
    encode,
    grandparent_indices,
    mix,
    most_features,
    sibling_indices,
    sum_of,
)
from crossarc.trees._chu_liu_edmonds import best_arborescence
from crossarc.trees._eisner import best_projective

# candidates[m, j] is the j-th head that m may have, j < counts[m]; arcs[m, j], siblings[m, j, s] and
# grandparents[m, j, g] are scores of parts with that head, NaN where not yet known.
Space = namedtuple("Space", "encoded weights shift candidates counts arcs siblings grandparents buffer")
Limits = namedtuple("Limits", "single_root projective restarts")

DETACHED = -1
TINY = 1e-9  # improvements below it are rounding
NEARLY = 2.5  # how much worse than the best a head may be to stay a candidate; the margin of a wrong head is 1


@kernel
def parse_high_order(attributes, pruner, model, allowed, limits, kept, seed, heads):
    """The best tree found; its score, or -inf if there is none."""
    heads[:] = -1
    space = candidate_space(attributes, pruner, model, heads.copy(), allowed, limits, kept)
    return search(space, limits, arc_matrix(space), seed, heads)


@kernel
def score_arcs(encoded, weights, shift, scores):
    """scores[h, m] of every arc, by the features of the arc alone."""
    n = len(scores) - 1
    buffer = np.empty(most_features(encoded), np.int64)
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h != m and scores[h, m] > -np.inf:
                scores[h, m] = sum_of(weights, buffer, arc_indices(encoded, h, m, shift, buffer))


@kernel
def first_order_scores(attributes, templates, weights, shift, allowed):
    """scores[h, m] of every allowed arc; -inf for the others."""
    scores = np.where(allowed, 0.0, -np.inf)
    score_arcs(encode(attributes, templates), weights, shift, scores)
    return scores


@kernel
def best_first_order(scores, limits, heads):
    """The best tree by the scores of arcs; its score, or -inf if there is none."""
    if limits.projective:
        return best_projective(scores, limits.single_root, heads)
    return best_arborescence(scores, limits.single_root, heads)


@kernel
def candidate_space(attributes, pruner, model, always, allowed, limits, kept):
    """The search space that the pruner leaves to the model.

    The heads of the tree ``always`` are kept: the gold ones in training; else (-1) those of the pruner's best tree,
    so that there is a tree if the allowed arcs have one.
    """
    scores = first_order_scores(attributes, pruner.templates, pruner.weights, pruner.shift, allowed)
    size = len(scores)
    if size > 1 and always[1] < 0:
        best_first_order(scores, limits, always)
    candidates = np.zeros((size, min(kept, size) + 1), np.int64)
    counts = np.zeros(size, np.int64)
    keep_candidates(scores, kept, always, candidates, counts)
    encoded = encode(attributes, model.templates)
    return open_space(encoded, model.weights, model.shift, candidates, counts)


@kernel
def arc_matrix(space):
    """scores[h, m] of the arcs of the space; -inf for the others."""
    size = len(space.counts)
    scores = np.full((size, size), -np.inf)
    for m in range(1, size):
        for j in range(space.counts[m]):
            scores[space.candidates[m, j], m] = space.arcs[m, j]
    return scores


@kernel
def keep_candidates(scores, kept, always, candidates, counts):
    """The ``kept`` best heads of each word that are nearly as good as the best, and those of the tree ``always``."""
    size = len(scores)
    chosen = np.empty(size, np.bool_)
    for m in range(1, size):
        chosen[:] = False
        if always[m] >= 0:
            chosen[always[m]] = True
        lowest = -np.inf
        for _ in range(min(kept, size - 1)):
            best, highest = -1, lowest
            for h in range(size):
                if h != m and not chosen[h] and scores[h, m] > highest:
                    best, highest = h, scores[h, m]
            if best < 0:
                break
            chosen[best] = True
            lowest = max(lowest, highest - NEARLY)
        count = 0
        for h in range(size):
            if chosen[h]:
                candidates[m, count] = h
                count += 1
        counts[m] = count


@kernel
def open_space(encoded, weights, shift, candidates, counts):
    """The search space over these candidates, with the scores of its arcs."""
    n, kept = len(counts) - 1, candidates.shape[1]
    space = Space(
        encoded,
        weights,
        shift,
        candidates,
        counts,
        np.empty((n + 1, kept)),
        np.full((n + 1, kept, n + 1), np.nan, np.float32),
        np.full((n + 1, kept, n + 1), np.nan, np.float32),
        np.empty(most_features(encoded), np.int64),
    )
    for m in range(1, n + 1):
        for j in range(counts[m]):
            count = arc_indices(encoded, candidates[m, j], m, shift, space.buffer)
            space.arcs[m, j] = sum_of(weights, space.buffer, count)
    return space


@kernel
def sibling_score(space, m, j, s):
    score = space.siblings[m, j, s]
    if np.isnan(score):
        count = sibling_indices(space.encoded, space.candidates[m, j], s, m, space.shift, space.buffer)
        score = np.float32(sum_of(space.weights, space.buffer, count))
        space.siblings[m, j, s] = score
    return score


@kernel
def grandparent_score(space, m, j, g):
    score = space.grandparents[m, j, g]
    if np.isnan(score):
        count = grandparent_indices(space.encoded, g, space.candidates[m, j], m, space.shift, space.buffer)
        score = np.float32(sum_of(space.weights, space.buffer, count))
        space.grandparents[m, j, g] = score
    return score


@kernel
def search(space, limits, first_order, seed, heads):
    """The best tree found from all starts, in heads; its score, -inf if no start is a tree.

    ``first_order[h, m]`` are the scores that starts are drawn from: the best tree, then best trees of scores with
    Gumbel noise, which are nearly samples of the first-order distribution.
    """
    n = len(heads) - 1
    heads[0] = -1
    best = -np.inf
    current = np.empty_like(heads)
    choice = np.zeros_like(heads)
    scores = np.full((n + 1, n + 1), -np.inf)
    for restart in range(limits.restarts + 1):
        for m in range(1, n + 1):
            for j in range(space.counts[m]):
                h = space.candidates[m, j]
                scores[h, m] = first_order[h, m]
                if restart > 0:
                    seed += np.uint64(0x9E3779B97F4A7C15)
                    scores[h, m] += gumbel(seed)
        if best_first_order(scores, limits, current) == -np.inf:
            continue
        choose(space, current, choice)
        climb(space, limits, current, choice)
        score = tree_score(space, current, choice)
        if score > best + TINY:
            best = score
            heads[:] = current
    return best


@kernel
def gumbel(seed):
    """A random number from the standard Gumbel distribution."""
    uniform = (np.float64(mix(seed) >> np.uint64(11)) + 0.5) / 9007199254740992.0
    return -np.log(-np.log(uniform))


@kernel
def choose(space, heads, choice):
    """choice[m]: which of its candidates each word's head is."""
    for m in range(1, len(heads)):
        for j in range(space.counts[m]):
            if space.candidates[m, j] == heads[m]:
                choice[m] = j


@kernel
def climb(space, limits, heads, choice):
    """Let each word take its best head in turn, until none changes."""
    n = len(heads) - 1
    children = np.empty(n + 1, np.int64)
    for _ in range(4 * n + 10):  # far more rounds than are ever needed
        changed = False
        for m in range(1, n + 1):
            if limits.single_root and heads[m] == 0:
                continue
            changed |= take_best_head(space, limits, heads, choice, m, children)
        if not changed and limits.single_root:
            changed = swap_root(space, limits, heads, choice, children)
        if not changed:
            return


@kernel
def take_best_head(space, limits, heads, choice, m, children):
    """Whether m found a better head than the one it has."""
    old = choice[m]
    heads[m] = DETACHED
    n_children = find_children(heads, m, children)
    best = old
    highest = worth(space, heads, choice, m, old, children[:n_children]) + TINY
    for j in range(space.counts[m]):
        if j != old and may_attach(space, limits, heads, m, j):
            total = worth(space, heads, choice, m, j, children[:n_children])
            if total > highest:
                best, highest = j, total
    heads[m] = space.candidates[m, best]
    choice[m] = best
    return best != old


@kernel
def may_attach(space, limits, heads, m, j):
    h = space.candidates[m, j]
    if (h == 0 and limits.single_root) or descends(heads, h, m):
        return False
    return not limits.projective or not crosses(heads, h, m)


@kernel
def swap_root(space, limits, heads, choice, children):
    """With a single root, no change of one head can replace it: try two at once, the best pair of them."""
    n = len(heads) - 1
    root = 1
    while heads[root] != 0:
        root += 1
    old_choice = choice[root]
    heads[root] = DETACHED
    n_children = find_children(heads, root, children)
    before = worth(space, heads, choice, root, old_choice, children[:n_children])
    best_root, best_root_choice, best_choice, highest = -1, -1, -1, TINY
    others = np.empty(n + 1, np.int64)
    for r in range(1, n + 1):
        from_root = candidate_number(space, r, 0)
        if r == root or from_root < 0:
            continue
        r_head, r_choice = heads[r], choice[r]
        heads[r] = DETACHED
        n_others = find_children(heads, r, others)
        heads[root] = 0
        loss = worth(space, heads, choice, r, r_choice, others[:n_others]) + before
        heads[root] = DETACHED
        if limits.projective and crosses(heads, 0, r):
            heads[r] = r_head
            continue
        gain = worth(space, heads, choice, r, from_root, others[:n_others])
        heads[r] = 0
        n_children = find_children(heads, root, children)
        for j in range(space.counts[root]):
            if may_attach(space, limits, heads, root, j):
                total = gain + worth(space, heads, choice, root, j, children[:n_children]) - loss
                if total > highest:
                    best_root, best_root_choice, best_choice, highest = r, from_root, j, total
        heads[r] = r_head
    heads[root] = 0
    if best_root < 0:
        return False
    heads[best_root] = 0
    choice[best_root] = best_root_choice
    heads[root] = space.candidates[root, best_choice]
    choice[root] = best_choice
    return True


@kernel
def candidate_number(space, m, h):
    for j in range(space.counts[m]):
        if space.candidates[m, j] == h:
            return j
    return -1


@kernel
def worth(space, heads, choice, m, j, children):
    """What the tree gains if m, which hangs nowhere now, is attached to its candidate j."""
    h = space.candidates[m, j]
    inner, outer = neighbours(heads, h, m)
    total = space.arcs[m, j] + sibling_score(space, m, j, inner)
    if outer > 0:
        total += sibling_score(space, outer, choice[outer], m) - sibling_score(space, outer, choice[outer], inner)
    if h > 0:
        total += grandparent_score(space, m, j, heads[h])
    for c in children:
        total += grandparent_score(space, c, choice[c], h)
    return total


@kernel
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


@kernel
def find_children(heads, m, children):
    count = 0
    for c in range(1, len(heads)):
        if heads[c] == m:
            children[count] = c
            count += 1
    return count


@kernel
def descends(heads, word, ancestor):
    while word > 0:
        if word == ancestor:
            return True
        word = heads[word]
    return False


@kernel
def crosses(heads, h, m):
    """Whether an arc from h to m would cross an arc of the tree."""
    low, high = min(h, m), max(h, m)
    for x in range(1, len(heads)):
        if x != m and heads[x] >= 0:
            a, b = min(x, heads[x]), max(x, heads[x])
            if a < low < b < high or low < a < high < b:
                return True
    return False


@kernel
def tree_score(space, heads, choice):
    total = 0.0
    for m in range(1, len(heads)):
        j = choice[m]
        inner, _ = neighbours(heads, heads[m], m)
        total += space.arcs[m, j] + sibling_score(space, m, j, inner)
        if heads[m] > 0:
            total += grandparent_score(space, m, j, heads[heads[m]])
    return total


@kernel
def tree_indices(encoded, heads, other, high_order, shift, buffer, out):
    """The features of a tree's parts that another tree does not have; their number."""
    count = 0
    for m in range(1, len(heads)):
        h = heads[m]
        if other[m] != h:
            count = append(arc_indices(encoded, h, m, shift, buffer), buffer, out, count)
        if high_order:
            inner, _ = neighbours(heads, h, m)
            if other[m] != h or neighbours(other, h, m)[0] != inner:
                count = append(sibling_indices(encoded, h, inner, m, shift, buffer), buffer, out, count)
            if h > 0 and (other[m] != h or other[h] != heads[h]):
                count = append(grandparent_indices(encoded, heads[h], h, m, shift, buffer), buffer, out, count)
    return count


@kernel
def append(n_new, new, out, count):
    out[count : count + n_new] = new[:n_new]
    return count + n_new
