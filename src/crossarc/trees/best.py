"""The best tree of a sentence, or of many sentences at once."""

from __future__ import annotations

from functools import partial
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import Constraints, Tree
from crossarc.trees._batch import (
    ConstraintsOfEach,
    Group,
    Lengths,
    ListOfScores,
    decode_simd,
    groups_of,
    in_blocks,
    of_groups,
)
from crossarc.trees._chu_liu_edmonds import best_arborescence, best_arborescences
from crossarc.trees._eisner import best_projective
from crossarc.trees._eisner_arity import best_projective_of_arity
from crossarc.trees._eisner_simd import best_projectives
from crossarc.trees._input import (
    FLOAT,
    Scores,
    arcs_and_labels,
    checked_scores,
    flags_of,
    for_kernel,
    is_shape_of_arcs,
    limits_of_children,
    no_tree,
    tree_of,
    trees_of,
    unlimited_children,
)

__all__ = ["best_tree", "best_trees"]

# So many arrays are given to a kernel at a time, as they are: cheaper than a copy of their elements.
_AT_A_TIME = 16


def best_tree(
    scores: ArrayLike,
    *,
    constraints: Constraints | None = None,
    single_root: bool = False,
    projective: bool = False,
) -> Tree:
    """The tree with the highest sum of arc scores.

    Non-projective: Chu-Liu-Edmonds (McDonald et al. 2005, §2.2.1) in O(n²), with one root too. Projective:
    Eisner's algorithm in O(n³); under limits on children, up to D for a node, in O(n³D²) (McDonald and Satta 2007,
    §6). Labelled scores: the best label of each arc (§3), the lowest at ties; O(n²L) more. A word's arc from the
    lowest head is taken at ties.

    Parameters
    ----------
    scores : array of shape (n+1, n+1) or (n+1, n+1, L)
        ``scores[h, m]`` is the score of the arc from head h to modifier m, ``scores[h, m, l]`` that with
        label l; -inf forbids it. Column 0 and the diagonal are ignored.
    constraints : Constraints, optional
        Required and forbidden arcs and labels, ``single_root`` and ``projective``; if projective, ``max_children``.
    single_root : bool
        Exactly one word hangs from the root.
    projective : bool
        No arcs cross.

    Raises
    ------
    NoTreeError
        No tree is possible.
    ValueError
        A score is NaN or +inf, or the shape is wrong.
    UnsupportedConstraint
        ``constraints`` limits the degree of non-projectivity, or the number of children of trees that need not be
        projective: these make the problem NP-hard (MS07, §5.1), and are for integer programs.

    Examples
    --------
    *John saw Mary* (McDonald et al. 2005, §2.2.1):

    >>> import numpy as np
    >>> scores = np.array([[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0]])
    >>> tree = best_tree(scores)
    >>> tree.heads.tolist(), tree.score
    ([-1, 2, 0, 2], 70.0)
    >>> one_child = Constraints(max_children={0: 1, 1: 1, 2: 1, 3: 1})
    >>> best_tree(scores, projective=True, constraints=one_child).heads.tolist()
    [-1, 0, 1, 2]
    """
    single_root, projective = flags_of(constraints, single_root=single_root, projective=projective)
    arcs, labels = arcs_and_labels(np.asarray(scores), constraints, "scores")
    arcs = for_kernel(arcs, FLOAT)
    limits = limits_of_children(constraints, len(arcs), single_root)
    heads = np.empty(len(arcs), np.int64)
    if limits is not None:
        score = _of_arity(arcs, limits, projective, heads)
    else:
        score = (best_projective if projective else best_arborescence)(arcs, single_root, heads)
    _require_tree(score, arcs, single_root, projective, "scores")
    return tree_of(heads, labels, score)


def _of_arity(arcs: Scores, limits: NDArray[np.int64], projective: bool, heads: NDArray[np.int64]) -> float:
    """Fill in the heads of the best tree under limits on children; its score."""
    if not projective:
        raise unlimited_children()
    return best_projective_of_arity(arcs, limits, heads)


