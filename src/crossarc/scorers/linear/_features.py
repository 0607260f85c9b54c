"""From words to places in the weight table: the kernels behind every template.

What a template takes from one word of a part is hashed once per sentence (``hash_slots``). The hash of a feature
is then the sum of two or three ready numbers, and its place in a table of 2^bits weights is given by the sum's
highest bits (``shift`` is 64 - bits).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc._jit import jit_helper, jit_inline
from crossarc.features._hashing import hash_slots, mix
from crossarc.features.attributes import PADDING, UPOS

Hashes = NDArray[np.uint64]


class Encoded(NamedTuple):
    """The words of a sentence, hashed for each kind of part: slots[s, i, t], see ``hash_slots``."""

    arc: Hashes
    between: Hashes
    sibling: Hashes
    grandparent: Hashes
    any_sibling: Hashes
    valency: Hashes
    with_distance: tuple[int, int, int]  # how many templates of arcs, siblings and grandparents come with distance
    tags: NDArray[np.uint64]  # [i]: the number of each word's tag among those of the sentence
    heads_of_pairs: Hashes  # [i, f]: the single features of a word, for [pairs]
    modifiers_of_pairs: Hashes  # [i, f]: the same features with another hash
    counts: NDArray[np.int64]  # [i]: how many there are


class Triple(NamedTuple):
    """A part of three words."""

    slots: Hashes
    with_distance: int  # so many templates come with distance
    first: int
    second: int
    third: int
    side: np.uint64  # how they stand to each other
    distance: int


MOST_COUNTED = 5  # children on one side of a head


@jit_helper
def encode(attributes, templates):
    """All ready numbers of a sentence; ``templates`` has the compiled templates of each part."""
    words = attributes.words
    return Encoded(
        hash_slots(words, templates.arc),
        hash_slots(words, templates.between),
        hash_slots(words, templates.sibling),
        hash_slots(words, templates.grandparent),
        hash_slots(words, templates.any_sibling),
        hash_slots(words, templates.valency),
        (templates.arc.with_distance, templates.sibling.with_distance, templates.grandparent.with_distance),
        number_tags(words[PADDING:, UPOS]),
        mix_all(attributes.features, np.uint64(1)),
        mix_all(attributes.features, np.uint64(2)),
        attributes.counts if templates.pairs else np.zeros_like(attributes.counts),
    )


@jit_helper
def number_tags(tags):
    """The number of each tag among the different ones of the sentence, at most 63: a set of them fits in 64 bits."""
    numbers = np.empty(len(tags), np.uint64)
    different = np.empty(64, np.uint64)
    count = 0
    for i in range(len(tags)):
        number = 0
        while number < count and different[number] != tags[i]:
            number += 1
        if number == count and count < 63:
            different[count] = tags[i]
            count += 1
        numbers[i] = number
    return numbers


@jit_helper
def mix_all(features, seed):
    """A hash of each single feature; another one for another seed."""
    mixed = np.empty_like(features)
    for i in range(features.shape[0]):
        for j in range(features.shape[1]):
            mixed[i, j] = mix(features[i, j] + seed)
    return mixed


@jit_inline
def direction_of(i, j):
    """A random number for the direction from i to j."""
    return mix(np.uint64(1) if i < j else np.uint64(2))


@jit_inline
def distance_bin(distance):
    """Where the weight for a distance lies behind that of the feature without one: 1 to 7."""
    if distance <= 4:
        return np.uint64(distance)
    if distance <= 6:
        return np.uint64(5)
    return np.uint64(6) if distance <= 10 else np.uint64(7)


@jit_inline
def cache_line(x, shift):
    """The place of a feature's weights: eight of them side by side, so that they come from memory together."""
    return (x >> shift) & ~np.uint64(7)


@jit_inline
def arc_indices(encoded, h, m, shift, out):
    """Where the weights of the features of the arc h -> m are; their number.

    A template with distance stands for two features: with the direction of the arc, and with direction and distance.
    """
    direction, distance = direction_of(h, m), distance_bin(abs(h - m))
    head, modifier = encoded.arc[0, h], encoded.arc[1, m]
    n_templates, with_distance = len(head), encoded.with_distance[0]
    for t in range(with_distance):
        line = cache_line(head[t] + modifier[t] + direction, shift)
        out[2 * t] = line
        out[2 * t + 1] = line + distance
    for t in range(with_distance, n_templates):
        out[with_distance + t] = (head[t] + modifier[t] + direction) >> shift
    count = between_indices(encoded, h, m, direction, shift, out, with_distance + n_templates)
    for i in range(encoded.counts[h]):
        for j in range(encoded.counts[m]):
            out[count] = (encoded.heads_of_pairs[h, i] + encoded.modifiers_of_pairs[m, j] + direction) >> shift
            count += 1
    return count


