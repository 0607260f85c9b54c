"""The best tree by a program: exact or relaxed, with a certificate of how good it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, NoTreeError, Tree
from crossarc.ilp.checks import check_rules, checked_parts
from crossarc.ilp.cutting_planes import cuts, nonprojective_cuts, projective_cuts
from crossarc.ilp.deadline import Deadline
from crossarc.ilp.dual_decomposition import Stopping, relax_checked
from crossarc.ilp.formulation import MOST_FLOW, TreeRows, formulate, restricted
from crossarc.ilp.highs import Answer, Infeasible, Solver
from crossarc.ilp.parts import Indicators, Parts, indicators_of_tree, score_of_tree
from crossarc.ilp.program import Block
from crossarc.ilp.rounding import Rounded, improved, nearest_tree, rounded
from crossarc.ilp.rule_rows import RuleRows, counted_marks, rule_rows
from crossarc.ilp.rules import Children, FewArcs, Rule

__all__ = ["OutOfTime", "Relaxer", "RulesError", "Solution", "solve"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

Status = Literal["optimal", "time limit", "integral", "rounded"]

Relaxer = Literal["highs", "ad3"]

_CERTAIN = 1e-6  # how far below its bound the best tree may be
_INTEGRAL = 1e-5  # how far from an integer a variable of the relaxation may be
_ROUNDS = 1000  # of dual decomposition, at most
_WORK = 1.5e7  # rounds times parts: long sentences have fewer rounds, so that their time grows with their parts only
_PROGRESS = 1e-3  # of the bound, in 100 rounds: what is slower is left to rounding, and to branch and bound
_LAST = 0.1  # the share of the time limit that is kept for rounding
_SEARCH = 0.5  # the share that is kept for branch and bound
_LEAST = 0.05  # seconds in which a tree that keeps the rules is looked for, even if the time is over


class RulesError(NoTreeError):
    """No tree satisfies the hard rules; ``rules`` are some that contradict each other (all of them are needed)."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        super().__init__("no tree satisfies " + "; ".join(map(str, rules)))
        self.rules = tuple(rules)


class OutOfTime(NoTreeError):
    """No tree that keeps the hard rules was found in the time limit; there may be one."""


class Solution(NamedTuple):
    """A tree, and how good it is.

    Attributes
    ----------
    tree : Tree
        Its score is the sum of its parts and labels, less what it loses for soft rules.
    status : str
        ``optimal``: no tree is better. ``time limit``: perhaps one is. Of relaxed programs, ``integral``: the solution
        is a tree, and so the best one; ``rounded``: the tree is the nearest one to a fractional solution.
    bound : float
        No tree has a higher score.
    indicators : Indicators or None
        The solution of the program, before it was rounded; of the candidates that are left by the constraints.
    broken : rules
        The soft rules that the tree breaks.
    """

    tree: Tree
    status: Status
    bound: float
    indicators: Indicators | None
    broken: tuple[Rule, ...]

    @property
    def gap(self) -> float:
        """How much better another tree may be, relative to the score of this one."""
        if self.status in ("optimal", "integral"):
            return 0.0
        return max(self.bound - self.tree.score, 0.0) / max(abs(self.tree.score), 1e-9)