def best_trees(
    list_of_scores: ListOfScores,
    *,
    lengths: Lengths = None,
    constraints: ConstraintsOfEach = None,
    single_root: bool = False,
    projective: bool = False,
    threads: int = 1,
) -> list[Tree]:
    """``best_tree`` of many sentences, with less overhead for each, in several threads if asked for.

    Parameters
    ----------
    list_of_scores : list of score arrays, or one array of shape (B, n+1, n+1) or (B, n+1, n+1, L)
        Sentences may differ in length, also in one padded array: then ``lengths`` says how many words each
        has.
    lengths : sequence of B integers, optional
        Sentence i is ``list_of_scores[i][: lengths[i] + 1, : lengths[i] + 1]``.
    constraints : Constraints, or a sequence of B of them (or None)
        For all sentences, or for each.
    single_root, projective : bool
        As for ``best_tree``.
    threads : int
        Kernels run in parallel, without the global lock.

    Raises
    ------
    NoTreeError, ValueError, UnsupportedConstraint
        As ``best_tree``; names the sentence.

    Examples
    --------
    >>> import numpy as np
    >>> trees = best_trees([np.zeros((3, 3)), np.array([[0, 1, 5], [0, 0, 2], [0, 4, 0]])])
    >>> [tree.heads.tolist() for tree in trees]
    [[-1, 0, 0], [-1, 2, 0]]
    """
    groups = groups_of(list_of_scores, lengths, constraints, single_root, projective, limits_children=True)
    return of_groups(best_trees_of, groups, threads)


def best_trees_of(group: Group, threads: int) -> list[Tree]:
    """The best tree of each sentence."""
    sentences, labels = _arcs_and_labels(group)
    # most are as they should be, and not worth a call
    arcs = [s if s.dtype is FLOAT and s.flags.carray else for_kernel(s, FLOAT) for s in sentences]
    sizes = list(map(len, arcs))
    if group.limits is not None:
        heads = [np.empty(size, np.int64) for size in sizes]
        totals = [_of_arity(arcs[0], group.limits, group.projective, heads[0])]
    elif group.projective:
        heads, totals = decode_simd(best_projectives, [arcs], sizes, group.single_root, threads)
    else:
        blocks = in_blocks(partial(_arborescences, arcs, sizes, group.single_root), sizes, threads)
        heads, totals = (list(chain.from_iterable(parts)) for parts in zip(*blocks, strict=True))
    # if one is -inf or NaN, so is their sum
    if not sum(totals) > -np.inf:
        for i, total in enumerate(totals):
            _require_tree(total, arcs[i], group.single_root, group.projective, group.name_of(i))
    return trees_of(heads, labels, totals)


def _arcs_and_labels(group: Group) -> tuple[list[NDArray[Any]], list[NDArray[np.int64] | None] | None]:
    """The score and the best label of each arc of each sentence; None if no sentence has labels."""
    if all(map(is_shape_of_arcs, {scores.shape for scores in group.sentences})):
        return group.sentences, None
    reduced = [arcs_and_labels(scores, None, group.name_of(i)) for i, scores in enumerate(group.sentences)]
    return [arcs for arcs, _ in reduced], [labels for _, labels in reduced]


def _require_tree(total: float, arcs: Scores, single_root: bool, projective: bool, name: str) -> None:
    """Raises the reason if the score of the best tree is not above -inf: a score that is no number, or no tree."""
    if not total > -np.inf:
        checked_scores(arcs, name=name)
        raise no_tree(name, single_root=single_root, projective=projective)


def _arborescences(
    group: list[Scores], sizes: list[int], single_root: bool, first: int, last: int
) -> tuple[list[NDArray[np.int64]], list[float]]:
    """The heads and scores of the best trees of a block of sentences."""
    block = tuple(group[first:last])
    ends = list(accumulate(sizes[first:last], initial=0))
    heads = np.empty(ends[-1], np.int64)
    totals = np.empty(len(block))
    for i in range(0, len(block), _AT_A_TIME):
        some = block[i : i + _AT_A_TIME]
        # a tuple of another length would be another type to Numba
        filled = some + some[:1] * (_AT_A_TIME - len(some))
        best_arborescences(filled, len(some), single_root, heads[ends[i] :], totals[i:])
    return [heads[start:end] for start, end in pairwise(ends)], totals.tolist()
