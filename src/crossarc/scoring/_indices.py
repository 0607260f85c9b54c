"""From words to places in the weight table: the kernels behind every template.

What a template takes from one word of a part is hashed once per sentence (``hash_slots``). The hash of a feature is then
the sum of two or three ready numbers, and its place in a table of 2^bits weights is given by the sum's highest bits.
"""

from collections import namedtuple

import numpy as np

from crossarc._kernel import kernel

PADDING = 2  # as in scoring.attributes

# slots[s, i, t] of each part (see hash_slots); first and second hashes of the single features of each word, for [pairs]
Encoded = namedtuple("Encoded", "arc between tags sibling grandparent label heads_of_pairs modifiers_of_pairs counts")


@kernel
def mix(x):
    """The finaliser of SplitMix64: every bit of the result depends on every bit of x."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def hash_slots(words, atoms, bounds, seeds, out):
    """out[slot, i, t]: what template t takes from node i where it stands in that slot.

    ``atoms[bounds[t, slot] : bounds[t, slot + 1]]`` are the pairs (offset, attribute) of template t for that slot. The last
    node stands for "no such word".
    """
    n_slots, n_nodes, n_templates = out.shape
    for t in range(n_templates):
        for slot in range(n_slots):
            first, last = bounds[t, slot], bounds[t, slot + 1]
            for i in range(n_nodes):
                x = np.uint64(0)
                if first < last:
                    x = seeds[t] + np.uint64(slot)
                    for a in range(first, last):
                        x = mix(x ^ words[i + PADDING + atoms[a, 0], atoms[a, 1]])
                out[slot, i, t] = x


@kernel
def direction_and_distance(i, j):
    """Two random numbers: for the direction from i to j, and for direction and distance."""
    direction = np.uint64(1) if i < j else np.uint64(2)
    distance = abs(i - j)
    if distance > 10:
        distance = 11
    elif distance > 5:
        distance = 6
    return mix(direction), mix(direction * np.uint64(16) + np.uint64(distance))


@kernel
def arc_indices(encoded, h, m, shift, out):
    """Where the weights of the features of the arc h -> m are; their number."""
    direction, distance = direction_and_distance(h, m)
    head, modifier = encoded.arc[0, h], encoded.arc[1, m]
    n_templates = len(head)
    for t in range(n_templates):
        x = head[t] + modifier[t]
        out[2 * t] = (x + direction) >> shift
        out[2 * t + 1] = (x + distance) >> shift
    count = 2 * n_templates
    count = between_indices(encoded, h, m, direction, shift, out, count)
    for i in range(encoded.counts[h]):
        for j in range(encoded.counts[m]):
            out[count] = (encoded.heads_of_pairs[h, i] + encoded.modifiers_of_pairs[m, j] + direction) >> shift
            count += 1
    return count


@kernel
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


@kernel
def triple_indices(slots, first, second, third, shift, out):
    """The same for a part of three words, such as head, sibling and modifier."""
    direction, distance = direction_and_distance(second, third)
    direction += np.uint64(3) * mix(np.uint64(1) if first < third else np.uint64(2))
    a, b, c = slots[0, first], slots[1, second], slots[2, third]
    n_templates = len(a)
    for t in range(n_templates):
        x = a[t] + b[t] + c[t] + direction
        out[2 * t] = x >> shift
        out[2 * t + 1] = (x + distance) >> shift
    return 2 * n_templates


@kernel
def sum_of(weights, indices, count):
    total = np.float32(0.0)
    for i in range(count):
        total += weights[indices[i]]
    return total


@kernel
def most_arc_features(encoded):
    """How many features an arc can have at most."""
    most = encoded.counts.max()
    return 2 * encoded.arc.shape[2] + 64 * encoded.between.shape[2] + most * most


@kernel
def mix_all(features):
    """Two independent hashes of each single feature: as one of a head, and as one of a modifier."""
    heads, modifiers = np.empty_like(features), np.empty_like(features)
    for i in range(features.shape[0]):
        for j in range(features.shape[1]):
            heads[i, j] = mix(features[i, j] + np.uint64(1))
            modifiers[i, j] = mix(features[i, j] + np.uint64(2))
    return heads, modifiers