def solve(
    parts: Parts,
    *,
    constraints: Constraints | None = None,
    rules: Sequence[Rule] = (),
    exact: bool = True,
    time_limit: float | None = None,
    solver: Relaxer = "highs",
    seed: int = 1,
    trees: TreeRows = "cutting planes",
    as_in_paper: bool = False,
) -> Solution:
    """The tree with the highest sum of the scores of its parts: Martins, Smith and Xing (2009).

    First the linear relaxation is solved; if that gives a tree, it is the best one. Otherwise the tree nearest to the
    solution, a maximal arborescence, is the answer (``exact=False``) or the start of branch and bound: the best of
    several near ones, improved as long as changing the arc or the label of one word helps.

    Parameters
    ----------
    parts : Parts
    constraints : Constraints, optional
        All but ``max_degree``.
    rules : sequence of Rule
        Hard and soft rules. If no tree near a relaxed solution keeps the hard ones, the best tree by arcs that does is
        looked for by branch and bound, and improved by all parts.
    exact : bool
        Whether to find the best tree, or only to solve the relaxation.
    time_limit : float, optional
        Seconds, after which the best tree so far is taken, whatever stage they went into; the bound is the lowest of
        all stages. If there is none by then that keeps the hard rules, one is looked for by its arcs alone, for 0.05
        seconds.
    solver : {"highs", "ad3"}
        What solves the relaxation: HiGHS, or dual decomposition (``relax``), which is faster but stops when it is near
        enough; "rounded" may then be said of a tree that is the best one. Branch and bound is by HiGHS, where dual
        decomposition does not find the best tree.
    seed : int
        Of the trees near a fractional solution that are tried.
    trees : {"cutting planes", "single-commodity flow", "multi-commodity flow"}
        How cycles are excluded. Only the last excludes wrong marks of non-projective arcs by rows too; with the others,
        that is left to cutting planes.
    as_in_paper : bool
        Whether grandparents, next siblings and valencies have the paper's rows (15-21), whose relaxation is weaker than
        that of ours.

    Raises
    ------
    NoTreeError
        No tree is possible; ``RulesError`` if there is one that breaks hard rules, ``OutOfTime`` if there may be one
        that keeps them.
    ValueError
        The parts do not fit together, or a constraint or rule is about words that there are not.

    Examples
    --------
    *John saw Mary* (McDonald et al. 2005, §2.2.1), but no word has more than one child:

    >>> import numpy as np
    >>> from crossarc.ilp import Children, parts_of, solve
    >>> parts = parts_of(np.array([[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0]]))
    >>> solve(parts).tree.heads.tolist()
    [-1, 2, 0, 2]
    >>> solution = solve(parts, rules=[Children(most=1)])
    >>> solution.tree.heads.tolist(), solution.tree.score, solution.status
    ([-1, 0, 1, 2], 59.0, 'optimal')
    """
    constraints = constraints or Constraints()
    if not (time_limit is None or time_limit >= 0.0) or seed < 0:
        raise ValueError("time_limit and seed must not be negative")
    possible = restricted(checked_parts(parts), constraints)
    check_rules(rules, possible)
    if possible.size == 1:
        return _of_no_words(possible)
    labels_later = not any(rule.mentioned for rule in rules)
    own = _with_best_labels(possible) if labels_later else possible
    problem = _problem(own, constraints, rules, Deadline.after(time_limit), seed)
    try:
        found = _decomposed(problem, exact) if solver == "ad3" and _is_decomposable(own) else None
        if found is None or (exact and found.status == "rounded"):
            found = _Search(problem, found, trees=trees, as_in_paper=as_in_paper).run(exact)
    except Infeasible:
        raise _explained(problem._replace(constraints=constraints)) from None
    if exact and found.status == "integral":
        found = found._replace(status="optimal")
    return _labelled(found, possible) if labels_later else found


class _Problem(NamedTuple):
    """What is to be solved, in which time."""

    parts: Parts
    constraints: Constraints
    rules: tuple[Rule, ...]
    counted: Parts  # with marks that score nothing where something counts them
    rows: RuleRows  # of rules and constraints, over these
    deadline: Deadline
    seed: int

    def near(self, values: Floats, later: float, enough: float = np.inf) -> Rounded:
        """A good tree near the values of the arcs; it may break hard rules. A share of the time is left for later.

        Raises
        ------
        NoTreeError
        """
        return rounded(
            self.counted,
            values,
            single_root=self.constraints.single_root,
            projective=self.constraints.projective,
            rules=self.rows,
            seed=self.seed,
            enough=enough,
            deadline=self.deadline.keeping(later),
        )

    def solution(self, tree: Rounded, status: Status, bound: float, indicators: Indicators | None) -> Solution:
        broken = tuple(rule for rule in tree.broken if rule in self.rules)
        return Solution(Tree(tree.heads, tree.labels, tree.score), status, bound, indicators, broken)


def _problem(parts: Parts, constraints: Constraints, rules: Sequence[Rule], deadline: Deadline, seed: int) -> _Problem:
    """No arcs that cross, or are not projective: that is a constraint, and a constraint is a rule."""
    if any(map(_is_projectivity, rules)):
        constraints = replace(constraints, projective=True)
    arity = [Children(heads=frozenset([head]), most=most) for head, most in constraints.max_children.items()]
    every = [*rules, *arity, *([FewArcs(0)] if constraints.projective else [])]
    counted = counted_marks(parts, every)
    return _Problem(parts, constraints, tuple(rules), counted, rule_rows(counted, every), deadline, seed)


