"""The search for the best tree in a space of parts.

Order 1 is exact. Order 2 starts from the exact second-order projective tree and takes the best single change of a
head while it helps (McDonald and Pereira 2006, Fig. 4). Order "high" climbs over parts of any kind: from a start,
word after word takes the head that is best for the tree as it stands, until no word wants another; then other starts
are tried, drawn from the first-order scores, and the best tree found is kept (Zhang, Lei, Barzilay and Jaakkola 2014).
"""

import numpy as np

from crossarc._kernel import cold_kernel, copy_values, inner_kernel, leaf_kernel, step_of_kernel
from crossarc.parsers._space import (
    arc_matrix,
    best_first_order,
    candidate_number,
    choose,
    sibling_score,
    tree_score,
    worth,
)
from crossarc.scoring._indices import mix
from crossarc.trees._eisner_second_order import best_second_order_projective
from crossarc.trees._hill_climbing import climb as climb_by_best_change

DETACHED = -1
TINY = 1e-9  # improvements below it are rounding
LONG = 250  # words: beyond, no array of all sibling parts is made (8 n³ bytes)


@inner_kernel
def first_order(space, rules, heads):
    """The best tree by arcs alone, exact; its score, or -inf if there is none."""
    return best_first_order(arc_matrix(space), rules, heads)


@inner_kernel
def second_order(space, rules, seed, heads):
    """Arcs and adjacent siblings: exact if projective, else from there by best single changes.

    Sentences that are too long for that are searched like those of higher order.
    """
    if len(heads) > LONG:
        return high_order(space, rules, seed, heads)
    arcs = arc_matrix(space)
    siblings = sibling_array(space)
    score = best_second_order_projective(arcs, siblings, heads, rules.single_root)
    if rules.projective:
        return score
    if score == -np.inf and best_first_order(arcs, rules, heads) == -np.inf:
        return -np.inf
    return climb_by_best_change(arcs, siblings, heads, rules.single_root, len(heads) ** 2)


@inner_kernel
def sibling_array(space):
    """scores[h, s, m] of two candidate arcs side by side; s == h: m is the first child on its side."""
    size = len(space.counts)
    scores = np.zeros((size, size, size))
    for m in range(1, size):
        for j in range(space.counts[m]):
            h = space.candidates[m, j]
            scores[h, h, m] = sibling_score(space, m, j, h)
            for s in range(min(h, m) + 1, max(h, m)):
                if candidate_number(space, s, h) >= 0:
                    scores[h, s, m] = sibling_score(space, m, j, s)
    return scores


@step_of_kernel
def high_order(space, rules, seed, heads):
    """The best tree found from all starts; its score, or -inf if no start is a tree.

    Starts are the best tree by arcs alone, then best trees of these scores with Gumbel noise, which are nearly
    samples of the first-order distribution.
    """
    n = len(heads) - 1
    heads[0] = -1
    best = -np.inf
    current = np.empty_like(heads)
    choice = np.zeros_like(heads)
    scores = np.full((n + 1, n + 1), -np.inf)
    for restart in range(rules.restarts + 1):
        for m in range(1, n + 1):
            for j in range(space.counts[m]):
                h = space.candidates[m, j]
                scores[h, m] = space.arcs[m, j]
                if restart > 0:
                    seed += np.uint64(0x9E3779B97F4A7C15)
                    scores[h, m] += gumbel(seed)
        if best_first_order(scores, rules, current) == -np.inf:
            continue
        choose(space, current, choice)
        climb(space, rules, current, choice)
        score = tree_score(space, current, choice)
        if score > best + TINY:
            best = score
            copy_values(current, heads)
    return best


@leaf_kernel
def gumbel(seed):
    """A random number from the standard Gumbel distribution."""
    uniform = (np.float64(mix(seed) >> np.uint64(11)) + 0.5) / 9007199254740992.0
    return -np.log(-np.log(uniform))


@inner_kernel
def climb(space, rules, heads, choice):
    """Let each word take its best head in turn, until none changes."""
    n = len(heads) - 1
    if n == 0:
        return
    children = np.empty(n + 1, np.int64)
    content = 0  # words in a row that keep their heads
    m = 0
    for _ in range(4 * n * n + 40):  # far more turns than are ever needed
        m = m % n + 1
        content += 1
        if not (rules.single_root and heads[m] == 0) and take_best_head(space, rules, heads, choice, m, children):
            content = 1
        if content >= n:
            if not (rules.single_root and swap_root(space, rules, heads, choice, children)):
                return
            content = 0


@leaf_kernel
def take_best_head(space, rules, heads, choice, m, children):
    """Whether m found a better head than the one it has."""
    old = choice[m]
    heads[m] = DETACHED
    n_children = find_children(heads, m, children)
    best, highest = old, -np.inf
    for j in range(space.counts[m]):
        if j == old or may_attach(space, rules, heads, m, j):
            total = worth(space, heads, choice, m, j, children[:n_children])
            if j == old:
                total += TINY
            if total > highest or (total == highest and j == old):
                best, highest = j, total
    heads[m] = space.candidates[m, best]
    choice[m] = best
    return best != old


@leaf_kernel
def may_attach(space, rules, heads, m, j):
    h = space.candidates[m, j]
    if (h == 0 and rules.single_root) or descends(heads, h, m):
        return False
    return not rules.projective or not crosses(heads, h, m)


@cold_kernel
def called_worth(space, heads, choice, m, j, children):
    return worth(space, heads, choice, m, j, children)


@inner_kernel
def swap_root(space, rules, heads, choice, children):
    """With a single root, no change of one head can replace it: try two at once, the best pair of them."""
    n = len(heads) - 1
    root = 1
    while heads[root] != 0:
        root += 1
    old_choice = choice[root]
    heads[root] = DETACHED
    n_children = find_children(heads, root, children)
    before = called_worth(space, heads, choice, root, old_choice, children[:n_children])
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
        loss = called_worth(space, heads, choice, r, r_choice, others[:n_others]) + before
        heads[root] = DETACHED
        if rules.projective and crosses(heads, 0, r):
            heads[r] = r_head
            continue
        gain = called_worth(space, heads, choice, r, from_root, others[:n_others])
        heads[r] = 0
        n_children = find_children(heads, root, children)
        for j in range(space.counts[root]):
            if may_attach(space, rules, heads, root, j):
                total = gain + called_worth(space, heads, choice, root, j, children[:n_children]) - loss
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


@leaf_kernel
def find_children(heads, m, children):
    count = 0
    for c in range(1, len(heads)):
        if heads[c] == m:
            children[count] = c
            count += 1
    return count


@leaf_kernel
def descends(heads, word, ancestor):
    while word > 0:
        if word == ancestor:
            return True
        word = heads[word]
    return False


@leaf_kernel
def crosses(heads, h, m):
    """Whether an arc from h to m would cross an arc of the tree."""
    low, high = min(h, m), max(h, m)
    for x in range(1, len(heads)):
        if x != m and heads[x] >= 0:
            a, b = min(x, heads[x]), max(x, heads[x])
            if a < low < b < high or low < a < high < b:
                return True
    return False
