"""The features of a tree's parts: where their weights are."""

from crossarc._jit import jit_helper, jit_inline
from crossarc.scorers.linear._features import (
    MOST_COUNTED,
    any_sibling_indices,
    arc_indices,
    grandparent_indices,
    most_features,
    sibling_indices,
    valency_indices,
)
from crossarc.search._candidate_tree import count_children, neighbours


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
