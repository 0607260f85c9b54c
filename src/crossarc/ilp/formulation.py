"""A sentence's parts, constraints and rules as one program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, UnsupportedConstraint
from crossarc.ilp import arborescences, nonlocal_parts, paper_formulation
from crossarc.ilp.parts import Pairs, Parts
from crossarc.ilp.program import Block, Program
from crossarc.ilp.rule_rows import label_columns
from crossarc.ilp.rules import Children, FewArcs, Rule, Variables
from crossarc.trees._input import allowed_arcs, allowed_labels, limits_of_children

__all__ = ["MOST_FLOW", "Formulation", "TreeRows", "formulate", "restricted"]

Indices = NDArray[np.int64]

TreeRows = Literal["cutting planes", "single-commodity flow", "multi-commodity flow"]

_NOTHING = np.empty(0, dtype=np.int64)
MOST_FLOW = 100_000  # variables; a program of more takes longer to write down than cutting planes take


class Formulation(NamedTuple):
    """A program, and where its variables are.

    ``slacks`` are the columns that take up what breaks each of the soft rules. Cycles are still to be excluded if
    ``cuts_cycles``, and wrong marks of non-projective arcs if ``cuts_marks``.
    """

    program: Program
    variables: Variables
    siblings: Indices
    grandparents: Indices
    next_siblings: Indices
    valencies: Indices
    slacks: tuple[tuple[Rule, Indices], ...]
    cuts_cycles: bool
    cuts_marks: bool


def formulate(
    parts: Parts,
    constraints: Constraints,
    rules: Sequence[Rule],
    *,
    trees: TreeRows = "cutting planes",
    as_in_paper: bool = False,
) -> Formulation:
    """The program of the best tree; arcs and labels that the constraints forbid are taken to be gone already."""
    program = Program()
    z = program.add_variables(parts.arcs, integral=True)
    arborescences.one_head(program, parts, z)
    if constraints.single_root:
        arborescences.single_root(program, parts, z)
    counts_nonprojective = any(isinstance(rule, FewArcs) and not rule.crossing for rule in rules)
    counts_crossing = any(isinstance(rule, FewArcs) and rule.crossing for rule in rules)
    nonprojective = crossing = _NOTHING
    has_nonprojective = bool(len(parts.nonprojective)) or counts_nonprojective
    if counts_nonprojective and parts.size * len(z) <= MOST_FLOW:
        trees = "multi-commodity flow"  # a limit would have to be cut off again and again
    paths = None
    if constraints.projective:
        arborescences.projective(program, parts, z)
    elif trees == "multi-commodity flow":
        paths = arborescences.multi_commodity_flow(program, parts, z)
    elif trees == "single-commodity flow":
        arborescences.single_commodity_flow(program, parts, z)
    if has_nonprojective and paths is not None:
        nonprojective = nonlocal_parts.nonprojective(program, parts, z, paths)
    elif has_nonprojective and not constraints.projective:
        nonprojective = nonlocal_parts.nonprojective_marks(program, parts, z)
    if len(parts.crossing) or counts_crossing:
        crossing = nonlocal_parts.crossing(program, parts, z)
    of_parts = paper_formulation.variables_of_parts(program, parts, z) if as_in_paper else _tight(program, parts, z)
    labelled, labels = _labels(program, parts, z, rules)
    variables = Variables(parts, z, labelled, labels, nonprojective, crossing)
    arity = [Children(heads=frozenset([head]), most=most) for head, most in constraints.max_children.items()]
    for rule in arity:
        program.add_block(rule.rows(variables))
    slacks = tuple((rule, _add_rule(program, rule, variables)) for rule in rules)
    cuts_cycles = trees == "cutting planes" and not constraints.projective
    cuts_marks = bool(len(nonprojective)) and paths is None
    return Formulation(program, variables, *of_parts, slacks, cuts_cycles, cuts_marks)


def _tight(program: Program, parts: Parts, z: Indices) -> tuple[Indices, Indices, Indices, Indices]:
    """Variables of siblings, grandparents, next siblings and valencies, with relaxations tighter than the paper's."""
    return (
        nonlocal_parts.siblings(program, parts, z),
        nonlocal_parts.one_grandparent(program, parts, z) if len(parts.grandparents.first) else _NOTHING,
        nonlocal_parts.head_automata(program, parts, z) if len(parts.next_siblings.first) else _NOTHING,
        nonlocal_parts.counting_automata(program, parts, z) if parts.valencies.size else _NOTHING,
    )


