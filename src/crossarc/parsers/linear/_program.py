"""What only programs ask of a linear scorer: valencies by side, and marks of arcs that cross or are not projective."""

import numpy as np

from crossarc._jit import jit, jit_inline
from crossarc.features._hashing import sum_of, weight_at
from crossarc.scorers._part_scores import count_arcs
from crossarc.scorers.linear._features import arc_indices, valency_indices
from crossarc.scorers.linear._source import LinearSource
from crossarc.search._ilp_parts import valency_sides

# What sets the features of a marked arc apart from those of the arc itself: bits of their places that are the others
NOT_PROJECTIVE = 0x155555
CROSSING = 0x0AAAAA


@valency_sides.register(LinearSource)
def linear_valency_sides(source, valencies):
    """The features of each side have weights of their own."""
    scores = np.zeros((len(valencies), 2, valencies.shape[1]))
    for h in range(len(scores)):
        for k in range(valencies.shape[1]):
            count = valency_indices(source.encoded, h, k, k, source.shift, source.buffer)
            for i in range(count):
                scores[h, i % 2, k] += weight_at(source.weights, source.buffer[i])
    return scores


@jit
def mark_scores(parts, flip):
    """The score of each candidate arc for being marked: as not projective, or as crossing others."""
    source = parts.source
    scores, count = np.empty(count_arcs(parts)), 0
    for m in range(1, len(parts.counts)):
        for j in range(parts.counts[m]):
            n_features = mark_indices(source, parts.candidates[m, j], m, flip)
            scores[count] = sum_of(source.weights, source.buffer, n_features)
            count += 1
    return scores


@jit_inline
def mark_indices(source, h, m, flip):
    """The features of an arc that is marked, in the source's buffer; their number."""
    count = arc_indices(source.encoded, h, m, source.shift, source.buffer)
    mask = (1 << (64 - np.int64(source.shift))) - 1
    for i in range(count):
        source.buffer[i] = (source.buffer[i] ^ flip) & mask
    return count
