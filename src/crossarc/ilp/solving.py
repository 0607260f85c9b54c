"""The best tree by a program: exact or relaxed, with a certificate of how good it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, NoTreeError, Tree
from crossarc.ilp.cutting_planes import cuts, nonprojective_cuts, projective_cuts
from crossarc.ilp.dual_decomposition import relax
from crossarc.ilp.formulation import Formulation, TreeRows, formulate, restricted
from crossarc.ilp.highs import Answer, Infeasible, Solver
from crossarc.ilp.parts import Indicators, Parts, indicators_of, score_of
from crossarc.ilp.program import Block
from crossarc.ilp.rounding import nearest_tree, rounded
from crossarc.ilp.rules import FewArcs, Rule

__all__ = ["Relaxer", "RulesError", "Solution", "solve"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

Status = Literal["optimal", "time limit", "integral", "rounded"]

Relaxer = Literal["highs", "ad3"]

_CERTAIN = 1e-6  # how far below its bound the best tree may be
_INTEGRAL = 1e-5  # how far from an integer a variable of the relaxation may be


class RulesError(NoTreeError):
    """No tree satisfies the hard rules; ``rules`` are some that contradict each other (all of them are needed)."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        super().__init__("no tree satisfies " + "; ".join(map(str, rules)))
        self.rules = tuple(rules)


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
    trees: TreeRows = "cutting planes",
    as_in_paper: bool = False,
) -> Solution:
    """The tree with the highest sum of the scores of its parts: Martins, Smith and Xing (2009).

    First the linear relaxation is solved; if that gives a tree, it is the best one. Otherwise the tree nearest to the
    solution, a maximal arborescence, is the answer (``exact=False``) or the start of branch and bound. Where no rule
    can be broken, it is the best of several near ones, improved as long as changing the head of one word helps.

    Parameters
    ----------
    parts : Parts
    constraints : Constraints, optional
        All but ``max_degree``.
    rules : sequence of Rule
        Hard and soft rules. A relaxed solution whose tree breaks a hard one is given to branch and bound.
    exact : bool
        Whether to find the best tree, or only to solve the relaxation.
    time_limit : float, optional
        Seconds, after which the best tree so far is taken.
    solver : {"highs", "ad3"}
        What solves the relaxation: HiGHS, or dual decomposition (``relax``), which is faster but stops when it is near
        enough; "rounded" may then be said of a tree that is the best one. Under rules and with crossing arcs it is
        always HiGHS. Branch and bound is by HiGHS too, where dual decomposition does not find the best tree.
    trees : {"cutting planes", "single-commodity flow", "multi-commodity flow"}
        How cycles are excluded. Only the last excludes wrong marks of non-projective arcs by rows too; with the others,
        that is left to cutting planes.
    as_in_paper : bool
        Whether grandparents, next siblings and valencies have the paper's rows (15-21), whose relaxation is weaker than
        that of ours.

    Raises
    ------
    NoTreeError
        No tree is possible; ``RulesError`` if there is one that breaks hard rules.

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
    possible = restricted(parts, constraints)
    if possible.size == 1:
        return _of_no_words(possible)
    labels_later = not any(rule.mentioned for rule in rules)
    own = _with_best_labels(possible) if labels_later else possible
    decomposed = _decomposed(own, constraints) if solver == "ad3" and not rules else None
    if decomposed is not None and (not exact or decomposed.status == "integral"):
        return _labelled(decomposed._replace(status="optimal") if exact else decomposed, possible)
    try:
        found = _search(own, constraints, rules, time_limit, trees=trees, as_in_paper=as_in_paper).run(exact)
    except Infeasible:
        raise _explained(own, constraints, rules) from None
    return _labelled(found, possible) if labels_later else found


def _decomposed(parts: Parts, constraints: Constraints) -> Solution | None:
    """The relaxed solution by dual decomposition; None if that cannot find it."""
    if constraints.projective or constraints.max_children or len(parts.crossing):
        return None
    if len(np.unique(parts.modifiers)) < parts.size - 1 or parts.heads.min() > 0:
        return None
    single_root = constraints.single_root
    try:
        relaxed = relax(parts, single_root=single_root)
        values = relaxed.indicators.arcs
        heads = nearest_tree(parts, values, single_root=single_root)
    except NoTreeError:
        return None
    score = score_of(parts, heads)
    if not _reaches(score, relaxed.bound):
        heads, score = rounded(parts, values, single_root=single_root)
    if score == -np.inf:
        return None
    if _reaches(score, relaxed.bound):
        return Solution(Tree(heads, None, score), "integral", relaxed.bound, indicators_of(parts, heads), ())
    return Solution(Tree(heads, None, score), "rounded", relaxed.bound, relaxed.indicators, ())


def _reaches(score: float, bound: float) -> bool:
    return score > -np.inf and bound - score <= _CERTAIN * max(1.0, abs(score))


def _search(
    parts: Parts,
    constraints: Constraints,
    rules: Sequence[Rule],
    time_limit: float | None = None,
    *,
    trees: TreeRows = "cutting planes",
    as_in_paper: bool = False,
) -> _Search:
    """The search for the best tree. No arcs that cross, or are not projective: that has a program of its own."""
    others = [rule for rule in rules if not (isinstance(rule, FewArcs) and rule.most == 0 and rule.weight == np.inf)]
    if len(others) < len(rules):
        constraints = replace(constraints, projective=True)
    formulation = formulate(parts, constraints, others, trees=trees, as_in_paper=as_in_paper)
    return _Search(formulation, constraints, time_limit)


class _Search:
    def __init__(self, formulation: Formulation, constraints: Constraints, time_limit: float | None) -> None:
        self.formulation, self.constraints = formulation, constraints
        self.parts, self.z = formulation.variables.parts, formulation.variables.arcs
        self.solver = Solver(formulation.program, time_limit)

    def run(self, exact: bool) -> Solution:
        relaxed = self._repeated(self.solver, self.solver.relaxed)
        if relaxed.done and self._is_integral(relaxed):
            return self._solution(relaxed, "optimal" if exact else "integral")
        # over the scores of the arcs, if there are no values yet
        values = self.parts.arcs if relaxed.values is None else relaxed.values[self.z]
        tree = self._nearest_tree(values)
        nearest = self._completed(tree)
        if nearest is not None:
            nearest = nearest._replace(bound=relaxed.bound, indicators=self._indicators(relaxed))
        if nearest is not None and not exact and relaxed.done:
            return nearest
        start = (tree[self.parts.modifiers] == self.parts.heads).astype(float)
        answer = self._repeated(self.solver, lambda: self.solver.integer(self.z, start))
        if answer.done:
            return self._solution(answer, "optimal")
        answer = answer._replace(bound=min(relaxed.bound, answer.bound))
        if nearest is not None and nearest.tree.score >= answer.score:
            return nearest._replace(status="time limit", bound=answer.bound)
        if answer.values is None:
            return self._best_by_arcs()._replace(status="time limit", bound=answer.bound)
        return self._solution(answer, "time limit")

    def _repeated(self, solver: Solver, run: Callable[[], Answer]) -> Answer:
        """Solve, and exclude cycles and wrong marks, until there are none."""
        answer = run()
        while answer.values is not None:
            blocks = list(self._broken(answer.values))
            if not blocks:
                break
            if solver.out_of_time:
                return answer._replace(values=None, score=-np.inf, done=False)
            for block in blocks:
                solver.add(block)
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

    def _nearest_tree(self, values: Floats) -> Indices:
        """A tree near the values of the arcs; a good one where there are no rules to break."""
        constraints, flags = self.constraints, {"single_root": self.constraints.single_root}
        try:
            if not (self.formulation.slacks or constraints.max_children or constraints.projective):
                return rounded(self.parts, values, **flags)[0]
            return nearest_tree(self.parts, values, **flags, projective=constraints.projective)
        except NoTreeError:
            raise Infeasible from None

    def _completed(self, tree: Indices) -> Solution | None:
        """A tree with its labels and its score; None if it breaks hard rules."""
        chosen = tree[self.parts.modifiers] == self.parts.heads
        if not self.formulation.slacks and not self.constraints.max_children:
            score = score_of(self.parts, tree)
            return None if score == -np.inf else Solution(Tree(tree, None, score), "rounded", np.inf, None, ())
        solver = Solver(self.formulation.program)
        solver.fix(self.z, chosen.astype(float))
        try:
            answer = self._repeated(solver, lambda: solver.integer(self.z[:0], np.empty(0)))
            return self._solution(answer, "rounded")
        except Infeasible:
            return None

    def _best_by_arcs(self) -> Solution:
        """The best tree by its arcs alone that breaks no hard rule, however long that takes: better than no tree."""
        parts = self.parts
        arcs = Parts(parts.size, parts.heads, parts.modifiers, parts.arcs, labels=parts.labels)
        hard = [rule for rule, _ in self.formulation.slacks if rule.weight == np.inf]
        completed = self._completed(_search(arcs, self.constraints, hard).run(exact=True).tree.heads)
        if completed is None:
            raise NoTreeError("no tree was found in time")
        return completed

    def _solution(self, answer: Answer, status: Status) -> Solution:
        """What an answer without fractions says."""
        assert answer.values is not None
        parts, variables = self.parts, self.formulation.variables
        heads, arcs = self._tree(answer.values), np.flatnonzero(answer.values[self.z] > 0.5)
        score, labels = score_of(parts, heads), None
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
        indicators = indicators_of(parts, heads)
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
    score = score_of(parts, heads)
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


def _explained(parts: Parts, constraints: Constraints, rules: Sequence[Rule]) -> NoTreeError:
    """Why there is no tree: the hard rules are left out one by one where there is none without them either."""
    arcs = Parts(parts.size, parts.heads, parts.modifiers, np.zeros(len(parts.arcs)), labels=parts.labels)
    needed = [rule for rule in rules if rule.weight == np.inf]
    by_rules = _is_feasible(arcs, constraints, []) and not _is_feasible(arcs, constraints, needed)
    if not by_rules:
        return NoTreeError("the scores and the constraints allow no tree")
    for rule in list(needed):
        fewer = [other for other in needed if other is not rule]
        if not _is_feasible(arcs, constraints, fewer):
            needed = fewer
    return RulesError(needed)


def _is_feasible(parts: Parts, constraints: Constraints, rules: Sequence[Rule]) -> bool:
    try:
        _search(parts, constraints, rules).run(exact=True)
    except Infeasible:
        return False
    return True
