"""Integer programs as the search of a linear scorer: trees under rules, and trees that are proven to be the best."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, NoTreeError, Sentence
from crossarc.features.attributes import attributes_of
from crossarc.ilp import Arc, Parts, Rule, SameHead, Solution, parts_of, solve
from crossarc.ilp.solving import Relaxer
from crossarc.parsers.base import Parsed, ParseOptions
from crossarc.parsers.linear._parse import labels_of_arcs, labels_of_tree, score_sentence
from crossarc.parsers.linear._program import nonprojective_scores
from crossarc.parsers.linear.parser import LinearParser
from crossarc.parsers.programs import Solved, solved_as_asked
from crossarc.scorers.part_scores import PartScores
from crossarc.search.integer_program import KINDS, parts_for_ilp, solve_parts

__all__ = ["parsed_by_program", "solve_sentence"]

_SCORED = frozenset(KINDS) - {"nonprojective"}  # the kinds of parts that any linear scorer may have templates for


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

    The candidates are the heads that the pruner leaves, and those that rules name. If they allow no tree, the heads of
    the best tree by arcs that keeps the hard rules are candidates too; all arcs are looked at for that.
    """
    if not len(sentence):
        return Solved(sentence, solve(parts_of(np.zeros((1, 1)))))
    program = _Program(parser, sentence, constraints or Constraints(), kinds, rules, time_limit)
    try:
        return program.solved(program.candidates(), exact, solver)
    except NoTreeError:
        if parser.scorer.pruner is None:
            raise
        return program.solved(program.candidates(program.needed_arcs()), exact, solver)


class _Program:
    """A sentence, its scores, and what its tree must be like."""

    def __init__(
        self,
        parser: LinearParser,
        sentence: Sentence,
        constraints: Constraints,
        kinds: frozenset[str],
        rules: Sequence[Rule],
        time_limit: float | None,
    ) -> None:
        self.end = None if time_limit is None else time.monotonic() + time_limit
        self.parser, self.sentence, self.kinds, self.rules = parser, sentence, kinds, rules
        self.batch, self.models = attributes_of([sentence]), parser.scorer.models
        self.given = constraints
        self.shape = parser.search_for(replace(constraints, max_children={}, max_degree=None)).shape
        self.constraints = Constraints(
            max_children=constraints.max_children,
            max_degree=constraints.max_degree,
            projective=self.shape.projective,
            single_root=self.shape.single_root,
        )

    @property
    def time_left(self) -> float | None:
        return None if self.end is None else max(self.end - time.monotonic(), 0.0)

    def candidates(self, others: Iterable[tuple[int, int]] = ()) -> PartScores:
        """The scores of the heads that the pruner leaves, of those that rules name, and of some other arcs."""
        scores: PartScores = score_sentence(self.batch, self.models, self._allowed(self.given), self.shape)
        wanted = {*others}
        for rule in self.rules:
            if isinstance(rule, Arc) and rule.wanted:
                wanted.add((rule.head, rule.modifier))
            elif isinstance(rule, SameHead):
                heads = {int(h) for m in rule.words for h in scores.candidates[m, : scores.counts[m]]}
                wanted |= {(h, m) for h in heads for m in rule.words if h != m}
        for head, modifier in sorted(wanted):
            if head in scores.candidates[modifier, : scores.counts[modifier]]:
                continue
            required = self.given.required_arcs | {(head, modifier)}
            try:
                allowed = self._allowed(replace(self.given, required_arcs=required))
            except NoTreeError:  # a constraint is against it
                continue
            scores = _merged(scores, score_sentence(self.batch, self.models, allowed, self.shape))
        return scores

    def needed_arcs(self) -> set[tuple[int, int]]:
        """The arcs of the best tree by arcs that keeps the hard rules: all heads are looked at."""
        models = self.models._replace(max_candidates=0)
        scores = score_sentence(self.batch, models, self._allowed(self.given), self.shape)
        every = parts_for_ilp(scores._replace(**_NO_LARGER_PARTS), frozenset({"arc"}))
        heads = self._solve(
            every, scores, [rule for rule in self.rules if rule.weight == np.inf], exact=True
        ).tree.heads
        return {(int(h), m) for m, h in enumerate(heads.tolist()) if m}

    def solved(self, scores: PartScores, exact: bool, solver: Relaxer) -> Solved:
        """The best tree of these candidates."""
        marks = nonprojective_scores(scores) if "nonprojective" in self.kinds else None
        parts = parts_for_ilp(scores, self.kinds, marks)
        solution = self._solve(parts, scores, self.rules, exact=exact, solver=solver)
        labels, allowed = solution.tree.labels, self._allowed(self.given)
        if labels is None:
            labels = np.full(len(self.sentence) + 1, -1)
            labels_of_tree(self.batch, scores, self.models, allowed, solution.tree.heads, labels)
        tree = self.parser.with_tree(self.sentence, solution.tree.heads, labels)
        n_arcs = int(allowed.arcs[:, 1:].sum()) if allowed.arcs.size else len(self.sentence) ** 2
        return Solved(tree, solution, len(parts.arcs), n_arcs)

    def _solve(self, parts: Parts, scores: PartScores, rules: Sequence[Rule], **options: Any) -> Solution:
        def label_scores(heads: NDArray[np.int64]) -> NDArray[np.float64]:
            found: NDArray[np.float64] = labels_of_arcs(
                self.batch, scores, self.models, self._allowed(self.given), heads.copy()
            )
            return found

        return solve_parts(
            parts,
            constraints=self.constraints,
            rules=rules,
            label_scores=label_scores,
            time_limit=self.time_left,
            **options,
        )

    def _allowed(self, constraints: Constraints) -> Any:
        return self.parser.allowed(len(self.sentence) + 1, constraints)


