"""Online learning of a hashed weight table: MIRA's quadratic programs, and averaging that touches only what changes.

A constraint asks that the gold tree beat another one by that one's loss: w · d >= loss, where d is the difference of
their features. Differences are sparse: ``indices[bounds[i] : bounds[i + 1]]`` and ``values`` of the same range.
"""

import numpy as np

from crossarc._jit import by_type, jit, jit_helper, jit_inline
from crossarc.learning.rules import KBestMira, Mira, Perceptron

PASSES = 20  # of Hildreth's procedure


@jit_inline
def difference(gold, n_gold, other, n_other, scratch, indices, values):
    """The features of the gold tree minus those of another: their number. ``scratch`` is zero before and after."""
    for i in range(n_gold):
        scratch[gold[i]] += 1
    for i in range(n_other):
        scratch[other[i]] -= 1
    count = 0
    for i in range(n_gold + n_other):
        index = gold[i] if i < n_gold else other[i - n_gold]
        if scratch[index] != 0:
            indices[count] = index
            values[count] = scratch[index]
            scratch[index] = 0
            count += 1
    return count


@by_type
def change_weights(rule, learner, indices, values, bounds, losses):
    """Change the weights so that the right answer beats others, given the differences of their features."""


@change_weights.register(Mira)
@change_weights.register(KBestMira)
def mira_change(rule, learner, indices, values, bounds, losses):
    """By the smallest change that does so by their losses; of one constraint, that is a closed form."""
    passes = 1 if len(losses) == 1 else PASSES
    hildreth(
        learner.weights, learner.totals, learner.step[0], indices, values, bounds, losses, learner.max_step, passes
    )


@change_weights.register(Perceptron)
def perceptron_change(rule, learner, indices, values, bounds, losses):
    """By one step, whatever the losses."""
    add(learner.weights, learner.totals, learner.step[0], 1.0, indices, values)


@jit_helper
def hildreth(weights, totals, step, indices, values, bounds, losses, max_step, passes):
    """The smallest change of the weights that satisfies the constraints, by Hildreth's procedure (MST05, Figure 4).

    Each constraint's multiplier stays between 0 and ``max_step``. With one constraint, one pass is the closed form.
    """
    multipliers = np.zeros(len(losses))
    for _ in range(passes):
        largest = 0.0
        for i in range(len(losses)):
            own = slice(bounds[i], bounds[i + 1])
            multipliers[i], moved = hildreth_step(
                weights, totals, step, indices[own], values[own], losses[i], multipliers[i], max_step
            )
            largest = max(largest, moved)
        if largest < 1e-6:
            break


@jit_inline
def hildreth_step(weights, totals, step, indices, values, loss, multiplier, max_step):
    """The turn of one constraint: its new multiplier, and by how much its margin changed."""
    margin, norm = 0.0, 0.0
    for j in range(len(indices)):
        margin += weights[indices[j]] * values[j]
        norm += values[j] * values[j]
    if norm == 0.0:
        return multiplier, 0.0
    wanted = min(max(multiplier + (loss - margin) / norm, 0.0), max_step)
    change = wanted - multiplier
    if change != 0.0:
        add(weights, totals, step, change, indices, values)
    return wanted, abs(change) * norm


@jit_inline
def passive_aggressive(learner, places, count, right, rival, right_score, rival_score):
    """Let one class beat another by 1, with the smallest change there is, but no larger than the learner allows.

    The weights of a feature lie side by side, one for each class, from its place on (PA-I of Crammer et al. 2006).
    """
    violation = 1.0 - right_score + rival_score
    if violation > 0.0:
        shift_weights(learner, places, count, right, rival, pa_step(learner, violation, 2.0 * count))


@jit_inline
def pa_step(learner, violation, squared_norm):
    """How far to go: τ = min(C, loss / ‖d‖²), where d is the difference of the features of both classes."""
    return min(learner.max_step, violation / squared_norm)


@jit_inline
def shift_weights(learner, places, count, right, rival, change):
    """Add to the weights of one class what those of its rival lose; the totals of lazy averaging with it."""
    weights, totals, of_totals = learner.weights, learner.totals, learner.step[0] * change
    for i in range(count):
        weights[places[i] + right] += change
        weights[places[i] + rival] -= change
        totals[places[i] + right] += of_totals
        totals[places[i] + rival] -= of_totals


@jit_inline
def add(weights, totals, step, change, indices, values):
    """w += change · d; the totals of lazy averaging with it."""
    for j in range(len(indices)):
        weights[indices[j]] += change * values[j]
        totals[indices[j]] += step * change * values[j]


@jit
def average(weights, totals, steps, out):
    """The mean of the weights after each of the steps."""
    for i in range(len(weights)):
        out[i] = weights[i] - totals[i] / steps
