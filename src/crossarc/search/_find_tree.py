"""The search for the best tree by the scores of its parts, in the ways of ``methods``.

``Exact`` looks at arcs alone. ``SecondOrder`` starts from the exact second-order projective tree and takes the best
single change of a head while it helps (McDonald and Pereira 2006, Fig. 4). ``HillClimbing`` is for parts of any kind:
from a start, word after word takes the head that is best for the tree as it stands, until no word wants another; then
other starts are tried, drawn from the first-order scores, until some of them agree, and the best tree found is kept
(Zhang, Lei, Barzilay and Jaakkola 2014).
"""

import numpy as np

from crossarc._jit import by_type, copy_values, jit, jit_helper, jit_inline, jit_macro, jit_noinline
from crossarc.features._hashing import mix
from crossarc.scorers._part_scores import arc_matrix, best_by_arcs, candidate_number, is_projective, sibling_score
from crossarc.search._candidate_tree import (
    DETACHED,
    attach,
    attachment_gain,
    candidate_tree,
    detach,
    refresh,
    tree_score,
)
from crossarc.search.methods import Exact, HillClimbing, SecondOrder
from crossarc.trees._eisner_second_order import best_second_order_projective
from crossarc.trees._hill_climbing import climb as climb_by_best_change

TINY = 1e-9  # improvements below it are rounding
LONG = 250  # words: beyond, no array of all sibling parts is made (8 n³ bytes)


@by_type
def find_tree(search, parts, seed, heads):
    """The heads of the best tree that a search finds; its score, or -inf if there is none."""


@jit
def best_tree_of_parts(search, parts, seed, heads):
    """``find_tree`` for Python."""
    return find_tree(search, parts, seed, heads)


@find_tree.register(Exact)
def first_order(search, parts, seed, heads):
    """The best tree by arcs alone, exact."""
    return best_by_arcs(search.shape, arc_matrix(parts), heads)


@find_tree.register(SecondOrder)
def second_order(search, parts, seed, heads):
    """Arcs and adjacent siblings; sentences that are too long for that are searched by climbing."""
    if len(heads) - 1 > LONG:
        return climb_from_several_starts(search, parts, seed, heads, search.restarts + 1, 1.0)
    return second_order_of_short(search, parts, heads)


@jit_macro
def second_order_of_short(search, parts, heads):
    """The exact projective tree, or what is found from there (or from the best tree by arcs) by best single changes."""
    arcs = arc_matrix(parts)
    siblings = sibling_array(parts)
    score = -np.inf
    if is_projective(search.shape) or search.from_projective:
        score = best_second_order_projective(arcs, siblings, heads, search.shape.single_root)
    if is_projective(search.shape):
        return score
    if score == -np.inf and best_by_arcs(search.shape, arcs, heads) == -np.inf:
        return -np.inf
    changes = min(search.max_changes, len(heads) ** 2)
    return climb_by_best_change(arcs, siblings, heads, search.shape.single_root, changes)


@jit_helper
def sibling_array(parts):
    """scores[h, s, m] of two candidate arcs side by side; s == h: m is the first child on its side."""
    size = len(parts.counts)
    scores = np.zeros((size, size, size))
    for m in range(1, size):
        for j in range(parts.counts[m]):
            h = parts.candidates[m, j]
            scores[h, h, m] = sibling_score(parts, m, j, h)
            for s in range(min(h, m) + 1, max(h, m)):
                if candidate_number(parts, s, h) >= 0:
                    scores[h, s, m] = sibling_score(parts, m, j, s)
    return scores


@find_tree.register(HillClimbing)
def hill_climbing(search, parts, seed, heads):
    """Parts of any kind: the best tree that is found from all starts."""
    return climb_from_several_starts(search, parts, seed, heads, search.agreeing, search.noise)


