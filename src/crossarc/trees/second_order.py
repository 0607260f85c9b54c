"""The best tree under scores of adjacent siblings, of a sentence or of many at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import Constraints, Tree
from crossarc.trees._batch import (
    ConstraintsOfEach,
    Group,
    Lengths,
    ListOfScores,
    checked_threads,
    decode_simd,
    groups_of,
    in_order,
)
from crossarc.trees._eisner_second_order import best_second_order_projective
from crossarc.trees._eisner_second_order_simd import best_second_order_projectives
from crossarc.trees._hill_climbing import climb
from crossarc.trees._initial_tree import Start, checked_search, find_start
from crossarc.trees._input import (
    FLOAT,
    arcs_and_labels,
    best_label_of_each_arc,
    checked_scores,
    checked_siblings,
    flags_of,
    for_kernel,
    masked,
    no_tree,
    shaped_siblings,
    tree_of,
    trees_of,
)

__all__ = ["best_second_order_tree", "best_second_order_trees"]


def best_second_order_tree(
    arcs: ArrayLike,
    siblings: ArrayLike,
    *,
    constraints: Constraints | None = None,
    single_root: bool = False,
    projective: bool = True,
    start: Start = "projective",
    max_changes: int | None = None,
) -> Tree:
    """The tree with the highest sum of the scores of its arcs and of its pairs of adjacent siblings.

    The best projective tree is exact. To find the best of all trees is NP-hard, so ``projective=False``
    climbs: from a good tree it takes the single change of a head that raises the score most, again and
    again, until none does. The result never scores lower than the tree it started from.

    Parameters
    ----------
    arcs : array of shape (n+1, n+1) or (n+1, n+1, L)
        ``arcs[h, m]`` is the score of the arc from head h to modifier m; -inf forbids it.
    siblings : array of shape (n+1, n+1, n+1)
        ``siblings[h, s, m]`` is added for the arc from h to m if s is the child of h next to m, towards h
        and on the same side; s == h if m is the first child on its side. -inf forbids it. Other elements
        are ignored.
    constraints : Constraints, optional
    single_root : bool
        Exactly one word hangs on node 0. Climbing then keeps the child of the root that it started with.
    projective : bool
        No arcs cross: O(n³), Figure 3 of the paper. Otherwise Figure 4: each change takes O(n²).
    start : "projective" or "nonprojective"
        Where climbing starts: the best projective tree, or the best tree by the scores of the arcs alone.
        If a part of that one is forbidden, it starts from the other; if both are forbidden, from a tree
        that is found by climbing towards fewer forbidden parts.
    max_changes : int, optional
        Stop climbing after so many changes.

    Returns
    -------
    Tree

    Raises
    ------
    NoTreeError
        There is no tree; or, if not projective, the search found none.

    References
    ----------
    Ryan McDonald and Fernando Pereira (2006), *Online Learning of Approximate Dependency Parsing Algorithms*.
    EACL.

    Examples
    --------
    >>> import numpy as np
    >>> arcs, siblings = np.zeros((4, 4)), np.zeros((4, 4, 4))
    >>> arcs[0, 2], arcs[2, 1], arcs[3, 1] = 3, 1, 2
    >>> siblings[2, 2, 3] = 1  # 3 is the first child of 2 on the right
    >>> best_second_order_tree(arcs, siblings).heads.tolist()
    [-1, 2, 0, 2]
    >>> best_second_order_tree(arcs, siblings, projective=False).heads.tolist()
    [-1, 3, 0, 2]
    """
    limit = checked_search(start, max_changes)
    single_root, projective = flags_of(constraints, single_root=single_root, projective=projective)
    scores = checked_scores(arcs, name="arcs")
    arc_scores, labels = best_label_of_each_arc(masked(scores, constraints))
    sibling_scores = checked_siblings(siblings, len(arc_scores))
    if projective:
        heads = np.empty(len(arc_scores), dtype=np.int64)
        score = best_second_order_projective(arc_scores, sibling_scores, heads, single_root)
        if score == -np.inf:
            raise no_tree("arcs and siblings", single_root=single_root, projective=True)
    else:
        heads = find_start(arc_scores, sibling_scores, start, single_root=single_root)
        score = climb(arc_scores, sibling_scores, heads, single_root, limit)
    return tree_of(heads, labels, score)


def best_second_order_trees(
    list_of_arcs: ListOfScores,
    list_of_siblings: Iterable[ArrayLike] | NDArray[Any],
    *,
    lengths: Lengths = None,
    constraints: ConstraintsOfEach = None,
    single_root: bool = False,
    threads: int = 1,
) -> list[Tree]:
    """``best_second_order_tree`` of many sentences: the best projective tree of each.

    Sentences of the same length are parsed several at a time.

    Parameters
    ----------
    list_of_arcs, lengths, constraints, single_root, threads
        As for `best_trees`.
    list_of_siblings : list of B score arrays, or one array of shape (B, n+1, n+1, n+1)
        Padded if the arcs are.

    Raises
    ------
    NoTreeError, ValueError, UnsupportedConstraint
        As ``best_second_order_tree``; names the sentence.

    Examples
    --------
    >>> import numpy as np
    >>> arcs, siblings = np.zeros((2, 3, 3)), np.zeros((2, 3, 3, 3))
    >>> siblings[1, 0, 1, 2] = 1  # in the second sentence, 2 likes to follow 1 below the root
    >>> [tree.heads.tolist() for tree in best_second_order_trees(arcs, siblings)]
    [[-1, 0, 1], [-1, 0, 0]]
    """
    checked_threads(threads)
    groups = groups_of(list_of_arcs, lengths, constraints, single_root, True, "list_of_arcs[{}]")
    count = sum(len(group.sentences) for group in groups)
    siblings: list[NDArray[Any]] = list(map(np.asarray, list_of_siblings))
    if len(siblings) != count:
        raise ValueError(f"{len(siblings)} arrays of siblings for {count} sentences")
    return in_order(groups, [_trees(group, siblings, lengths is not None, threads) for group in groups])


def _trees(group: Group, list_of_siblings: list[NDArray[Any]], padded: bool, threads: int) -> list[Tree]:
    """The best projective tree of each sentence; the siblings are those of the whole batch."""
    reduced = [arcs_and_labels(scores, None, group.name_of(i)) for i, scores in enumerate(group.sentences)]
    arcs = [for_kernel(scores, FLOAT) for scores, _ in reduced]
    sizes = list(map(len, arcs))
    siblings = []
    for number, size in zip(group.numbers, sizes, strict=True):
        array = list_of_siblings[number]
        cut = array[(slice(size),) * array.ndim] if padded else array
        siblings.append(shaped_siblings(cut, size, f"list_of_siblings[{number}]"))
    heads, totals = decode_simd(best_second_order_projectives, [arcs, siblings], sizes, group.single_root, threads)
    for i, total in enumerate(totals):
        if not total > -np.inf:
            name = f"list_of_siblings[{group.numbers[i]}]"
            checked_scores(arcs[i], name=group.name_of(i))
            checked_siblings(siblings[i], sizes[i], name=name)
            raise no_tree(f"{group.name_of(i)} and {name}", single_root=group.single_root, projective=True)
    return trees_of(heads, [labels for _, labels in reduced], totals)