@jit_inline
def between_indices(encoded, h, m, direction, shift, out, count):
    """A feature for each different tag between h and m."""
    between = encoded.between
    seen = np.uint64(0)
    for b in range(min(h, m) + 1, max(h, m)):
        bit = np.uint64(1) << encoded.tags[b]
        if not seen & bit:
            seen |= bit
            for t in range(between.shape[2]):
                out[count] = (between[0, h, t] + between[1, b, t] + between[2, m, t] + direction) >> shift
                count += 1
    return count


@jit_inline
def sibling_triple(encoded, h, s, m):
    """Head, adjacent sibling and modifier; s == h: m is the first child on its side."""
    none = encoded.sibling.shape[1] - 1
    side = np.uint64(1) if h < m else np.uint64(2)
    return Triple(encoded.sibling, encoded.with_distance[1], h, none if s == h else s, m, side, abs(m - s))


@jit_inline
def grandparent_triple(encoded, g, h, m):
    """The head of the head, head and modifier."""
    side = (np.uint64(3) if g < h else np.uint64(4)) + (np.uint64(2) if h < m else np.uint64(0))
    return Triple(encoded.grandparent, encoded.with_distance[2], g, h, m, side, abs(h - m))


@jit_inline
def any_sibling_triple(encoded, h, s, m):
    """Two children s < m of h, not with distance."""
    side = np.uint64(7) if m < h else np.uint64(8) if h < s else np.uint64(9)
    return Triple(encoded.any_sibling, 0, h, s, m, side, 0)


@jit_inline
def sibling_indices(encoded, h, s, m, shift, out):
    return triple_indices(sibling_triple(encoded, h, s, m), shift, out)


@jit_inline
def grandparent_indices(encoded, g, h, m, shift, out):
    return triple_indices(grandparent_triple(encoded, g, h, m), shift, out)


@jit_inline
def any_sibling_indices(encoded, h, s, m, shift, out):
    return triple_indices(any_sibling_triple(encoded, h, s, m), shift, out)


@jit_inline
def valency_indices(encoded, h, left, right, shift, out):
    """A head with the number of its children to the left, and with that to the right."""
    return counted_indices(encoded.valency[0, h], left, right, shift, out)


@jit_inline
def counted_indices(head, left, right, shift, out):
    on_left, on_right = mix(np.uint64(16 + left)), mix(np.uint64(32 + right))
    for t in range(len(head)):
        out[2 * t] = (head[t] + on_left) >> shift
        out[2 * t + 1] = (head[t] + on_right) >> shift
    return 2 * len(head)


@jit_inline
def triple_indices(triple, shift, out):
    """Each template with the side on which the words lie, and the first of them with side and distance."""
    slots, with_distance = triple.slots, triple.with_distance
    a, b, c = slots[0, triple.first], slots[1, triple.second], slots[2, triple.third]
    random_side, place = mix(triple.side), distance_bin(triple.distance)
    n_templates = len(a)
    for t in range(with_distance):
        line = cache_line(a[t] + b[t] + c[t] + random_side, shift)
        out[2 * t] = line
        out[2 * t + 1] = line + place
    for t in range(with_distance, n_templates):
        out[with_distance + t] = (a[t] + b[t] + c[t] + random_side) >> shift
    return with_distance + n_templates


@jit_helper
def most_features(encoded):
    """How many features a part of this sentence can have at most."""
    most_single = 0
    for count in encoded.counts:
        most_single = max(most_single, count)
    pairs = most_single**2
    arc = 2 * encoded.arc.shape[2] + 64 * encoded.between.shape[2] + pairs
    triples = 2 * max(encoded.sibling.shape[2], encoded.grandparent.shape[2])
    return max(arc, triples, encoded.any_sibling.shape[2], 2 * encoded.valency.shape[2])