def _is_projectivity(rule: Rule) -> bool:
    """Whether a rule leaves no arc that crosses others: that has a program of its own."""
    return isinstance(rule, FewArcs) and rule.most == 0 and rule.weight == np.inf


def _is_decomposable(parts: Parts) -> bool:
    """Whether dual decomposition can solve the relaxation: every word has a candidate, and the root is one of some."""
    every_word = len(np.unique(parts.modifiers)) == parts.size - 1
    return every_word and bool(parts.heads.min() == 0)


def _decomposed(problem: _Problem, exact: bool) -> Solution | None:
    """The relaxed solution by dual decomposition, and a tree; None if it finds none without forbidden parts.

    Raises
    ------
    Infeasible, OutOfTime
    """
    parts = problem.counted
    n_parts = len(parts.siblings.first) + len(parts.next_siblings.first) + len(parts.grandparents.first)
    later = _SEARCH if exact else 0.0
    relaxable, rows = _without_marks(problem) if problem.constraints.projective else (parts, problem.rows)
    try:
        relaxed = relax_checked(
            relaxable,
            rows,
            Stopping(int(np.clip(_WORK / max(n_parts, 1), 60, _ROUNDS)), progress=_PROGRESS),
            problem.deadline.keeping(later + _LAST),
            single_root=problem.constraints.single_root,
            projective=problem.constraints.projective,
        )
        tree = problem.near(relaxed.indicators.arcs, later, _certain(relaxed.bound))
        if tree.score == -np.inf:
            tree = _best_by_arcs(problem)
    except OutOfTime:
        raise
    except NoTreeError:
        return None
    if tree.score >= _certain(relaxed.bound):
        return problem.solution(tree, "integral", relaxed.bound, indicators_of_tree(parts, tree.heads))
    out_of_time = problem.deadline.left < _seconds_to_begin(problem) if exact else not relaxed.in_time
    status: Status = "time limit" if out_of_time else "rounded"
    marks = {kind: np.zeros(len(getattr(parts, kind))) for kind in ("nonprojective", "crossing")}
    indicators = relaxed.indicators._replace(**(marks if problem.constraints.projective else {}))
    return problem.solution(tree, status, relaxed.bound, indicators)


def _seconds_to_begin(problem: _Problem) -> float:
    """How long it takes to write the program down and to let HiGHS have a first look at it, judged by its size."""
    parts, n_arcs = problem.parts, len(problem.parts.arcs)
    pairs = (parts.siblings, parts.grandparents, parts.next_siblings)
    n_parts = parts.valencies.size + sum(len(of_kind.first) for of_kind in pairs)
    has_flow = any(isinstance(rule, FewArcs) and not rule.crossing for rule in problem.rules)
    return 2e-6 * n_parts + 4e-6 * has_flow * min(parts.size * n_arcs, MOST_FLOW)


def _without_marks(problem: _Problem) -> tuple[Parts, RuleRows]:
    """The parts of projective trees, none of which has a mark, and the rows of all rules but projectivity."""
    none = np.empty(0)
    others = [rule for rule in problem.rows.rules if not _is_projectivity(rule)]
    parts = counted_marks(problem.parts._replace(nonprojective=none, crossing=none), others)
    return parts, rule_rows(parts, others)


def _best_by_arcs(problem: _Problem) -> Rounded:
    """The best tree by its arcs alone that keeps the hard rules, improved by all parts.

    Raises
    ------
    Infeasible
        No tree keeps them.
    OutOfTime
    NoTreeError
        All that were found have forbidden parts.
    """
    best = _search_of_arcs(problem, [rule for rule in problem.rules if rule.weight == np.inf]).run(exact=True).tree
    rows, parts = problem.rows, problem.counted
    if best.labels is not None:  # its own labels are where the climbing begins
        labels, arcs = parts.labels.copy(), np.flatnonzero(best.heads[parts.modifiers] == parts.heads)
        labels[arcs] = -np.inf
        own = best.labels[parts.modifiers[arcs]]
        labels[arcs, own] = parts.labels[arcs, own]
        rows = rule_rows(parts._replace(labels=labels), rows.rules)
    tree = improved(parts, best.heads, single_root=problem.constraints.single_root, rules=rows)
    if tree.score == -np.inf:
        raise NoTreeError("no tree without forbidden parts was found that keeps the rules")
    return tree


