"""Integer programs as the search of a linear scorer: trees under rules, and trees that are proven to be the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, NoTreeError, Sentence
from crossarc.features.attributes import attributes_of
from crossarc.ilp import Arc, Rule, Solution, parts_of, solve
from crossarc.ilp.solving import Relaxer
from crossarc.parsers.base import Parsed, ParseOptions
from crossarc.parsers.linear._parse import labels_of_arcs, labels_of_tree, score_sentence
from crossarc.parsers.linear._program import nonprojective_scores
from crossarc.parsers.linear.parser import LinearParser
from crossarc.search.integer_program import KINDS, parts_for_ilp, solve_parts

__all__ = ["Solved", "parsed_by_program", "solve_sentence"]

_SCORED = frozenset(KINDS) - {"nonprojective"}  # the kinds of parts that any linear scorer may have templates for


class Solved(NamedTuple):
    """A parsed sentence, and what the program says about its tree."""

    sentence: Sentence
    solution: Solution


def solve_sentence(
    parser: LinearParser,
    sentence: Sentence,
    constraints: Constraints | None = None,
    *,
    kinds: frozenset[str] = _SCORED,
    rules: Sequence[Rule] = (),
    exact: bool = True,
    time_limit: float | None = None,
    solver: Relaxer = "ad3",
) -> Solved:
    """The sentence with the best tree by the scores of a parser: an integer program instead of its own search.

    If the heads that the pruner leaves allow no tree, all heads are looked at.
    """
    constraints = constraints or Constraints()
    options: dict[str, Any] = {"rules": rules, "exact": exact, "time_limit": time_limit, "solver": solver}
    if not len(sentence):
        return Solved(sentence, solve(parts_of(np.zeros((1, 1)))))
    if parser.scorer.pruner is None:
        return _solved(parser, sentence, constraints, kinds, **options)
    # the pruner is told which arcs the rules require
    required = {(r.head, r.modifier) for r in rules if isinstance(r, Arc) and r.wanted and r.weight == np.inf}
    with_rules = replace(constraints, required_arcs=constraints.required_arcs | required)
    try:
        return _solved(parser, sentence, with_rules, kinds, **options)
    except NoTreeError:
        return _solved(replace(parser, scorer=parser.scorer.without_pruning()), sentence, constraints, kinds, **options)


def _solved(
    parser: LinearParser, sentence: Sentence, constraints: Constraints, kinds: frozenset[str], **options: Any
) -> Solved:
    batch, models = attributes_of([sentence]), parser.scorer.models
    allowed = parser.allowed(len(sentence) + 1, constraints)
    shape = parser.search_for(replace(constraints, max_children={}, max_degree=None)).shape
    scores = score_sentence(batch, models, allowed, shape)

    def label_scores(heads: NDArray[np.int64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = labels_of_arcs(batch, scores, models, allowed, heads.copy())
        return found

    solution = solve_parts(
        parts_for_ilp(scores, kinds, nonprojective_scores(scores) if "nonprojective" in kinds else None),
        constraints=Constraints(
            max_children=constraints.max_children,
            max_degree=constraints.max_degree,
            projective=shape.projective,
            single_root=shape.single_root,
        ),
        label_scores=label_scores,
        **options,
    )
    labels = solution.tree.labels
    if labels is None:
        labels = np.full(len(sentence) + 1, -1)
        labels_of_tree(batch, scores, models, allowed, solution.tree.heads, labels)
    return Solved(parser.with_tree(sentence, solution.tree.heads, labels), solution)


def parsed_by_program(
    parser: LinearParser, sentence: Sentence, constraints: Constraints, options: ParseOptions, **program: Any
) -> Parsed:
    """The tree of an integer program as parsing options ask for it; ``program`` is for ``solve_sentence``."""
    rules = () if options.rules is None else options.rules.rules_for(sentence, parser.labels)
    exact, limit = bool(options.exact), options.time_limit
    solved = solve_sentence(parser, sentence, constraints, rules=rules, exact=exact, time_limit=limit, **program)
    notes = tuple(f"{sentence.place()}: breaks {rule}" for rule in solved.solution.broken)
    score, status = solved.solution.tree.score, _status(solved.solution)
    return Parsed(solved.sentence, score, status=status, notes=notes)


def _status(solution: Solution) -> str:
    """The certificate of a tree, for a comment."""
    return f"time limit (gap {solution.gap:.4f})" if solution.status == "time limit" else solution.status
