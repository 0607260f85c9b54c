"""The integer-program parser of Martins, Smith and Xing (2009), and programs as a decoder of other graph-based parsers.

Features, scores, decoder and learner, put together: the pruner, the scores of parts and the labels are those of the
spanning-tree parser, with scores of arcs that are not projective beside them; trees are found by an integer program
(``crossarc.ilp``) or its relaxation; weights are learnt with the relaxation (``ilp_training``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crossarc.core import Constraints, NoTreeError, Sentence
from crossarc.features.attributes import attributes_of
from crossarc.features.templates import Templates, TemplateSet
from crossarc.ilp import Arc, Pairs, Parts, Rule, Solution, parts_of, solve
from crossarc.ilp.parts import PartArrays
from crossarc.ilp.solving import Relaxer
from crossarc.models.file import load_model, save_model
from crossarc.parsers.ilp.config import IlpConfig
from crossarc.parsers.spanning_tree.parser import SpanningTreeParser
from crossarc.parsers.training import DevScores
from crossarc.search._program import labels_of_arcs, labels_of_tree, parsing_space

__all__ = ["IlpParser", "Solved", "parts_from", "solve_sentence", "status_of", "templates_of_parts"]

SYSTEM = "ilp"

_TEMPLATES = {
    "arc": {"arc", "between"},
    "sibling": {"any-sibling"},
    "grandparent": {"grandparent"},
    "next-sibling": {"sibling"},
    "first-child": {"sibling"},
    "valency": {"valency"},
    "nonprojective": set(),
}
_OF_SEARCH = frozenset(_TEMPLATES) - {"nonprojective"}  # the parts that spanning-tree parsers have templates for


class Solved(NamedTuple):
    """A parsed sentence, and what the program says about its tree."""

    sentence: Sentence
    solution: Solution


@dataclass(frozen=True)
class IlpParser:
    """A trained parser."""

    config: IlpConfig
    search: SpanningTreeParser  # with the same weights

    @property
    def labels(self) -> tuple[str, ...]:
        return self.search.labels

    @property
    def dev(self) -> DevScores | None:
        return self.search.dev

    def parse(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences with heads and labels, by relaxed programs."""
        return (self.parse_sentence(sentence) for sentence in sentences)

    def parse_sentence(self, sentence: Sentence, constraints: Constraints | None = None) -> Sentence:
        """The sentence with the tree of a relaxed program.

        Raises
        ------
        NoTreeError : the constraints allow no tree
        UnsupportedConstraint : for limits on the degree
        """
        return self.solve(sentence, constraints, exact=False).sentence

    def solve(
        self,
        sentence: Sentence,
        constraints: Constraints | None = None,
        *,
        rules: Sequence[Rule] = (),
        exact: bool = True,
        time_limit: float | None = None,
    ) -> Solved:
        """The sentence with the best tree under constraints and rules; see ``crossarc.ilp.solve``."""
        return solve_sentence(
            self.search,
            sentence,
            constraints,
            kinds=self.config.kinds,
            rules=rules,
            exact=exact,
            time_limit=time_limit,
            solver=self.config.solver,
        )

    def save(self, path: str | Path) -> None:
        """Write the model to one file."""
        header, tensors = self.search.contents()
        save_model(path, {**header, "system": SYSTEM, "config": asdict(self.config)}, tensors)

    @classmethod
    def load(cls, path: str | Path) -> IlpParser:
        """Read a model from its file."""
        header, tensors = load_model(path)
        config = IlpConfig(**header["config"])
        search = SpanningTreeParser.of_contents({**header, "config": asdict(config.linear)}, tensors, path)
        compiled = templates_of_parts(search.templates, config)
        search = replace(
            search,
            heads_model=search.heads_model._replace(templates=compiled),
            labels_model=search.labels_model._replace(templates=compiled),
        )
        return cls(config, search)


def templates_of_parts(templates: TemplateSet, config: IlpConfig) -> Templates:
    """The templates of the parts that a parser has."""
    return templates.of_parts({"label"}.union(*(_TEMPLATES[kind] for kind in config.kinds)))


def solve_sentence(
    parser: SpanningTreeParser,
    sentence: Sentence,
    constraints: Constraints | None = None,
    *,
    kinds: frozenset[str] = _OF_SEARCH,
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
    if parser.pruner is None:
        return problem.solved()
    try:
        return problem.with_required_arcs().solved()
    except NoTreeError:
        everything = replace(parser, config=replace(parser.config, max_candidates=0))
        return replace(problem, parser=everything).solved()


@dataclass(frozen=True)
class _Problem:
    parser: SpanningTreeParser
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
        rules = parser.rules(replace(constraints, max_children={}, max_degree=None))
        space, arrays = parsing_space(batch, parser.models, allowed, rules, "nonprojective" in self.kinds)
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
            scores = labels_of_arcs(batch, space, parser.models, allowed, rules, heads.copy())
            parts = replace(parts, labels=scores)
        solution = solve(parts, rules=self.rules, **options)
        labels = solution.tree.labels
        if labels is None:
            labels = np.full(len(self.sentence) + 1, -1)
            labels_of_tree(batch, space, parser.models, allowed, rules, solution.tree.heads, labels)
        return Solved(parser._with_tree(self.sentence, solution.tree.heads, labels), solution)


def parts_from(arrays: PartArrays, size: int, kinds: frozenset[str]) -> Parts:
    """The parts of a space, as programs want them."""
    first, second, scores = arrays.next_siblings
    for kind, own in (("first-child", first < 0), ("next-sibling", first >= 0)):
        if kind not in kinds:
            scores = np.where(own, 0.0, scores)
    return Parts(size, *arrays._replace(next_siblings=Pairs(first, second, scores)))


def status_of(solution: Solution) -> str:
    """The certificate of a tree, for a comment."""
    return f"time limit (gap {solution.gap:.4f})" if solution.status == "time limit" else solution.status