def _search_of_arcs(problem: _Problem, rules: Sequence[Rule]) -> _Search:
    """The search for the best tree by its arcs and labels alone, in what is left of the time, or a little more."""
    parts = problem.parts
    arcs = Parts(parts.size, parts.heads, parts.modifiers, parts.arcs, labels=parts.labels)
    if not any(rule.mentioned for rule in rules):
        arcs = _with_best_labels(arcs)
    more = problem.deadline.at_least(_LEAST)
    return _Search(_problem(arcs, problem.constraints, rules, more, problem.seed), None)


def _certain(bound: float) -> float:
    """The score of a tree that is as good as its bound."""
    return bound - _CERTAIN * max(1.0, abs(bound))


class _Search:
    """Branch and bound by HiGHS, from the best tree that is known, if there is one."""

    def __init__(
        self,
        problem: _Problem,
        known: Solution | None,
        *,
        trees: TreeRows = "cutting planes",
        as_in_paper: bool = False,
    ) -> None:
        others = [rule for rule in problem.rules if not _is_projectivity(rule)]
        self.problem, self.known, self.constraints = problem, known, problem.constraints
        self.formulation = formulate(problem.parts, self.constraints, others, trees=trees, as_in_paper=as_in_paper)
        self.parts, self.z = problem.parts, self.formulation.variables.arcs
        self.solver = Solver(self.formulation.program, problem.deadline)

    def run(self, exact: bool) -> Solution:
        relaxed = self._repeated(self.solver.relaxed)
        if relaxed.done and self._is_integral(relaxed):
            return self._solution(relaxed, "optimal" if exact else "integral")
        # over the scores of the arcs, if there are no values yet
        values = self.parts.arcs if relaxed.values is None else relaxed.values[self.z]
        best = self._better(self._near(values, relaxed), self.known)
        if best is not None and not exact and relaxed.done:
            return best
        answer = relaxed
        if not self.problem.deadline.is_over:
            heads = nearest_tree(self.parts, values, single_root=False) if best is None else best.tree.heads
            start = (heads[self.parts.modifiers] == self.parts.heads).astype(float)
            answer = self._repeated(lambda: self.solver.integer(self.z, start))
            if answer.done:
                return self._solution(answer, "optimal")
        bound = min(relaxed.bound, answer.bound, np.inf if self.known is None else self.known.bound)
        if answer.values is not None and answer is not relaxed:
            best = self._better(best, self._solution(answer, "time limit"))
        if best is None:
            if self._is_of_arcs:
                raise OutOfTime(f"no tree that keeps the rules was found in {self.problem.deadline.limit:g} s")
            best = self.problem.solution(_best_by_arcs(self.problem), "time limit", bound, None)
        return best._replace(status="time limit", bound=bound)

    @property
    def _is_of_arcs(self) -> bool:
        """Whether no part has more than an arc."""
        pairs = (self.parts.siblings, self.parts.grandparents, self.parts.next_siblings)
        return not any(len(of_kind.first) for of_kind in pairs) and not self.parts.valencies.size

    @staticmethod
    def _better(first: Solution | None, second: Solution | None) -> Solution | None:
        if first is None or second is None:
            return second if first is None else first
        return first if first.tree.score >= second.tree.score else second

    def _near(self, values: Floats, relaxed: Answer) -> Solution | None:
        """A good tree near the values of the arcs that keeps the hard rules; None if none is found."""
        try:
            tree = self.problem.near(values, _SEARCH)
        except NoTreeError:
            raise Infeasible from None
        if tree.score == -np.inf:
            return None
        return self.problem.solution(tree, "rounded", relaxed.bound, self._indicators(relaxed))

    def _repeated(self, run: Callable[[], Answer]) -> Answer:
        """Solve, and exclude cycles and wrong marks, until there are none."""
        answer = run()
        while answer.values is not None:
            blocks = list(self._broken(answer.values))
            if not blocks:
                break
            if self.problem.deadline.is_over:
                return answer._replace(values=None, score=-np.inf, done=False)
            for block in blocks:
                self.solver.add(block)
            answer = run()
        return answer

    def _broken(self, values: Floats) -> Iterator[Block]:
        """Rows that are not there yet, but broken."""
        arcs, marks = values[self.z], self.formulation.variables.nonprojective
        if self.formulation.cuts_cycles:
            block = cuts(self.parts, self.z, arcs)
            if block is not None:
                yield block
                return  # what descends from what is still open
        if self.formulation.cuts_marks:
            block = nonprojective_cuts(self.parts, self.z, arcs, marks, values[marks])
            if block is not None:
                yield block
            if np.abs(arcs - np.rint(arcs)).max() < _INTEGRAL:
                block = projective_cuts(self.parts, self.z, self._tree(values), marks, values[marks])
                if block is not None and len(self.parts.nonprojective):
                    yield block

    def _tree(self, values: Floats) -> Indices:
        """The heads, if the arcs are those of a tree."""
        heads = np.full(self.parts.size, -1)
        arcs = np.flatnonzero(values[self.z] > 0.5)
        heads[self.parts.modifiers[arcs]] = self.parts.heads[arcs]
        return heads

    def _is_integral(self, answer: Answer) -> bool:
        assert answer.values is not None
        values = answer.values[self.formulation.program.integral]
        return bool(np.abs(values - np.rint(values)).max() < _INTEGRAL)

    def _solution(self, answer: Answer, status: Status) -> Solution:
        """What an answer without fractions says."""
        assert answer.values is not None
        parts, variables = self.parts, self.formulation.variables
        heads, arcs = self._tree(answer.values), np.flatnonzero(answer.values[self.z] > 0.5)
        score, labels = score_of_tree(parts, heads), None
        if variables.labels.shape[1]:
            which = answer.values[variables.labelled[arcs]].argmax(axis=1)
            labels = np.full(parts.size, -1)
            labels[parts.modifiers[arcs]] = variables.labels[arcs, which]
            score += float(parts.labels[arcs, labels[parts.modifiers[arcs]]].sum())
        broken = []
        for rule, slacks in self.formulation.slacks:
            times = float(answer.values[slacks].sum())
            if times > _INTEGRAL:
                broken.append(rule)
                score -= rule.weight * times
        indicators = indicators_of_tree(parts, heads)
        return Solution(Tree(heads, labels, score), status, answer.bound, indicators, tuple(broken))

    def _indicators(self, answer: Answer) -> Indicators | None:
        if answer.values is None:
            return None
        values, own, arcs = answer.values, self.formulation, answer.values[self.z]
        return Indicators(
            arcs,
            self.parts.siblings.both(arcs),
            values[own.grandparents],
            values[own.next_siblings],
            values[own.valencies],
            values[own.variables.nonprojective],
            values[own.variables.crossing],
        )


