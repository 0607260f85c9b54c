"""Ways to search for the best tree, as values: a kernel that is given one is compiled for that way alone."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Exact", "HillClimbing", "SearchMethod", "SecondOrder"]


class Exact(NamedTuple):
    """The best tree by the scores of its arcs alone: Chu-Liu-Edmonds or Eisner."""

    single_root: bool = False
    projective: bool = False
    restarts: int = 0  # there is nothing to start again


class SecondOrder(NamedTuple):
    """Arcs and adjacent siblings: the exact projective tree, from there the best changes of a head (MP06, Fig. 4)."""

    single_root: bool = False
    projective: bool = False  # if so, the exact projective tree is the answer
    restarts: int = 3  # of hill climbing, which takes over for very long sentences


class HillClimbing(NamedTuple):
    """Parts of any kind: each word takes its best head in turn, from several starts (Zhang et al. 2014)."""

    single_root: bool = False
    projective: bool = False
    restarts: int = 3  # further starts after the best tree by arcs


SearchMethod = Exact | SecondOrder | HillClimbing
