"""Steps along gradients that adapt to each weight (AdaGrad; Duchi, Hazan and Singer 2011), on sparse gradients."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc._jit import jit, jit_inline

FIRST = 10.0  # what sums of squares start from: rare features take small steps; chosen on dev


class Gradient(NamedTuple):
    """The gradient of some weights, which is not zero in few places."""

    slopes: NDArray[np.void]  # of each weight, see ``learning.online.SLOPE``
    touched: NDArray[np.int64]  # [:count[0]]: where it may not be zero; an array without elements notes nothing
    count: NDArray[np.int64]
    negligible: float  # what is not greater than this is left out


@jit_inline
def add_at(gradient, index, value):
    """Add to the gradient of one weight."""
    if len(gradient.touched) > 0 and gradient.slopes[index].gradient == 0.0:
        gradient.touched[gradient.count[0]] = index
        gradient.count[0] += 1
    gradient.slopes[index].gradient += value


@jit_inline
def adapt(learner, gradient):
    """Step along the gradient, and forget it: a weight that has changed much already changes little."""
    for i in range(gradient.count[0]):
        slope = learner.slopes[gradient.touched[i]]
        slope.squares += slope.gradient * slope.gradient
        change = learner.rate * slope.gradient / np.sqrt(slope.squares + FIRST)
        slope.gradient = 0.0
        slope.total += learner.step[0] * change
        learner.weights[gradient.touched[i]] += change
    gradient.count[0] = 0


@jit
def shrink(learner, l2):
    """What L2 regularisation asks of an epoch: the proximal step, with the same adaptive steps."""
    for i in range(len(learner.weights)):
        if learner.weights[i] != 0.0:
            slope = learner.slopes[i]
            step = learner.rate * l2 / np.sqrt(slope.squares + FIRST)
            change = -learner.weights[i] * step / (1.0 + step)
            learner.weights[i] += change
            slope.total += learner.step[0] * change