def _of_no_words(parts: Parts) -> Solution:
    heads = np.array([-1])
    score = score_of_tree(parts, heads)
    return Solution(Tree(heads, heads.copy() if parts.labels.shape[1] else None, score), "optimal", score, None, ())


def _with_best_labels(parts: Parts) -> Parts:
    """Each arc with the score of its best label: enough where no rule is about labels."""
    if not parts.labels.shape[1]:
        return parts
    return parts._replace(arcs=parts.arcs + parts.labels.max(axis=1), labels=np.empty((len(parts.arcs), 0)))


def _labelled(solution: Solution, parts: Parts) -> Solution:
    """The best label of each arc, if there are labels."""
    if not parts.labels.shape[1]:
        return solution
    heads = solution.tree.heads
    arcs = np.flatnonzero(heads[parts.modifiers] == parts.heads)
    labels = np.full(parts.size, -1)
    labels[parts.modifiers[arcs]] = parts.labels[arcs].argmax(axis=1)
    return solution._replace(tree=solution.tree._replace(labels=labels))


def _explained(problem: _Problem) -> NoTreeError:
    """Why there is no tree: the hard rules are left out one by one where there is none without them either.

    When the time is over, those that are left have to do, whether all of them are needed or not.
    """
    needed = [rule for rule in problem.rules if rule.weight == np.inf]
    if not _is_feasible(problem, []) or _is_feasible(problem, needed):
        return NoTreeError("the scores and the constraints allow no tree")
    for rule in list(needed):
        if problem.deadline.is_over:
            break
        fewer = [other for other in needed if other is not rule]
        if not _is_feasible(problem, fewer):
            needed = fewer
    return RulesError(needed)


def _is_feasible(problem: _Problem, rules: Sequence[Rule]) -> bool:
    """Whether some tree keeps these rules; also if that is not known in time."""
    parts = problem.parts._replace(arcs=np.zeros(len(problem.parts.arcs)))
    try:
        _search_of_arcs(problem._replace(parts=parts), rules).run(exact=True)
    except Infeasible:
        return False
    except NoTreeError:
        return True
    return True