@jit_macro
def climb_from_several_starts(search, parts, seed, heads, agreeing, noise):
    """The best tree found from all starts; its score, or -inf if no start is a tree.

    Starts are the best tree by arcs alone, then best trees of these scores with Gumbel noise, which are nearly
    samples of the first-order distribution. ``agreeing`` starts that lead to the best tree are enough: there are more
    where they disagree.
    """
    n = len(heads) - 1
    heads[0] = -1
    best, found = -np.inf, 0
    current = candidate_tree(parts, np.full_like(heads, DETACHED))
    scores = np.full((n + 1, n + 1), -np.inf)
    for restart in range(search.restarts + 1):
        for m in range(1, n + 1):
            for j in range(parts.counts[m]):
                h = parts.candidates[m, j]
                scores[h, m] = parts.arcs[m, j]
                if restart > 0:
                    seed += np.uint64(0x9E3779B97F4A7C15)
                    scores[h, m] += noise * gumbel(seed)
        if best_by_arcs(search.shape, scores, current.heads) == -np.inf:
            continue
        refresh(parts, current)
        climb(search, parts, current)
        score = tree_score(parts, current.heads, current.choice)
        if score > best + TINY:
            best, found = score, 0
            copy_values(current.heads, heads)
        found += score > best - TINY
        if found == agreeing:
            break
    return best


@jit_inline
def gumbel(seed):
    """A random number from the standard Gumbel distribution."""
    uniform = (np.float64(mix(seed) >> np.uint64(11)) + 0.5) / 9007199254740992.0
    return -np.log(-np.log(uniform))


@jit_macro
def climb(search, parts, tree):
    """Let each word take its best head in turn, until none changes."""
    n = len(tree.heads) - 1
    if n == 0:
        return
    content = 0  # words in a row that keep their heads
    m = 0
    for _ in range(4 * n * n + 40):  # far more turns than are ever needed
        m = m % n + 1
        content += 1
        may_change = parts.counts[m] > 1 and not (search.shape.single_root and tree.heads[m] == 0)
        if may_change and take_best_head(search, parts, tree, m):
            content = 1
        if content >= n:
            if not (search.shape.single_root and swap_root(search, parts, tree)):
                return
            content = 0


@jit_inline
def take_best_head(search, parts, tree, m):
    """Whether m found a better head than the one it has."""
    old = tree.choice[m]
    detach(tree, m)
    best, highest = old, -np.inf
    for j in range(parts.counts[m]):
        if j == old or may_attach(search, parts, tree.heads, m, j):
            total = attachment_gain(parts, tree, m, j)
            if j == old:
                total += TINY
            if total > highest or (total == highest and j == old):
                best, highest = j, total
    attach(parts, tree, m, best)
    return best != old


@jit_inline
def may_attach(search, parts, heads, m, j):
    h = parts.candidates[m, j]
    if (h == 0 and search.shape.single_root) or descends(heads, h, m):
        return False
    return not is_projective(search.shape) or not crosses(heads, h, m)


@jit_noinline
def called_gain(parts, tree, m, j):
    return attachment_gain(parts, tree, m, j)


@jit_noinline
def swap_root(search, parts, tree):
    """With a single root, no change of one head can replace it: try two at once, the best pair of them."""
    root = tree.first[0]
    old_choice = tree.choice[root]
    detach(tree, root)
    before = called_gain(parts, tree, root, old_choice)
    best_root, best_root_choice, best_choice, highest = -1, -1, -1, TINY
    for r in range(1, len(tree.heads)):
        from_root = candidate_number(parts, r, 0)
        if r == root or from_root < 0:
            continue
        r_choice = tree.choice[r]
        detach(tree, r)
        attach(parts, tree, root, old_choice)
        loss = called_gain(parts, tree, r, r_choice) + before
        detach(tree, root)
        if not (is_projective(search.shape) and crosses(tree.heads, 0, r)):
            gain = called_gain(parts, tree, r, from_root)
            attach(parts, tree, r, from_root)
            for j in range(parts.counts[root]):
                if may_attach(search, parts, tree.heads, root, j):
                    total = gain + called_gain(parts, tree, root, j) - loss
                    if total > highest:
                        best_root, best_root_choice, best_choice, highest = r, from_root, j, total
            detach(tree, r)
        attach(parts, tree, r, r_choice)
    if best_root < 0:
        attach(parts, tree, root, old_choice)
        return False
    detach(tree, best_root)
    attach(parts, tree, best_root, best_root_choice)
    attach(parts, tree, root, best_choice)
    return True


@jit_inline
def descends(heads, word, ancestor):
    while word > 0:
        if word == ancestor:
            return True
        word = heads[word]
    return False


@jit_inline
def crosses(heads, h, m):
    """Whether an arc from h to m would cross an arc of the tree."""
    low, high = min(h, m), max(h, m)
    for x in range(1, len(heads)):
        if x != m and heads[x] >= 0:
            a, b = min(x, heads[x]), max(x, heads[x])
            if a < low < b < high or low < a < high < b:
                return True
    return False
