"""Choosing one of a few classes by hashed features: the kernels behind segmenter and tagger.

The highest bits of a feature's hash are a place in the table of weights. From there on lie the weights of all aspects
of classes (UPOS, XPOS, ...): class c has the aspects ``aspects[c]``; the sum of their weights is its score. Item i may
have the classes ``classes[bounds[l] : bounds[l + 1]]`` where l is ``lists[i]``. For learning, all features are hashed
before: ``hashes[items[i], t]`` is what template t takes from item i.
"""

import numpy as np

from crossarc._jit import jit, jit_inline
from crossarc.features._hashing import mix, weight_at
from crossarc.features.attributes import PADDING
from crossarc.learning._online import pa_step, shift_weights


@jit_inline
def score(weights, places, aspects):
    """The score of a class with these aspects."""
    total = np.float32(0.0)
    for t in range(len(places)):
        for k in range(len(aspects)):
            total += weights[places[t] + aspects[k]]
    return total


@jit_inline
def find_places(hashes, shift, places):
    for t in range(len(places)):
        places[t] = np.int64(hashes[t] >> shift)


@jit
def choose_within_margin(weights, shift, aspects, templates, items, choices, margin, left, bounds):
    """The best class of each item, the first of several; after it those that are less than ``margin`` worse.

    Those of item i are ``left[bounds[i] : bounds[i + 1]]``. Features are looked up only where there is a choice, and
    each aspect only once: many classes have it in common.
    """
    places = np.empty(len(templates.seeds), np.int64)
    totals = np.empty(aspects.max() + 1, np.float32)
    asked = np.full(len(totals), -1)
    different = np.empty(len(totals), np.int64)
    for i in range(len(items.rows)):
        first, last = choices.bounds[choices.lists[i]], choices.bounds[choices.lists[i] + 1]
        classes, end = choices.classes[first:last], bounds[i]
        left[end] = classes[0]
        bounds[i + 1] = end + 1
        if len(classes) > 1:
            find_features(items.attributes, items.rows[i], templates, shift, places)
            count = find_aspects(aspects, classes, i, asked, different)
            add_up(weights, places, different[:count], totals)
            bounds[i + 1] = append_within_margin(totals, aspects, classes, np.float32(margin), left, end)


@jit_inline
def find_features(attributes, row, templates, shift, places):
    """The places of the features of one item; see ``hash_slots``."""
    for t in range(len(places)):
        x = templates.seeds[t]
        for a in range(templates.bounds[t, 0], templates.bounds[t, 1]):
            x = mix(x ^ attributes[row + PADDING + templates.atoms[a, 0], templates.atoms[a, 1]])
        places[t] = np.int64(x >> shift)


@jit_inline
def find_aspects(aspects, classes, item, asked, different):
    """The different aspects of some classes; their number."""
    count = 0
    for c in classes:
        for k in range(aspects.shape[1]):
            if asked[aspects[c, k]] != item:
                asked[aspects[c, k]] = item
                different[count] = aspects[c, k]
                count += 1
    return count


@jit_inline
def add_up(weights, places, different, totals):
    """The sum of the weights of each aspect."""
    for a in different:
        totals[a] = np.float32(0.0)
    for place in places:
        for a in different:
            totals[a] += weight_at(weights, place + a)


@jit_inline
def append_within_margin(totals, aspects, classes, margin, left, end):
    """Append the best class and those within a margin of it to what is left; where that ends."""
    best, highest = 0, np.float32(-np.inf)
    for c in range(len(classes)):
        total = total_of(totals, aspects[classes[c]])
        if total > highest:
            best, highest = c, total
    left[end] = classes[best]
    end += 1
    for c in range(len(classes)):
        if c != best and total_of(totals, aspects[classes[c]]) > highest - margin:
            left[end] = classes[c]
            end += 1
    return end


@jit_inline
def total_of(totals, aspects):
    total = np.float32(0.0)
    for k in range(len(aspects)):
        total += totals[aspects[k]]
    return total


@jit
def learn(learner, shift, aspects, hashes, items, choices, gold, order):
    """Learn from the items in the given order (passive-aggressive): how many were wrong."""
    places = np.empty(hashes.shape[1], np.int64)
    wrong = 0
    for i in order:
        find_places(hashes[items[i]], shift, places)
        rival, rival_score = -1, np.float32(-np.inf)
        for c in range(choices.bounds[choices.lists[i]], choices.bounds[choices.lists[i] + 1]):
            if choices.classes[c] != gold[i]:
                total = score(learner.weights, places, aspects[choices.classes[c]])
                if total > rival_score:
                    rival, rival_score = choices.classes[c], total
        if rival >= 0:
            right_score = score(learner.weights, places, aspects[gold[i]])
            wrong += rival_score >= right_score
            prefer(learner, places, aspects[gold[i]], aspects[rival], 1.0 - right_score + rival_score)
        learner.step[0] += 1.0
    return wrong


@jit_inline
def prefer(learner, places, right, rival, violation):
    """The passive-aggressive update: only aspects in which the two classes differ change."""
    different = 0
    for k in range(len(right)):
        different += right[k] != rival[k]
    if violation > 0.0 and different > 0:
        step = pa_step(learner, violation, 2.0 * different * len(places))
        for k in range(len(right)):
            if right[k] != rival[k]:
                shift_weights(learner, places, len(places), right[k], rival[k], step)
