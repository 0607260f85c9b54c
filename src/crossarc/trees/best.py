"""The best tree of a sentence, or of many sentences at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import Constraints, NoTreeError, Tree
from crossarc.trees._batch import (
    Lengths,
    ListOfScores,
    checked_threads,
    decoded_side_by_side,
    in_blocks,
    name_in_list,
    sentences_of,
)
from crossarc.trees._chu_liu_edmonds import best_arborescence, best_arborescences
from crossarc.trees._eisner import best_projective
from crossarc.trees._eisner_side_by_side import best_projectives
from crossarc.trees._input import (
    FLOAT,
    Scores,
    arcs_and_labels,
    checked_scores,
    flags_of,
    for_kernel,
    is_shape_of_arcs,
    no_tree,
    tree_of,
    trees_of,
)

__all__ = ["best_tree", "best_trees"]

_Rules = Constraints | Sequence[Constraints | None] | None
_Labels = NDArray[np.int64] | None

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
    Eisner's algorithm in O(n³). Labelled scores: the best label of each arc (McDonald and Satta 2007, §3),
    the lowest at ties; O(n²L) more. A word's arc from the lowest head is taken at ties.

    Parameters
    ----------
    scores : array of shape (n+1, n+1) or (n+1, n+1, L)
        ``scores[h, m]`` is the score of the arc from head h to modifier m, ``scores[h, m, l]`` that with
        label l; -inf forbids it. Column 0 and the diagonal are ignored.
    constraints : Constraints, optional
        Required and forbidden arcs and labels, ``single_root`` and ``projective``.
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
        ``constraints`` limits the number of children or the degree of non-projectivity.

    Examples
    --------
    *John saw Mary* (McDonald et al. 2005, §2.2.1):

    >>> import numpy as np
    >>> scores = np.array([[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0]])
    >>> tree = best_tree(scores)
    >>> tree.heads.tolist(), tree.score
    ([-1, 2, 0, 2], 70.0)
    """
    single_root, projective = flags_of(constraints, single_root=single_root, projective=projective)
    arcs, labels = arcs_and_labels(np.asarray(scores), constraints, "scores")
    arcs = for_kernel(arcs, FLOAT)
    heads = np.empty(len(arcs), np.int64)
    decode = best_projective if projective else best_arborescence
    score = decode(arcs, single_root, heads)
    if not score > -np.inf:
        raise _failure(arcs, single_root, projective, "scores")
    return tree_of(heads, labels, score)


def best_trees(
    list_of_scores: ListOfScores,
    *,
    lengths: Lengths = None,
    constraints: _Rules = None,
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
        Kernels run side by side without the global lock.

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
    checked_threads(threads)
    sentences = sentences_of(list_of_scores, lengths)
    labels: list[_Labels] | None = None
    if constraints is not None or not all(map(is_shape_of_arcs, {scores.shape for scores in sentences})):
        rules = _rule_of_each(constraints, len(sentences))
        arcs = [arcs_and_labels(*each, name_in_list(i)) for i, each in enumerate(zip(sentences, rules, strict=True))]
        sentences, labels = [scores for scores, _ in arcs], [of_arcs for _, of_arcs in arcs]
    groups = _same_flags(constraints, len(sentences), single_root, projective)
    if len(groups) == 1:
        (flags,) = groups
        return _trees(sentences, labels, range(len(sentences)), *flags, threads)
    trees: dict[int, Tree] = {}
    for flags, numbers in groups.items():
        group = [sentences[i] for i in numbers]
        group_labels = None if labels is None else [labels[i] for i in numbers]
        trees.update(zip(numbers, _trees(group, group_labels, numbers, *flags, threads), strict=True))
    return [trees[i] for i in range(len(sentences))]


def _trees(
    sentences: list[NDArray[Any]],
    labels: list[_Labels] | None,
    numbers: Sequence[int],
    single_root: bool,
    projective: bool,
    threads: int,
) -> list[Tree]:
    """The best trees of sentences with the same flags; their numbers are for messages."""
    # most are as they should be, and not worth a call
    group = [s if s.dtype is FLOAT and s.flags.carray else for_kernel(s, FLOAT) for s in sentences]
    sizes = list(map(len, group))
    if projective:
        heads, totals = decoded_side_by_side(best_projectives, [group], sizes, single_root, threads)
    else:
        blocks = in_blocks(partial(_arborescences, group, sizes, single_root), sizes, threads)
        heads, totals = (list(chain.from_iterable(parts)) for parts in zip(*blocks, strict=True))
    # if one is -inf or NaN, so is their sum
    if not sum(totals) > -np.inf:
        for i, total in enumerate(totals):
            if not total > -np.inf:
                raise _failure(group[i], single_root, projective, name_in_list(numbers[i]))
    return trees_of(heads, labels, totals)


def _failure(arcs: NDArray[Any], single_root: bool, projective: bool, name: str) -> NoTreeError:
    """Why there is no score above -inf; raises ``ValueError`` itself if one of the scores is no number."""
    checked_scores(arcs, name=name)
    return no_tree(name, single_root=single_root, projective=projective)


def _rule_of_each(constraints: _Rules, count: int) -> Sequence[Constraints | None]:
    if constraints is None or isinstance(constraints, Constraints):
        return [constraints] * count
    if len(constraints) != count:
        raise ValueError(f"{len(constraints)} constraints for {count} sentences")
    return constraints


def _same_flags(
    constraints: _Rules, count: int, single_root: bool, projective: bool
) -> dict[tuple[bool, bool], Sequence[int]]:
    """The numbers of the sentences for each (single_root, projective) that occurs."""
    if constraints is None or isinstance(constraints, Constraints):
        return {flags_of(constraints, single_root=single_root, projective=projective): range(count)}
    groups: dict[tuple[bool, bool], list[int]] = {}
    for i, rule in enumerate(constraints):
        groups.setdefault(flags_of(rule, single_root=single_root, projective=projective), []).append(i)
    return {**groups}


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