_NONE = np.empty((0, 0, 0), np.float32)
_NO_LARGER_PARTS: dict[str, Any] = {"siblings": _NONE, "grandparents": _NONE, "any_siblings": _NONE, "valencies": _NONE}


def _merged(first: PartScores, second: PartScores) -> PartScores:
    """The scores of the candidates of both; those of larger parts are not known yet."""
    size = len(first.counts)
    arcs, labels = np.full((size, size), -np.inf), np.full((size, size), -1)
    for scores in (first, second):
        words, choices = np.nonzero(np.arange(scores.candidates.shape[1]) < scores.counts[:, np.newaxis])
        heads = scores.candidates[words, choices]
        arcs[words, heads], labels[words, heads] = scores.arcs[words, choices], scores.labels[words, choices]
    there = arcs > -np.inf
    counts = there.sum(axis=1)
    candidates = np.zeros((size, max(int(counts.max()), 1)), np.int64)
    words, heads = np.nonzero(there)
    candidates[words, np.arange(len(words)) - (np.cumsum(counts) - counts)[words]] = heads
    every = np.arange(size)[:, np.newaxis]

    def unknown(scores: Any) -> Any:
        return np.full((*candidates.shape, size) if scores.size else (0, 0, 0), np.nan, np.float32)

    return first._replace(
        candidates=candidates,
        counts=counts,
        arcs=arcs[every, candidates],
        labels=labels[every, candidates],
        siblings=unknown(first.siblings),
        grandparents=unknown(first.grandparents),
        any_siblings=unknown(first.any_siblings),
    )


def parsed_by_program(
    parser: LinearParser, sentence: Sentence, constraints: Constraints, options: ParseOptions, **program: Any
) -> Parsed:
    """The tree of an integer program as parsing options ask for it; ``program`` is for ``solve_sentence``."""
    return solved_as_asked(
        sentence, parser.labels, options, partial(solve_sentence, parser, sentence, constraints, **program)
    )
