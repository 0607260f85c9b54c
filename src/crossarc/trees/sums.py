"""Sums over all trees: log-partition, marginals, entropy; of one sentence and of many.

Everywhere, ``scores[h, m]`` (or ``scores[h, m, l]``) is the log-weight of the arc from head h to word m (with label l),
-inf forbids an arc, and node 0 is the root. A tree's probability is proportional to exp of the sum of
its arcs' scores. Non-projective sums are those of the Matrix-Tree theorem (McDonald & Satta 2007, §3.2 and §3.3), got
by an elimination without subtractions in O(n³ + n²L); projective ones are those of the inside-outside
algorithm (Paskin 2001), in O(n³ + n²L) too. Scores may spread over any range. Under limits on the number of children,
sums are #P-hard (McDonald & Satta 2007, §5.1): small sentences only, by enumeration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import Constraints
from crossarc.trees import _batched_sums, _enumeration
from crossarc.trees._batch import (
    ConstraintsOfEach,
    Group,
    Lengths,
    ListOfScores,
    Packed,
    alone,
    groups_of,
    in_blocks,
    of_groups,
    pack,
    unpack,
)
from crossarc.trees._check import first_bad_place
from crossarc.trees._input import Scores, checked_scores, is_shape_of_arcs, no_tree, summed_labels

__all__ = [
    "entropies",
    "entropy",
    "log_partition",
    "log_partitions",
    "log_partitions_and_marginals",
    "marginals",
    "marginals_batch",
]


def log_partition(
    scores: ArrayLike,
    *,
    constraints: Constraints | None = None,
    single_root: bool = False,
    projective: bool = False,
) -> float:
    """The logarithm of the sum of exp(score) over all trees.

    Parameters
    ----------
    scores : array of shape (n+1, n+1) or (n+1, n+1, L)
    constraints, single_root, projective
        Which trees are summed over: see `best_tree`.

    Raises
    ------
    NoTreeError, ValueError
        As `best_tree`.
    UnsupportedConstraint
        ``constraints`` limits the degree of non-projectivity; or the number of children, and the sentence is too long
        to enumerate its trees: there are more than a million.

    Examples
    --------
    There are (n+1)^(n-1) trees over n words:

    >>> import numpy as np
    >>> round(np.exp(log_partition(np.zeros((5, 5)))))
    125

    With one child each, they are the n! orders of the words (McDonald and Satta 2007, §5.1):

    >>> one_child = Constraints(max_children=dict.fromkeys(range(5), 1))
    >>> round(np.exp(log_partition(np.zeros((5, 5)), constraints=one_child)))
    24
    """
    return float(log_partitions_of(alone(scores, constraints, single_root, projective))[0])


def marginals(
    scores: ArrayLike,
    *,
    constraints: Constraints | None = None,
    single_root: bool = False,
    projective: bool = False,
) -> NDArray[np.float64]:
    """The probability of each arc: an array like ``scores``, zero on the diagonal and in column 0.

    The parameters are those of `log_partition`. The heads (and labels) of each word sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> marginals(np.zeros((3, 3))).round(3)
    array([[0.   , 0.667, 0.667],
           [0.   , 0.   , 0.333],
           [0.   , 0.333, 0.   ]])
    """
    return sums_of(alone(scores, constraints, single_root, projective))[1][0]


def entropy(
    scores: ArrayLike,
    *,
    constraints: Constraints | None = None,
    single_root: bool = False,
    projective: bool = False,
) -> float:
    """The entropy of the distribution over trees, in nats: log Z minus the expected score.

    The parameters are those of `log_partition`. Zero if there is only one tree.

    Examples
    --------
    >>> import numpy as np
    >>> round(np.exp(entropy(np.zeros((5, 5)))))
    125
    """
    group = alone(scores, constraints, single_root, projective)
    (log_z,), (probabilities,) = sums_of(group)
    return entropy_of(group.sentences[0], log_z, probabilities)


def entropies(
    list_of_scores: ListOfScores,
    *,
    lengths: Lengths = None,
    constraints: ConstraintsOfEach = None,
    single_root: bool = False,
    projective: bool = False,
    threads: int = 1,
) -> NDArray[np.float64]:
    """`entropy` of many sentences, with the parameters of `log_partitions`.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(entropies([np.zeros((3, 3)), np.zeros((4, 4))])).round()
    array([ 3., 16.])
    """
    groups = groups_of(list_of_scores, lengths, constraints, single_root, projective, limits_children=True)
    found = of_groups(_entropies_of, groups, threads)
    return np.array(found, dtype=np.float64)


def _entropies_of(group: Group, threads: int) -> Iterator[float]:
    return map(entropy_of, group.sentences, *sums_of(group, threads))


def entropy_of(scores: NDArray[Any], log_z: float, probabilities: Scores) -> float:
    """The entropy from log Z and the marginals."""
    possible = probabilities > 0.0
    own = scores[possible].astype(np.float64, copy=False)
    return max(0.0, float(log_z - (probabilities[possible] * own).sum()))


def log_partitions(
    list_of_scores: ListOfScores,
    *,
    lengths: Lengths = None,
    constraints: ConstraintsOfEach = None,
    single_root: bool = False,
    projective: bool = False,
    threads: int = 1,
) -> NDArray[np.float64]:
    """`log_partition` of many sentences, with the parameters and the errors of `best_trees`.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(log_partitions([np.zeros((3, 3)), np.zeros((4, 4))])).round()
    array([ 3., 16.])
    """
    groups = groups_of(list_of_scores, lengths, constraints, single_root, projective, limits_children=True)
    found: list[float] = of_groups(log_partitions_of, groups, threads)
    return np.array(found, dtype=np.float64)


def marginals_batch(
    list_of_scores: ListOfScores,
    *,
    lengths: Lengths = None,
    constraints: ConstraintsOfEach = None,
    single_root: bool = False,
    projective: bool = False,
    threads: int = 1,
) -> list[NDArray[np.float64]]:
    """`marginals` of many sentences, with the parameters of `log_partitions`: one array for each sentence.

    Examples
    --------
    >>> import numpy as np
    >>> [m.shape for m in marginals_batch(np.zeros((2, 5, 5)), lengths=[2, 4])]
    [(3, 3), (5, 5)]
    """
    groups = groups_of(list_of_scores, lengths, constraints, single_root, projective, limits_children=True)
    return of_groups(_marginals_of, groups, threads)


def _marginals_of(group: Group, threads: int) -> list[NDArray[np.float64]]:
    return sums_of(group, threads)[1]


def log_partitions_and_marginals(
    list_of_scores: ListOfScores,
    *,
    lengths: Lengths = None,
    constraints: ConstraintsOfEach = None,
    single_root: bool = False,
    projective: bool = False,
    threads: int = 1,
) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """`log_partitions` and `marginals_batch` for the price of the second: the value and the gradient of log Z.

    Examples
    --------
    >>> import numpy as np
    >>> log_z, probabilities = log_partitions_and_marginals([np.zeros((2, 2)), np.zeros((3, 3))])
    >>> np.exp(log_z).round(), len(probabilities)
    (array([1., 3.]), 2)
    """
    groups = groups_of(list_of_scores, lengths, constraints, single_root, projective, limits_children=True)
    found = of_groups(_pairs_of_sums, groups, threads)
    return np.array([log_z for log_z, _ in found], dtype=np.float64), [probabilities for _, probabilities in found]


def _pairs_of_sums(group: Group, threads: int) -> Iterator[tuple[float, NDArray[np.float64]]]:
    return zip(*sums_of(group, threads), strict=True)


def log_partitions_of(group: Group, threads: int = 1) -> NDArray[np.float64]:
    """log Z of each sentence."""
    if group.limits is not None:
        return sums_of(group)[0]
    packed = _packed(group)
    kernel = _batched_sums.projective_log_partitions if group.projective else _batched_sums.log_partitions
    log_z = np.empty(len(packed.sizes))

    def work(first: int, last: int) -> None:
        kernel(packed.flat, packed.starts, packed.sizes, group.single_root, log_z, first, last)

    in_blocks(work, packed.sizes, threads)
    _require_trees(log_z, group)
    return log_z


def sums_of(group: Group, threads: int = 1) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """log Z and the marginals of each sentence."""
    if group.limits is not None:
        return _enumerated(group, group.limits)
    packed = _packed(group)
    labelled = 3 in {scores.ndim for scores in group.sentences}
    kernel = _batched_sums.projective_marginals if group.projective else _batched_sums.marginals
    log_z = np.empty(len(packed.sizes))
    # in place where nobody needs the scores again: fresh memory costs as much as the arithmetic
    out = np.empty_like(packed.flat) if group.projective or labelled else packed.flat

    def work(first: int, last: int) -> None:
        kernel(packed.flat, packed.starts, packed.sizes, group.single_root, log_z, out, first, last)

    in_blocks(work, packed.sizes, threads)
    _require_trees(log_z, group)
    arcs = unpack(out, packed)
    if not labelled:
        return log_z, arcs
    sums = unpack(packed.flat, packed)
    return log_z, [shared_by_labels(*sentence) for sentence in zip(arcs, group.sentences, sums, strict=True)]


def _enumerated(group: Group, limits: NDArray[np.int64]) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """log Z and the marginals of a sentence under limits on children."""
    (scores,) = group.sentences
    sums = summed_labels(scores)
    log_z, arcs = _enumeration.log_partition_and_marginals(sums, limits, group.projective)
    _require_trees(np.array([log_z]), group)
    return np.array([log_z]), [shared_by_labels(arcs, scores, sums)]


def _packed(group: Group) -> Packed:
    """The arc scores, those of labels summed, in one array of our own that is free of NaN and +inf."""
    arcs = group.sentences
    if not all(map(is_shape_of_arcs, {scores.shape for scores in arcs})):
        arcs = [summed_labels(checked_scores(scores, name=group.name_of(i))) for i, scores in enumerate(arcs)]
    packed = pack(arcs)
    i, h, m = first_bad_place(*packed)
    if i >= 0:
        raise ValueError(f"{group.name_of(i)}[{h}, {m}] is {arcs[i][h, m]}")
    return packed


def shared_by_labels(arcs: Scores, scores: NDArray[Any], sums: Scores) -> Scores:
    """Labelled marginals: the probability of each arc times that of each label given the arc."""
    if scores.ndim == 2:
        return arcs
    result = np.zeros(scores.shape)
    # an arc that cannot be, on the diagonal for instance, may hold anything
    possible = arcs > 0.0
    result[possible] = arcs[possible, None] * np.exp(scores[possible].astype(np.float64) - sums[possible, None])
    return result


def _require_trees(log_z: NDArray[np.float64], group: Group) -> None:
    found = log_z.tolist()
    if -np.inf in found:
        name = group.name_of(found.index(-np.inf))
        raise no_tree(name, single_root=group.single_root, projective=group.projective)
