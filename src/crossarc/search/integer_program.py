"""The best tree by an integer program, or by its relaxation: under rules, and with a proof (MSX09)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints
from crossarc.ilp import Parts, Rule, Solution, solve
from crossarc.ilp.deadline import Deadline
from crossarc.ilp.rounding import rounded
from crossarc.ilp.solving import Relaxer
from crossarc.scorers.part_scores import PartScores
from crossarc.search._ilp_parts import ilp_parts

_OTHERS = 0.8  # the share of the time that is not for the first tree, in which labels are seen

__all__ = ["KINDS", "parts_for_ilp", "solve_parts"]

# the kinds of parts of a program
KINDS = ("arc", "sibling", "grandparent", "next-sibling", "first-child", "valency", "nonprojective", "crossing")


def parts_for_ilp(
    parts: PartScores, kinds: Collection[str] = KINDS, marks: Mapping[str, NDArray[np.float64]] | None = None
) -> Parts:
    """The parts of a program, of the given kinds: ``PartScores.any_siblings`` are its siblings.

    ``marks`` has the score of each candidate arc, word by word, for being ``nonprojective`` or ``crossing`` others.
    """
    found: Parts = ilp_parts(parts)
    first, _, scores = found.next_siblings
    for kind, own in (("first-child", first < 0), ("next-sibling", first >= 0)):
        if kind not in kinds:
            scores = np.where(own, 0.0, scores)
    found = found._replace(next_siblings=found.next_siblings._replace(scores=scores))
    none = np.empty(0)
    marks = {"nonprojective": none, "crossing": none, **(marks or {})}
    return found._replace(nonprojective=marks["nonprojective"], crossing=marks["crossing"])


def solve_parts(
    parts: Parts,
    *,
    constraints: Constraints,
    rules: Sequence[Rule] = (),
    label_scores: Callable[[NDArray[np.int64]], NDArray[np.float64]] | None = None,
    exact: bool = True,
    time_limit: float | None = None,
    solver: Relaxer = "ad3",
) -> Solution:
    """The best tree under constraints and rules, and how good it is; see ``ilp.solve``.

    ``label_scores`` gives the scores of each arc's labels, seen in a tree: in one that is good without any rules, found
    by climbing. It is asked only if there are rules about labels.
    """
    deadline = Deadline.after(time_limit)
    if label_scores is not None and any(rule.mentioned for rule in rules):
        first = deadline.keeping(_OTHERS)
        seen_in = rounded(parts, parts.arcs, single_root=constraints.single_root, seed=1, deadline=first).heads
        parts = parts._replace(labels=label_scores(seen_in))
    return solve(parts, constraints=constraints, rules=rules, exact=exact, time_limit=deadline.left, solver=solver)
