"""Ways to search for the best tree, as values: a kernel that is given one is compiled for that way alone.

>>> HillClimbing(NonProjective(single_root=True), restarts=5).shape.single_root
True
"""

from __future__ import annotations

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


class HillClimbing(NamedTuple):
    """Parts of any kind: each word takes its best head in turn, from several starts (Zhang et al. 2014)."""

    shape: TreeShape = NonProjective()
    restarts: int = 3  # further starts after the best tree by arcs


SearchMethod = Exact | SecondOrder | HillClimbing
