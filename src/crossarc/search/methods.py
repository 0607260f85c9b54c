"""Ways to search for the best tree, as values: a kernel that is given one is compiled for that way alone.

>>> HillClimbing(NonProjective(single_root=True), restarts=5).shape.single_root
True
"""

from __future__ import annotations

import sys
from typing import NamedTuple

from crossarc.scorers.shape import NonProjective, TreeShape

__all__ = ["Exact", "HillClimbing", "SearchMethod", "SecondOrder"]


class Exact(NamedTuple):
    """The best tree by the scores of its arcs alone: Chu-Liu-Edmonds or Eisner."""

    shape: TreeShape = NonProjective()


class SecondOrder(NamedTuple):
    """Arcs and adjacent siblings: the exact projective tree, from there the best changes of a head (MP06, Fig. 4)."""

    shape: TreeShape = NonProjective()  # if projective, the exact tree is the answer
    restarts: int = 3  # of hill climbing, which takes over for very long sentences
    from_projective: bool = True  # else the changes start from the best tree by arcs
    max_changes: int = sys.maxsize  # M of the paper


class HillClimbing(NamedTuple):
    """Parts of any kind: each word takes its best head in turn, from several starts (Zhang et al. 2014)."""

    shape: TreeShape = NonProjective()
    restarts: int = 3  # further starts after the best tree by arcs, at most
    agreeing: int = sys.maxsize  # so many starts that lead to the best tree are enough
    noise: float = 1.0  # how far from the best tree by arcs starts are drawn: 1 is the first-order distribution


SearchMethod = Exact | SecondOrder | HillClimbing
