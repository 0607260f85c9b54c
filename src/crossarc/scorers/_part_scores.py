"""Looking up the scores of parts; those that are not known yet are computed by their source."""

import numpy as np

from crossarc._jit import by_type, by_type_inline, jit_helper, jit_inline
from crossarc.scorers.shape import NonProjective, Projective
from crossarc.trees._chu_liu_edmonds import best_arborescence
from crossarc.trees._eisner import best_projective


@by_type_inline
def score_sibling(source, h, s, m):
    """The score of m with head h and its neighbour s."""


@by_type_inline
def score_grandparent(source, g, h, m):
    """The score of m with head h, whose head is g."""


@by_type_inline
def score_any_sibling(source, h, s, m):
    """The score of two children s < m of h."""


@by_type_inline
def score_valency(source, h, left, right):
    """The score of h for its numbers of children."""


@score_sibling.register(type(None))
@score_grandparent.register(type(None))
@score_any_sibling.register(type(None))
@score_valency.register(type(None))
def nothing_left(source, first, second, third):
    """Where all scores are known, none is missing."""
    return np.nan


@jit_inline
def sibling_score(parts, m, j, s):
    if parts.siblings.size == 0:
        return np.float32(0.0)
    score = parts.siblings[m, j, s]
    if np.isnan(score):
        score = score_sibling(parts.source, parts.candidates[m, j], s, m)
        parts.siblings[m, j, s] = score
    return score


@jit_inline
def grandparent_score(parts, m, j, g):
    if parts.grandparents.size == 0:
        return np.float32(0.0)
    score = parts.grandparents[m, j, g]
    if np.isnan(score):
        score = score_grandparent(parts.source, g, parts.candidates[m, j], m)
        parts.grandparents[m, j, g] = score
    return score


@jit_inline
def any_sibling_score(parts, m, j, s):
    """Only where these are scored."""
    score = parts.any_siblings[m, j, s]
    if np.isnan(score):
        score = score_any_sibling(parts.source, parts.candidates[m, j], s, m)
        parts.any_siblings[m, j, s] = score
    return score


@jit_inline
def valency_score(parts, h, left, right):
    if parts.valencies.size == 0:
        return np.float32(0.0)
    most = parts.valencies.shape[1] - 1
    left, right = min(left, most), min(right, most)
    score = parts.valencies[h, left, right]
    if np.isnan(score):
        score = score_valency(parts.source, h, left, right)
        parts.valencies[h, left, right] = score
    return score


@jit_inline
def candidate_number(parts, m, h):
    """Which of the candidates of m that head is; -1 if it is none."""
    for j in range(parts.counts[m]):
        if parts.candidates[m, j] == h:
            return j
    return -1


@jit_inline
def count_arcs(parts):
    """How many candidate arcs there are."""
    total = 0
    for m in range(1, len(parts.counts)):
        total += parts.counts[m]
    return total


@jit_helper
def arc_matrix(parts):
    """scores[h, m] of the candidate arcs; -inf for the others."""
    size = len(parts.counts)
    scores = np.full((size, size), -np.inf)
    for m in range(1, size):
        for j in range(parts.counts[m]):
            scores[parts.candidates[m, j], m] = parts.arcs[m, j]
    return scores


@by_type
def best_by_arcs(shape, scores, heads):
    """The best tree of a shape by scores[h, m] of its arcs; its score, or -inf if there is none."""


@best_by_arcs.register(NonProjective)
def best_nonprojective_by_arcs(shape, scores, heads):
    return best_arborescence(scores, shape.single_root, heads)


@best_by_arcs.register(Projective)
def best_projective_by_arcs(shape, scores, heads):
    return best_projective(scores, shape.single_root, heads)


@by_type_inline
def is_projective(shape):
    """Whether no arcs may cross: known to the compiler."""


@is_projective.register(NonProjective)
def crossing_is_allowed(shape):
    return False


@is_projective.register(Projective)
def crossing_is_forbidden(shape):
    return True
