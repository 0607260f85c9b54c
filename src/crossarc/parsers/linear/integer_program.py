"""Integer programs as the search of a linear scorer: trees under rules, and trees that are proven to be the best."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, NoTreeError, Sentence
from crossarc.features.attributes import attributes_of
from crossarc.ilp import Arc, Parts, Rule, SameHead, Solution, parts_of, solve
from crossarc.ilp.deadline import Deadline
from crossarc.ilp.solving import OutOfTime, Relaxer
from crossarc.parsers.base import Parsed, ParseOptions
from crossarc.parsers.integer_program import Solved, solved_as_asked
from crossarc.parsers.linear._parse import labels_of_arcs, labels_of_tree, score_sentence
from crossarc.parsers.linear._program import CROSSING, NOT_PROJECTIVE, mark_scores
from crossarc.parsers.linear.parser import LinearParser
from crossarc.scorers.part_scores import PartScores
from crossarc.search.integer_program import KINDS, parts_for_ilp, solve_parts

__all__ = ["MARKS", "parsed_by_program", "program_parts", "solve_sentence"]

MARKS = {"nonprojective": NOT_PROJECTIVE, "crossing": CROSSING}  # the kinds of parts that are arcs with a mark

_MOST_ARCS = 3_000  # of a program whose rules may be about every two of them
_SCORED = frozenset(KINDS) - MARKS.keys()  # the kinds of parts that any linear scorer may have templates for


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
    the best tree by arcs that keeps the hard rules are candidates too; all arcs are looked at for that, or the 3,000
    best of a long sentence.
    """
    if not len(sentence):
        return Solved(sentence, solve(parts_of(np.zeros((1, 1)))))
    program = _Program(parser, sentence, constraints or Constraints(), kinds, rules, time_limit)
    try:
        return program.solved(program.candidates(), exact, solver)
    except NoTreeError as error:
        if parser.scorer.pruner is None or isinstance(error, OutOfTime):
            raise
        return program.solved(program.candidates(program.needed_arcs()), exact, solver)


def program_parts(scores: PartScores, kinds: Collection[str]) -> Parts:
    """The parts of a program, of the given kinds, by a linear scorer."""
    marks = {kind: mark_scores(scores, flip) for kind, flip in MARKS.items() if kind in kinds}
    return parts_for_ilp(scores, kinds, marks)


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
        self.deadline = Deadline.after(time_limit)
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
        """The arcs of the best tree by arcs that keeps the hard rules: all heads are looked at, or many."""
        most = 0 if len(self.sentence) ** 2 <= _MOST_ARCS else _MOST_ARCS // len(self.sentence)
        models = self.models._replace(max_candidates=most, pruning_margin=np.inf)
        scores = score_sentence(self.batch, models, self._allowed(self.given), self.shape)
        every = parts_for_ilp(scores._replace(**_NO_LARGER_PARTS), frozenset({"arc"}))
        heads = self._solve(
            every, scores, [rule for rule in self.rules if rule.weight == np.inf], exact=True
        ).tree.heads
        return {(int(h), m) for m, h in enumerate(heads.tolist()) if m}

    def solved(self, scores: PartScores, exact: bool, solver: Relaxer) -> Solved:
        """The best tree of these candidates."""
        parts = program_parts(scores, self.kinds)
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
            time_limit=self.deadline.left,
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
