"""Sums over all trees: log-partition, marginals, entropy; of one sentence and of many.

Everywhere, ``scores[h, m]`` (or ``scores[h, m, l]``) is the log-weight of the arc from head h to word m (with label l),
-inf forbids an arc, and node 0 is the root. A tree's probability is proportional to exp of the sum of
its arcs' scores. Non-projective sums are those of the Matrix-Tree theorem (McDonald & Satta 2007, §3.2 and §3.3), got
by an elimination without subtractions in O(n³ + n²L); projective ones are those of the inside-outside
algorithm (Paskin 2001), in O(n³ + n²L) too. Scores may spread over any range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import NoTreeError
from crossarc.trees import _packed_sums
from crossarc.trees._input import Scores, checked_scores, summed_labels

__all__ = [
    "entropy",
    "log_partition",
    "log_partitions",
    "log_partitions_and_marginals",
    "marginals",
    "marginals_batch",
]


def log_partition(scores: ArrayLike, *, single_root: bool = False, projective: bool = False) -> float:
    """The logarithm of the sum of exp(score) over all trees.

    Parameters
    ----------
    scores : array of shape (n+1, n+1) or (n+1, n+1, L)
    single_root : bool
        Only trees with exactly one child of the root.
    projective : bool
        Only trees without crossing arcs.

    Raises
    ------
    NoTreeError
        There is no tree.

    Examples
    --------
    There are (n+1)^(n-1) trees over n words:

    >>> import numpy as np
    >>> round(np.exp(log_partition(np.zeros((5, 5)))))
    125
    """
    return float(log_partitions([scores], single_root=single_root, projective=projective)[0])


def marginals(scores: ArrayLike, *, single_root: bool = False, projective: bool = False) -> NDArray[np.float64]:
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
    return marginals_batch([scores], single_root=single_root, projective=projective)[0]


def entropy(scores: ArrayLike, *, single_root: bool = False, projective: bool = False) -> float:
    """The entropy of the distribution over trees, in nats: log Z minus the expected score.

    The parameters are those of `log_partition`. Zero if there is only one tree.

    Examples
    --------
    >>> import numpy as np
    >>> round(np.exp(entropy(np.zeros((5, 5)))))
    125
    """
    array = checked_scores(scores).copy()
    array[:, 0] = -np.inf
    array[np.diag_indices(len(array))] = -np.inf
    # every tree has one arc into each word: what is taken from all of them changes nothing, and what is left is small
    top = array.max(axis=(0, 2) if array.ndim == 3 else 0, keepdims=True)
    array -= np.where(top > -np.inf, top, 0.0)
    log_z, (probabilities,) = log_partitions_and_marginals([array], single_root=single_root, projective=projective)
    possible = probabilities > 0.0
    return max(0.0, float(log_z[0] - (probabilities[possible] * array[possible]).sum()))


def log_partitions(
    batch: Sequence[ArrayLike] | ArrayLike,
    *,
    lengths: ArrayLike | None = None,
    single_root: bool = False,
    projective: bool = False,
    threads: int = 1,
) -> NDArray[np.float64]:
    """`log_partition` of many sentences.

    Parameters
    ----------
    batch : list of score arrays, or one padded array
        A padded array has shape (B, N+1, N+1) or (B, N+1, N+1, L).
    lengths : integer array of length B
        The number of words of each sentence of a padded array; what lies beyond is ignored.
    threads : int
        How many threads share the work.

    Raises
    ------
    NoTreeError
        A sentence has no tree; the message says which.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(log_partitions([np.zeros((3, 3)), np.zeros((4, 4))])).round()
    array([ 3., 16.])
    """
    packed, _ = _packed(batch, lengths)
    kernel = _packed_sums.projective_log_partitions if projective else _packed_sums.log_partitions
    log_z = np.empty(len(packed.sizes))

    def work(first: int, last: int) -> None:
        kernel(packed.flat, packed.starts, packed.sizes, single_root, log_z, first, last)

    _in_threads(work, packed.sizes, threads)
    _check_all_have_trees(log_z, single_root=single_root, projective=projective)
    return log_z


def marginals_batch(
    batch: Sequence[ArrayLike] | ArrayLike,
    *,
    lengths: ArrayLike | None = None,
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
    return log_partitions_and_marginals(
        batch, lengths=lengths, single_root=single_root, projective=projective, threads=threads
    )[1]


def log_partitions_and_marginals(
    batch: Sequence[ArrayLike] | ArrayLike,
    *,
    lengths: ArrayLike | None = None,
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
    packed, labelled = _packed(batch, lengths)
    kernel = _packed_sums.projective_marginals if projective else _packed_sums.marginals
    log_z = np.empty(len(packed.sizes))
    # in place where nobody needs the scores again: fresh memory costs as much as the arithmetic
    out = np.empty_like(packed.flat) if projective or labelled is not None else packed.flat

    def work(first: int, last: int) -> None:
        kernel(packed.flat, packed.starts, packed.sizes, single_root, log_z, out, first, last)

    _in_threads(work, packed.sizes, threads)
    _check_all_have_trees(log_z, single_root=single_root, projective=projective)
    arcs = _unpacked(out, packed)
    if labelled is None:
        return log_z, arcs
    sums = _unpacked(packed.flat, packed)
    return log_z, [_shared_by_labels(*sentence) for sentence in zip(arcs, labelled, sums, strict=True)]


class _Packed(NamedTuple):
    """Arc scores of many sentences as `_packed_sums` takes them."""

    flat: Scores
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]


def _packed(batch: Sequence[ArrayLike] | ArrayLike, lengths: ArrayLike | None) -> tuple[_Packed, list[Scores] | None]:
    """The arc scores in one flat array of our own; and for labelled scores the checked arrays with the labels."""
    sentences = _sentences(batch, lengths)
    if any(scores.ndim == 3 for scores in sentences):
        labelled = [checked_scores(scores, name=f"scores[{i}]") for i, scores in enumerate(sentences)]
        if any(scores.ndim == 2 for scores in labelled):
            raise ValueError("some of the scores have labels and some have none")
        return _flattened([summed_labels(scores) for scores in labelled]), labelled
    for i, scores in enumerate(sentences):
        shape = scores.shape
        if len(shape) != 2 or not shape[0] == shape[1] > 0:
            checked_scores(scores, name=f"scores[{i}]")
    packed = _flattened(sentences)
    i, h, m = _packed_sums.first_bad_place(*packed)
    if i >= 0:
        raise ValueError(f"scores[{i}][{h}, {m}] is {sentences[i][h, m]}")
    return packed, None


def _sentences(batch: Sequence[ArrayLike] | ArrayLike, lengths: ArrayLike | None) -> list[Scores]:
    """One float64 array for each sentence."""
    if lengths is None:
        return [np.asarray(scores, dtype=np.float64) for scores in batch]  # type: ignore[union-attr]
    padded = np.asarray(batch, dtype=np.float64)
    words = np.asarray(lengths)
    if padded.ndim not in (3, 4) or words.shape != padded.shape[:1]:
        raise ValueError(
            f"a padded array of shape {padded.shape} and lengths of shape {words.shape} do not go together"
        )
    if words.size and not (words.min() >= 0 and words.max() < min(padded.shape[1:3])):
        raise ValueError(f"lengths must lie between 0 and {min(padded.shape[1:3]) - 1}")
    return [scores[: n + 1, : n + 1] for scores, n in zip(padded, words.tolist(), strict=True)]


def _flattened(sentences: list[Scores]) -> _Packed:
    sizes = np.array([len(scores) for scores in sentences], dtype=np.int64)
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes * sizes, out=starts[1:])
    flat = np.concatenate(sentences, axis=None) if sentences else np.empty(0)
    return _Packed(flat, starts, sizes)


def _unpacked(flat: Scores, packed: _Packed) -> list[Scores]:
    """The array of each sentence, as a view."""
    starts, sizes = packed.starts.tolist(), packed.sizes.tolist()
    if len(set(sizes)) == 1:
        return list(flat.reshape(-1, sizes[0], sizes[0]))
    return [flat[starts[i] : starts[i + 1]].reshape(size, size) for i, size in enumerate(sizes)]


def _shared_by_labels(arcs: Scores, scores: Scores, sums: Scores) -> Scores:
    """Labelled marginals: the probability of each arc times that of each label given the arc."""
    result = np.zeros(scores.shape)
    # an arc that cannot be, on the diagonal for instance, may hold anything
    possible = arcs > 0.0
    result[possible] = arcs[possible, None] * np.exp(scores[possible] - sums[possible, None])
    return result


def _in_threads(work: Callable[[int, int], None], sizes: NDArray[np.int64], threads: int) -> None:
    """Do work(first, last) for all sentences, in chunks that cost about the same."""
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    if threads == 1 or len(sizes) < 2:
        work(0, len(sizes))
        return
    cost = np.cumsum(sizes.astype(np.float64) ** 3)
    bounds = np.searchsorted(cost, cost[-1] * np.arange(1, threads) / threads).tolist()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, [0, *bounds], [*bounds, len(sizes)]))


def _check_all_have_trees(log_z: NDArray[np.float64], *, single_root: bool, projective: bool) -> None:
    impossible = np.flatnonzero(log_z == -np.inf)
    if impossible.size:
        kind = " projective" * projective + " single-root" * single_root
        which = f" for scores[{impossible[0]}]" if len(log_z) > 1 else ""
        raise NoTreeError(f"there is no{kind} tree{which}")
