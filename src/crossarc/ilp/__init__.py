"""Dependency parsing as an integer program: parts and rules in, trees with a certificate out.

Martins, Smith and Xing (2009), *Concise Integer Linear Programming Formulations for Dependency Parsing*, with HiGHS,
and dual decomposition (AD³) for relaxations.
"""

from crossarc.ilp.checks import indicators_of, score_of
from crossarc.ilp.dual_decomposition import Relaxed, relax
from crossarc.ilp.parts import Indicators, Pairs, Parts, parts_of
from crossarc.ilp.rules import (
    Arc,
    Arcs,
    Children,
    FewArcs,
    NoChildren,
    NoCrossing,
    Rule,
    SameHead,
)
from crossarc.ilp.solving import RulesError, Solution, solve

__all__ = [
    "Arc",
    "Arcs",
    "Children",
    "FewArcs",
    "Indicators",
    "NoChildren",
    "NoCrossing",
    "Pairs",
    "Parts",
    "Relaxed",
    "Rule",
    "RulesError",
    "SameHead",
    "Solution",
    "indicators_of",
    "parts_of",
    "relax",
    "score_of",
    "solve",
]
