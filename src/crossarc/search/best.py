"""The best trees by the scores of their parts, whoever made these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, NoTreeError, Tree, UnsupportedConstraint
from crossarc.scorers.part_scores import PartScores, check_part_scores
from crossarc.scorers.shape import tree_shape
from crossarc.search._find_tree import best_tree_of_parts
from crossarc.search.constraints import allowed_by
from crossarc.search.methods import Exact, HillClimbing, SearchMethod, SecondOrder

__all__ = ["Search", "best_trees"]

_MOST_RESTARTS = 1_000_000

Search = Literal["exact", "second-order", "climbing", "ad3", "ilp"]


def best_trees(
    parts: PartScores | Sequence[PartScores],
    *,
    search: Search = "climbing",
    constraints: Constraints | None = None,
    single_root: bool = False,
    projective: bool = False,
    restarts: int = 3,
    seed: int = 0,
) -> list[Tree]:
    """The best tree that a search finds for each sentence.

    Parameters
    ----------
    parts : PartScores or sequence of these
        Of each sentence; see ``part_scores``.
    search : {"exact", "second-order", "climbing", "ad3", "ilp"}
        ``exact``: for arcs alone, O(n²). ``second-order``: arcs and siblings; exact if projective, O(n³), and from the
        projective tree by best changes of a head if not (McDonald and Pereira 2006). ``climbing``: for parts of any
        kind, from several starts (Zhang et al. 2014). ``ad3``: the relaxation of an integer program, and the best tree
        near it (Martins et al. 2011). ``ilp``: the integer program, which takes as long as it takes and finds the best
        tree (Martins, Smith and Xing 2009).
    constraints : Constraints, optional
        Required and forbidden arcs, shape; with ``ad3`` and ``ilp``, limits on children.
    single_root, projective : bool
        As in ``constraints``.
    restarts : int
        Further starts of climbing.
    seed : int
        Of these.

    Raises
    ------
    ValueError
        There are scores of parts that the search does not look at.
    NoTreeError
        The scores and the constraints allow no tree.
    UnsupportedConstraint
        For constraints on labels, which are chosen before, and on what the search cannot limit.

    Examples
    --------
    >>> import numpy as np
    >>> from crossarc.search import best_trees, part_scores
    >>> arcs = np.array([[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0]])
    >>> best_trees(part_scores(arcs))[0].heads.tolist()
    [-1, 2, 0, 2]
    >>> alone = np.zeros((4, 4, 4))
    >>> alone[2, 2] = -50  # no first child for the second word
    >>> best_trees(part_scores(arcs, siblings=alone))[0].heads.tolist()
    [-1, 3, 1, 0]
    """
    constraints = constraints or Constraints()
    shape = tree_shape(
        single_root=single_root or constraints.single_root, projective=projective or constraints.projective
    )
    methods: dict[str, SearchMethod] = {
        "exact": Exact(shape),
        "second-order": SecondOrder(shape, restarts),
        "climbing": HillClimbing(shape, restarts),
    }
    if search not in get_args(Search):
        raise ValueError(f"search is {search!r}, none of {', '.join(get_args(Search))}")
    if constraints.required_labels or constraints.forbidden_labels:
        raise UnsupportedConstraint("labels are chosen when arcs are scored: forbid them there")
    found = []
    if not 0 <= restarts <= _MOST_RESTARTS or not 0 <= seed < 1 << 64:
        raise ValueError(f"restarts is {restarts}, seed is {seed}: not from 0 to {_MOST_RESTARTS}, not 64 bits")
    for own in [parts] if isinstance(parts, PartScores) else parts:
        check_part_scores(own)
        _check_parts(own, search)
        left = _constrained(own, constraints)
        if search in methods:
            if constraints.max_children or constraints.max_degree is not None:
                raise UnsupportedConstraint(f"{search} search cannot limit the number of children or the degree")
            found.append(_found(methods[search], left, seed))
        else:
            flags = Constraints(
                max_children=constraints.max_children,
                max_degree=constraints.max_degree,
                single_root=shape.single_root,
                projective=shape.projective,
            )
            found.append(_by_program(left, flags, exact=search == "ilp"))
    return found


def _check_parts(parts: PartScores, search: Search) -> None:
    """Refuse scores that the search would ignore."""
    looked_at = {"exact": ("arcs",), "second-order": ("arcs", "siblings")}.get(search)
    for name in ("siblings", "grandparents", "any_siblings", "valencies"):
        if looked_at and name not in looked_at and getattr(parts, name).size:
            raise ValueError(f"{search} search does not look at {name}")


def _found(method: SearchMethod, parts: PartScores, seed: int) -> Tree:
    heads = np.full(len(parts.counts), -1)
    score = float(best_tree_of_parts(method, parts, np.uint64(seed), heads))
    if score == -np.inf:
        raise NoTreeError("the scores and the constraints allow no tree")
    return Tree(heads, _labels(parts, heads), score)


def _by_program(parts: PartScores, constraints: Constraints, *, exact: bool) -> Tree:
    from crossarc.search.integer_program import parts_for_ilp, solve_parts  # other searches do without

    tree = solve_parts(parts_for_ilp(parts), constraints=constraints, exact=exact).tree
    return tree._replace(labels=_labels(parts, tree.heads))


def _labels(parts: PartScores, heads: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The labels of a tree's arcs; None if there are none."""
    chosen = (parts.candidates == heads[:, np.newaxis]).argmax(axis=1)
    labels: NDArray[np.int64] = parts.labels[np.arange(len(heads)), chosen]
    labels[0] = -1
    return labels if len(heads) == 1 or labels[1:].min() >= 0 else None


def _constrained(parts: PartScores, constraints: Constraints) -> PartScores:
    """The candidates that the constraints leave."""
    size, width = parts.candidates.shape
    allowed = allowed_by(constraints, size, 0).arcs
    if not len(allowed):
        return parts
    kept = allowed[parts.candidates, np.arange(size)[:, np.newaxis]] & (np.arange(width) < parts.counts[:, np.newaxis])
    order = np.argsort(~kept, axis=1, kind="stable")

    def left(scores: NDArray[Any]) -> NDArray[Any]:
        indices = order if scores.ndim == 2 else order[:, :, np.newaxis]
        return np.take_along_axis(scores, indices, axis=1) if scores.size else scores

    return parts._replace(
        candidates=left(parts.candidates),
        counts=kept.sum(axis=1),
        arcs=left(parts.arcs),
        labels=left(parts.labels),
        siblings=left(parts.siblings),
        grandparents=left(parts.grandparents),
        any_siblings=left(parts.any_siblings),
    )
