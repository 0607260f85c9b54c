"""Parsing by integer programs, whoever scores the parts: rules, time limits, certificates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from crossarc.core import Sentence
from crossarc.ilp import Solution
from crossarc.parsers.base import Parsed, ParseOptions

__all__ = ["TIME_LIMIT", "Solved", "solved_as_asked"]

TIME_LIMIT = 5.0  # seconds for a sentence, unless something else is asked for


class Solved(NamedTuple):
    """A parsed sentence, and what the program says about its tree, compared with all trees of candidate arcs."""

    sentence: Sentence
    solution: Solution
    n_candidates: int = 0
    n_arcs: int = 0  # that the constraints allow


def solved_as_asked(
    sentence: Sentence, labels: Sequence[str], options: ParseOptions, solve: Callable[..., Solved]
) -> Parsed:
    """The tree of an integer program as parsing options ask for it.

    ``solve`` finds it, given ``rules``, whether it must be ``exact``, and a ``time_limit``.
    """
    rules = () if options.rules is None else options.rules.rules_for(sentence, labels)
    limit = TIME_LIMIT if options.time_limit is None else options.time_limit
    solved = solve(rules=rules, exact=bool(options.exact), time_limit=limit)
    notes = tuple(f"{sentence.place()}: breaks {rule}" for rule in solved.solution.broken)
    if solved.solution.status == "time limit":
        notes = (*notes, f"{sentence.place()}: time limit of {limit:g} s: the best tree so far")
    return Parsed(solved.sentence, solved.solution.tree.score, status=_status(solved), notes=notes)


def _status(solved: Solved) -> str:
    """The certificate of a tree, for a comment."""
    solution = solved.solution
    over = f"over {solved.n_candidates} of {solved.n_arcs} arcs" if solved.n_candidates < solved.n_arcs else ""
    details = [f"gap {solution.gap:.4f}"] if solution.status == "time limit" else []
    details += [over] if over and solution.status != "rounded" else []
    return f"{solution.status} ({', '.join(details)})" if details else solution.status