def _labels(program: Program, parts: Parts, z: Indices, rules: Sequence[Rule]) -> tuple[Indices, Indices]:
    """Variables of labelled arcs, for the labels that arcs may need; the columns of these, and their labels."""
    labels, scores = label_columns(parts, rules)
    columns = program.add_variables(scores, integral=True)
    if labels.shape[1]:
        rows = np.arange(len(z))
        program.add_rows(len(z), 0.0, 0.0, (rows[:, np.newaxis], columns, 1.0), (rows, z, -1.0))
    return columns, labels


def _add_rule(program: Program, rule: Rule, variables: Variables) -> Indices:
    """Add the rows of a rule; those of a soft one with variables for what is above and below their limits."""
    block = rule.rows(variables)
    if rule.weight == np.inf:
        program.add_block(block)
        return _NOTHING
    slacks = []
    for limited, sign in ((block.lower > -np.inf, 1.0), (block.upper < np.inf, -1.0)):
        rows = np.flatnonzero(limited)
        columns = program.add_variables(np.full(len(rows), -rule.weight), most=np.inf)
        block = Block.of(
            len(block.lower), block.lower, block.upper, (block.rows, block.columns, block.values), (rows, columns, sign)
        )
        slacks.append(columns)
    program.add_block(block)
    return np.concatenate(slacks)


def restricted(parts: Parts, constraints: Constraints) -> Parts:
    """The parts without the arcs and labels that the constraints forbid."""
    if constraints.max_degree is not None:
        raise UnsupportedConstraint("max_degree cannot be honoured by an integer program (projective=True is degree 0)")
    limits_of_children(constraints, parts.size, constraints.single_root)  # raises for nodes that there are not
    labels = parts.labels.copy()
    if constraints.required_labels or constraints.forbidden_labels:
        if not labels.shape[1]:
            raise ValueError("constraints on labels need labelled scores")
        labels[~allowed_labels(constraints, parts.size, labels.shape[1])[parts.modifiers]] = -np.inf
    kept = parts.arcs > -np.inf
    if labels.shape[1]:
        kept &= labels.max(axis=1) > -np.inf
    if constraints.required_arcs or constraints.forbidden_arcs:
        kept &= allowed_arcs(constraints, parts.size)[parts.heads, parts.modifiers]
    return _kept(parts._replace(labels=labels), kept) if not kept.all() else parts._replace(labels=labels)


def _kept(parts: Parts, kept: NDArray[np.bool_]) -> Parts:
    """The parts that have kept arcs only."""
    number = np.cumsum(kept) - 1

    def pairs(pairs: Pairs) -> Pairs:
        own = kept[pairs.second] & (kept[pairs.first] | (pairs.first < 0))
        first = pairs.first[own]
        return Pairs(np.where(first < 0, -1, number[first]), number[pairs.second[own]], pairs.scores[own])

    return parts._replace(
        heads=parts.heads[kept],
        modifiers=parts.modifiers[kept],
        arcs=parts.arcs[kept],
        siblings=pairs(parts.siblings),
        grandparents=pairs(parts.grandparents),
        next_siblings=pairs(parts.next_siblings),
        nonprojective=parts.nonprojective[kept] if len(parts.nonprojective) else parts.nonprojective,
        crossing=parts.crossing[kept] if len(parts.crossing) else parts.crossing,
        labels=parts.labels[kept],
    )
