"""The best tree of a sentence, or of many sentences at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import Constraints, NoTreeError, Tree
from crossarc.trees._chu_liu_edmonds import best_arborescence, best_arborescences
from crossarc.trees._eisner import best_projective
from crossarc.trees._input import Scores, best_label_of_each_arc, checked_scores, masked, merged, tree_of

__all__ = ["best_tree", "best_trees"]

_Labels = NDArray[np.int64] | None
_Lengths = Sequence[int] | NDArray[np.integer] | None
_Rules = Constraints | Sequence[Constraints | None] | None
_Task = tuple[int, Scores, _Labels]
_Block = tuple[tuple[bool, bool], list[_Task]]
_Solutions = tuple[NDArray[np.int64], list[float]]

# At most so many sentences are copied side by side for one call of the kernel.
_BLOCK = 256


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
    if constraints is not None:
        constraints = merged(constraints, single_root=single_root, projective=projective)
        single_root, projective = constraints.single_root, constraints.projective
    arcs, labels = _arcs(scores, constraints, projective)
    decode = best_projective if projective else best_arborescence
    heads = np.empty(len(arcs), np.int64)
    score = decode(_for_kernel(arcs), single_root, heads)
    if not score > -np.inf:
        raise _failure(arcs, single_root, projective)
    return tree_of(heads, labels, score)


def best_trees(
    list_of_scores: Iterable[ArrayLike] | NDArray[np.floating],
    *,
    lengths: _Lengths = None,
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
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    sentences = _sentences(list_of_scores, lengths)
    rules = _rule_of_each(constraints, len(sentences))
    tasks: dict[tuple[bool, bool], list[_Task]] = {}
    for i, (scores, rule) in enumerate(zip(sentences, rules, strict=True)):
        flags = (single_root, projective)
        if rule is not None:
            rule = merged(rule, single_root=single_root, projective=projective)
            flags = (rule.single_root, rule.projective)
        arcs, labels = _arcs(scores, rule, flags[1], i)
        tasks.setdefault(flags, []).append((i, arcs, labels))
    blocks: list[_Block] = []
    for flags, same in tasks.items():
        size = min(_BLOCK, -(-len(same) // threads))
        blocks += [(flags, same[start : start + size]) for start in range(0, len(same), size)]
    if threads == 1:
        return _in_order(zip(blocks, map(_solve, blocks), strict=True))
    with ThreadPoolExecutor(threads) as pool:
        return _in_order(zip(blocks, pool.map(_solve, blocks), strict=True))


def _arcs(
    scores: ArrayLike, rule: Constraints | None, projective: bool, number: int | None = None
) -> tuple[Scores, _Labels]:
    """The score of each arc that the rule allows, and its best label.

    Where nothing but the scores of arcs counts, looking for NaN is left to ``best_arborescence``.
    """
    array = np.asarray(scores)
    if rule is None and not projective and array.ndim == 2 and array.shape[0] == array.shape[1] > 0:
        return array, None
    checked = checked_scores(array, name=_name(number))
    return best_label_of_each_arc(checked if rule is None else masked(checked, rule))


def _name(number: int | None) -> str:
    """What error messages call the scores of a sentence."""
    return "scores" if number is None else f"list_of_scores[{number}]"


def _for_kernel(arcs: Scores) -> Scores:
    """Contiguous and writeable float64: Numba would compile its kernels again for any other kind of array."""
    arcs = np.ascontiguousarray(arcs, dtype=np.float64)
    return arcs if arcs.flags.writeable else arcs.copy()


def _failure(arcs: Scores, single_root: bool, projective: bool, number: int | None = None) -> NoTreeError:
    """Why there is no score above -inf; raises ``ValueError`` itself if one of the scores is no number."""
    checked_scores(arcs, name=_name(number))
    kind = "projective tree" if projective else "tree"
    roots = " with a single root" if single_root else ""
    return NoTreeError(f"{_name(number)} and the constraints allow no {kind}{roots}")


def _sentences(list_of_scores: Iterable[ArrayLike] | NDArray[np.floating], lengths: _Lengths) -> list[ArrayLike]:
    """The scores of each sentence, without the padding."""
    if isinstance(list_of_scores, np.ndarray) and list_of_scores.ndim not in (3, 4):
        raise ValueError(f"a batch must have shape (B, n+1, n+1) or (B, n+1, n+1, L), not {list_of_scores.shape}")
    sentences = list(list_of_scores)
    if lengths is None:
        return sentences
    if len(lengths) != len(sentences):
        raise ValueError(f"{len(lengths)} lengths for {len(sentences)} sentences")
    cut: list[ArrayLike] = []
    for i, (scores, length) in enumerate(zip(sentences, lengths, strict=True)):
        array = np.asarray(scores)
        if not 0 <= length < len(array):
            raise ValueError(f"lengths[{i}] is {length}, but there is room for {len(array) - 1} words")
        cut.append(array[: length + 1, : length + 1])
    return cut


def _rule_of_each(constraints: _Rules, count: int) -> list[Constraints | None]:
    if constraints is None or isinstance(constraints, Constraints):
        return [constraints] * count
    if len(constraints) != count:
        raise ValueError(f"{len(constraints)} constraints for {count} sentences")
    return list(constraints)


def _in_order(solved: Iterable[tuple[_Block, _Solutions]]) -> list[Tree]:
    """The trees of all sentences in their order."""
    trees: dict[int, Tree] = {}
    for ((single_root, projective), tasks), (heads, totals) in solved:
        first = 0
        for (i, arcs, labels), score in zip(tasks, totals, strict=True):
            if not score > -np.inf:
                raise _failure(arcs, single_root, projective, i)
            last = first + len(arcs)
            trees[i] = tree_of(heads[first:last], labels, score)
            first = last
    return [trees[i] for i in range(len(trees))]


def _solve(block: _Block) -> _Solutions:
    """The work of a thread: the heads of the block's sentences, one behind the other, and their scores."""
    (single_root, projective), tasks = block
    decode = _decode_projective if projective else _decode
    return decode([arcs for _, arcs, _ in tasks], single_root)


def _decode(block: list[Scores], single_root: bool) -> _Solutions:
    sizes = np.array([len(arcs) for arcs in block])
    heads = np.empty(sizes.sum(), np.int64)
    totals = np.empty(len(block))
    flat = np.concatenate([arcs.ravel() for arcs in block], dtype=np.float64)
    best_arborescences(flat, sizes, single_root, heads, totals)
    return heads, totals.tolist()


def _decode_projective(block: list[Scores], single_root: bool) -> _Solutions:
    heads = np.empty(sum(map(len, block)), np.int64)
    totals = []
    first = 0
    for arcs in block:
        last = first + len(arcs)
        totals.append(best_projective(_for_kernel(arcs), single_root, heads[first:last]))
        first = last
    return heads, totals
