"""Choosing one of a few classes by hashed features: the kernels behind segmenter, tagger and lemmatiser.

``hashes[i, t]`` is what template t takes from item i; the highest bits of it are a place in the table of weights, where the
weights of all classes lie side by side. Item i may have the classes ``classes[bounds[l] : bounds[l + 1]]`` where l is
``lists[i]``.
"""

import numpy as np

from crossarc._kernel import kernel, leaf_kernel
from crossarc.learning._online import passive_aggressive


@leaf_kernel
def score(weights, places, chosen):
    """The score of one class."""
    total = np.float32(0.0)
    for t in range(len(places)):
        total += weights[places[t] + chosen]
    return total


@kernel
def choose(weights, shift, hashes, items, lists, classes, bounds, chosen):
    """The best class of each item, the first of several; ``items[i]`` is where its hashes are."""
    places = np.empty(hashes.shape[1], np.int64)
    for i in range(len(items)):
        first, last = bounds[lists[i]], bounds[lists[i] + 1]
        chosen[i] = classes[first]
        if last - first > 1:
            for t in range(len(places)):
                places[t] = np.int64(hashes[items[i], t] >> shift)
            best = np.float32(-np.inf)
            for c in range(first, last):
                total = score(weights, places, classes[c])
                if total > best:
                    best = total
                    chosen[i] = classes[c]


@kernel
def learn(learner, shift, hashes, items, lists, classes, bounds, gold, order):
    """Learn from the items in the given order: how many were wrong."""
    places = np.empty(hashes.shape[1], np.int64)
    wrong = 0
    for i in order:
        for t in range(len(places)):
            places[t] = np.int64(hashes[items[i], t] >> shift)
        rival, rival_score = -1, np.float32(-np.inf)
        for c in range(bounds[lists[i]], bounds[lists[i] + 1]):
            if classes[c] != gold[i]:
                total = score(learner.weights, places, classes[c])
                if total > rival_score:
                    rival, rival_score = classes[c], total
        if rival >= 0:
            right_score = score(learner.weights, places, gold[i])
            wrong += rival_score >= right_score
            passive_aggressive(learner, places, len(places), gold[i], rival, right_score, rival_score)
        learner.step[0] += 1.0
    return wrong
