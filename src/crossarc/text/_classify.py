"""Choosing one of a few classes by hashed features: the kernels behind segmenter and tagger.

``hashes[i, t]`` is what template t takes from an item; the highest bits of it are a place in the table of weights. From
there on lie the weights of all aspects of classes (UPOS, XPOS, ...): class c has the aspects ``aspects[c]``; the sum of
their weights is its score. Item i may have the classes ``classes[bounds[l] : bounds[l + 1]]`` where l is
``lists[i]``.
"""

import numpy as np

from crossarc._kernel import kernel, leaf_kernel


@leaf_kernel
def score(weights, places, aspects):
    """The score of a class with these aspects."""
    total = np.float32(0.0)
    for t in range(len(places)):
        for k in range(len(aspects)):
            total += weights[places[t] + aspects[k]]
    return total


@leaf_kernel
def find_places(hashes, shift, places):
    for t in range(len(places)):
        places[t] = np.int64(hashes[t] >> shift)


@kernel
def choose(weights, shift, aspects, hashes, items, lists, classes, bounds, chosen):
    """The best class of each item, the first of several; ``items[i]`` is where its hashes are."""
    places = np.empty(hashes.shape[1], np.int64)
    for i in range(len(items)):
        first, last = bounds[lists[i]], bounds[lists[i] + 1]
        chosen[i] = classes[first]
        if last - first > 1:
            find_places(hashes[items[i]], shift, places)
            best = np.float32(-np.inf)
            for c in range(first, last):
                total = score(weights, places, aspects[classes[c]])
                if total > best:
                    best = total
                    chosen[i] = classes[c]


@kernel
def learn(learner, shift, aspects, hashes, items, lists, classes, bounds, gold, order):
    """Learn from the items in the given order (passive-aggressive): how many were wrong."""
    places = np.empty(hashes.shape[1], np.int64)
    wrong = 0
    for i in order:
        find_places(hashes[items[i]], shift, places)
        rival, rival_score = -1, np.float32(-np.inf)
        for c in range(bounds[lists[i]], bounds[lists[i] + 1]):
            if classes[c] != gold[i]:
                total = score(learner.weights, places, aspects[classes[c]])
                if total > rival_score:
                    rival, rival_score = classes[c], total
        if rival >= 0:
            right_score = score(learner.weights, places, aspects[gold[i]])
            wrong += rival_score >= right_score
            update(learner, places, aspects[gold[i]], aspects[rival], 1.0 - right_score + rival_score)
        learner.step[0] += 1.0
    return wrong


@leaf_kernel
def update(learner, places, right, rival, violation):
    """Let one class beat another by 1, with the smallest change there is, but no larger than the learner allows."""
    different = 0
    for k in range(len(right)):
        different += right[k] != rival[k]
    if violation <= 0.0 or different == 0:
        return
    change = min(learner.most, violation / (2.0 * different * len(places)))
    taken_back = learner.step[0] * change
    for k in range(len(right)):
        if right[k] != rival[k]:
            for t in range(len(places)):
                learner.weights[places[t] + right[k]] += change
                learner.weights[places[t] + rival[k]] -= change
                learner.totals[places[t] + right[k]] += taken_back
                learner.totals[places[t] + rival[k]] -= taken_back
