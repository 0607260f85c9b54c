"""Why a parser did something: what each feature template added to a score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.features.language import Template

__all__ = ["Reason", "by_template", "sorted_reasons"]


class Reason(NamedTuple):
    """A template of a part, and the sum of the weights of its features."""

    part: str
    template: str
    weight: float


def by_template(part: str, templates: Sequence[Template], weights: NDArray[np.float32]) -> list[Reason]:
    """Reasons from the weights of features in the order of their templates: two where one is used with distance too."""
    counts = [1 + template.with_distance for template in templates]
    sums = np.add.reduceat(weights, np.cumsum([0, *counts[:-1]])) if counts else weights
    return [Reason(part, template.text, float(sum_)) for template, sum_ in zip(templates, sums, strict=True)]


def sorted_reasons(reasons: Iterable[Reason]) -> list[Reason]:
    """What speaks for something first, what speaks against it last."""
    return sorted(reasons, key=lambda reason: -reason.weight)
