"""Integer programs as the search of a linear scorer: trees under rules, and trees that are proven to be the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from crossarc.core import Constraints, NoTreeError, Sentence
from crossarc.features.attributes import attributes_of
from crossarc.ilp import Arc, Pairs, Parts, Rule, Solution, parts_of, solve
from crossarc.ilp.parts import PartArrays
from crossarc.ilp.solving import Relaxer
from crossarc.parsers.base import Parsed, ParseOptions
from crossarc.parsers.linear._program import labels_of_arcs, labels_of_tree, parsing_space
from crossarc.parsers.linear.parser import LinearParser, kernel_rules

__all__ = ["Solved", "parsed_by_program", "parts_from", "solve_sentence"]

# the kinds of parts that linear scorers have templates for
ALL_KINDS = frozenset({"arc", "sibling", "grandparent", "next-sibling", "first-child", "valency"})


class Solved(NamedTuple):
    """A parsed sentence, and what the program says about its tree."""

    sentence: Sentence
    solution: Solution


def solve_sentence(
    parser: LinearParser,
    sentence: Sentence,
    constraints: Constraints | None = None,
    *,
    kinds: frozenset[str] = ALL_KINDS,
    rules: Sequence[Rule] = (),
    exact: bool = True,
    time_limit: float | None = None,
    solver: Relaxer = "ad3",
) -> Solved:
    """The sentence with the best tree by the scores of a parser: an integer program instead of its own search.

    If the heads that the pruner leaves allow no tree, all heads are looked at.
    """
    constraints = constraints or Constraints()
    if not len(sentence):
        return Solved(sentence, solve(parts_of(np.zeros((1, 1)))))
    problem = _Problem(parser, sentence, constraints, kinds, tuple(rules), exact, time_limit, solver)
    if parser.scorer.pruner is None:
        return problem.solved()
    try:
        return problem.with_required_arcs().solved()
    except NoTreeError:
        everything = replace(parser, scorer=parser.scorer.without_pruning())
        return replace(problem, parser=everything).solved()


@dataclass(frozen=True)
class _Problem:
    parser: LinearParser
    sentence: Sentence
    constraints: Constraints
    kinds: frozenset[str]
    rules: tuple[Rule, ...]
    exact: bool
    time_limit: float | None
    solver: Relaxer

    def with_required_arcs(self) -> _Problem:
        """The same; the pruner knows which arcs the rules require."""
        required = {(r.head, r.modifier) for r in self.rules if isinstance(r, Arc) and r.wanted and r.weight == np.inf}
        if not required:
            return self
        arcs = self.constraints.required_arcs | required
        return replace(self, constraints=replace(self.constraints, required_arcs=arcs))

    def solved(self) -> Solved:
        parser, constraints = self.parser, self.constraints
        batch = attributes_of([self.sentence])
        allowed = parser.allowed(len(self.sentence) + 1, constraints)
        search = parser.rules(replace(constraints, max_children={}, max_degree=None))
        rules, models = kernel_rules(parser.scorer, search), parser.scorer.models
        space, arrays = parsing_space(batch, models, allowed, rules, "nonprojective" in self.kinds)
        parts = parts_from(arrays, len(self.sentence) + 1, self.kinds)
        options: dict[str, Any] = {
            "constraints": Constraints(
                max_children=constraints.max_children,
                max_degree=constraints.max_degree,
                projective=rules.projective,
                single_root=rules.single_root,
            ),
            "exact": self.exact,
            "time_limit": self.time_limit,
            "solver": self.solver,
        }
        about_labels = any(rule.mentioned for rule in self.rules)
        if about_labels:
            # Labels are seen in the best tree without the rules about them.
            others = [rule for rule in self.rules if not rule.mentioned]
            heads = solve(parts, rules=others, **options).tree.heads
            scores = labels_of_arcs(batch, space, models, allowed, rules, heads.copy())
            parts = replace(parts, labels=scores)
        solution = solve(parts, rules=self.rules, **options)
        labels = solution.tree.labels
        if labels is None:
            labels = np.full(len(self.sentence) + 1, -1)
            labels_of_tree(batch, space, models, allowed, rules, solution.tree.heads, labels)
        return Solved(parser.with_tree(self.sentence, solution.tree.heads, labels), solution)


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


def parts_from(arrays: PartArrays, size: int, kinds: frozenset[str]) -> Parts:
    """The parts of a space, as programs want them."""
    first, second, scores = arrays.next_siblings
    for kind, own in (("first-child", first < 0), ("next-sibling", first >= 0)):
        if kind not in kinds:
            scores = np.where(own, 0.0, scores)
    return Parts(size, *arrays._replace(next_siblings=Pairs(first, second, scores)))


def _status(solution: Solution) -> str:
    """The certificate of a tree, for a comment."""
    return f"time limit (gap {solution.gap:.4f})" if solution.status == "time limit" else solution.status
