"""Update rules of online learning, as values: a kernel that is given one is compiled for that rule alone."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Crf", "FactoredMira", "KBestMira", "Mira", "Perceptron", "UpdateRule"]


class Mira(NamedTuple):
    """The smallest change by which the right answer beats the best wrong one by its loss (MST05 §3.1)."""

    augmented: bool = True  # whether answers are searched for with their loss added to their score


class KBestMira(NamedTuple):
    """The smallest change by which the right answer beats each of the k best by its loss (MST05 §3.1)."""

    augmented: bool = True
    k: int = 5


class FactoredMira(NamedTuple):
    """The smallest change by which each right part beats all parts that could stand in its place (MST05 §3.2)."""

    augmented: bool = True


class Perceptron(NamedTuple):
    """The features of the right answer are added, those of the best wrong one subtracted (Collins 2002)."""

    augmented: bool = True


class Crf(NamedTuple):
    """A step along the gradient of the log-likelihood, with AdaGrad's adaptive steps (MS07 §4.3)."""

    augmented: bool = False


UpdateRule = Mira | KBestMira | FactoredMira | Perceptron | Crf
