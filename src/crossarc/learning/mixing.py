"""Iterative parameter mixing: online learning on several shards of a treebank at once.

In each epoch, every shard is learnt from apart, from the same weights on; the next begins with the mean of what they
came to. The perceptron still finds weights that separate the data if there are any. The totals of averaging over all
steps are mixed likewise.

References
----------
Ryan McDonald, Keith Hall and Gideon Mann (2010), *Distributed Training Strategies for the Structured Perceptron*.
NAACL.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.learning.online import Learner

__all__ = ["Change", "change_of", "mix", "own_copy"]


class Change(NamedTuple):
    """What learning from one shard has changed; most weights stay as they are."""

    places: NDArray[np.int64]
    weights: NDArray[np.float64]  # what was added there
    totals: NDArray[np.float64]
    steps: float


def own_copy(learner: Learner) -> Learner:
    """The same state in arrays of its own, to learn from a shard with."""
    size = len(learner.weights)
    return learner._replace(
        weights=learner.weights.copy(),
        totals=learner.totals.copy(),
        scratch=np.zeros(size, dtype=np.int32),
        step=learner.step.copy(),
    )


def change_of(before: Learner, after: Learner) -> Change:
    """What makes one state of the other."""
    places = np.flatnonzero((before.weights != after.weights) | (before.totals != after.totals))
    weights = after.weights[places].astype(np.float64) - before.weights[places]
    return Change(places, weights, after.totals[places] - before.totals[places], float(after.step[0] - before.step[0]))


def mix(learner: Learner, changes: Iterable[Change]) -> None:
    """Let the learner be the mean of what it became on each shard, all alike (McDonald et al. 2010, §4.2).

    >>> from crossarc.learning.online import new_learner
    >>> learner = new_learner(3, 1.0)
    >>> ones = np.ones(2)
    >>> mix(learner, [Change(np.array([0, 1]), ones, ones, 5.0), Change(np.array([1, 2]), ones, ones, 5.0)])
    >>> learner.weights.tolist(), learner.step.tolist()
    ([0.5, 1.0, 0.5], [6.0])
    """
    weights, totals = np.zeros(len(learner.weights)), np.zeros(len(learner.totals))
    steps, shards = 0.0, 0
    for change in changes:
        weights[change.places] += change.weights
        totals[change.places] += change.totals
        steps += change.steps
        shards += 1
    learner.weights[:] = learner.weights + weights / shards
    learner.totals[:] += totals / shards
    learner.step[0] += steps / shards
