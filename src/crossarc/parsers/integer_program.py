"""Parsing by integer programs, whoever scores the parts: rules, time limits, certificates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, Sentence
from crossarc.ilp import Rule, Solution, parts_of, solve
from crossarc.parsers.base import Parsed, ParseOptions
from crossarc.scorers.part_scores import part_scores
from crossarc.search.integer_program import parts_for_ilp, solve_parts

if TYPE_CHECKING:
    from crossarc.parsers.scoring import ScoringParser

__all__ = ["TIME_LIMIT", "Solved", "solved_as_asked", "solved_by_arcs"]

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


def solved_by_arcs(
    parser: ScoringParser, sentence: Sentence, constraints: Constraints, options: ParseOptions
) -> Parsed:
    """The sentence with its best tree under the rules that are asked for; all arcs are candidates."""
    return solved_as_asked(sentence, parser.labels, options, partial(_solve, parser, sentence, constraints))


def _solve(
    parser: ScoringParser,
    sentence: Sentence,
    constraints: Constraints,
    *,
    rules: Sequence[Rule],
    exact: bool,
    time_limit: float | None,
) -> Solved:
    if not len(sentence):
        return Solved(sentence, solve(parts_of(np.zeros((1, 1)))))
    without_limits = replace(constraints, max_children={}, max_degree=None)
    scored = parser.scored([sentence], without_limits)
    scores = part_scores(scored.potentials[0])
    words, choices = np.nonzero(np.arange(scores.candidates.shape[1]) < scores.counts[:, np.newaxis])
    heads = scores.candidates[words, choices]

    def label_scores(seen_in: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of each arc, less that of its best label; they depend on no other arc."""
        of_arcs = scored.label_scores_of_arcs(0)[heads, words]
        found: NDArray[np.float64] = of_arcs - of_arcs.max(axis=1, keepdims=True)
        return found

    shape = Constraints(
        max_children=constraints.max_children,
        max_degree=constraints.max_degree,
        projective=scored.projective,
        single_root=scored.single_root,
    )
    parts = parts_for_ilp(scores)
    solution = solve_parts(
        parts, constraints=shape, rules=rules, label_scores=label_scores, exact=exact, time_limit=time_limit
    )
    labels = solution.tree.labels
    if labels is None:
        labels = scored.label_scores_of_tree(0, solution.tree.heads).argmax(axis=1)
    return Solved(parser.with_labels(sentence, solution.tree.heads, labels), solution, len(heads), len(heads))
