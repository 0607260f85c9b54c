"""Many sentences at once: how they are given, packed in one array for a kernel, and shared among threads.

One rule for all functions of many sentences: they have the name of the function of one sentence in the plural (with
``_batch`` where that is a plural already), its parameters, ``lengths`` and ``threads``; their results are those of the
single calls, in order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import Constraints
from crossarc.trees._input import FLOAT, INTEGER, Scores, checked_scores, flags_of, limits_of_children, masked
from crossarc.trees._simd import LANES

ListOfScores = Iterable[ArrayLike] | NDArray[Any]
Lengths = Sequence[int] | NDArray[np.integer[Any]] | None
ConstraintsOfEach = Constraints | Sequence[Constraints | None] | None
Result = TypeVar("Result")

# About so many sentences are packed at a time: copies then stay in the cache.
_BLOCK = 256


class Packed(NamedTuple):
    """Arc scores of many sentences in one array: those of sentence i are ``flat[starts[i]:starts[i + 1]]``."""

    flat: Scores
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]


def sentences_of(list_of_scores: ListOfScores, lengths: Lengths, name: str) -> list[NDArray[Any]]:
    """The scores of each sentence, without the padding."""
    if isinstance(list_of_scores, np.ndarray) and list_of_scores.ndim not in (3, 4):
        raise ValueError(f"{name} must have shape (B, n+1, n+1) or (B, n+1, n+1, L), not {list_of_scores.shape}")
    sentences: list[NDArray[Any]] = list(map(np.asarray, list_of_scores))
    if lengths is None:
        return sentences
    if len(lengths) != len(sentences):
        raise ValueError(f"{len(lengths)} lengths for {len(sentences)} sentences")
    for i, (scores, length) in enumerate(zip(sentences, lengths, strict=True)):
        room = min(scores.shape[:2], default=0)
        if not 0 <= length < room:
            raise ValueError(f"lengths[{i}] is {length}, but there is room for {room - 1} words")
        sentences[i] = scores[: length + 1, : length + 1]
    return sentences


class Group(NamedTuple):
    """Sentences whose trees are of the same kind."""

    sentences: list[NDArray[Any]]  # their scores; with constraints: checked and masked
    single_root: bool
    projective: bool
    numbers: Sequence[int] = (0,)  # their places in the batch
    name: str = "scores"  # what error messages call the scores of a sentence, with {} for its number
    limits: NDArray[np.int64] | None = None  # limits[h] on the children of node h; such a sentence is alone

    def name_of(self, i: int) -> str:
        """What error messages call the scores of sentence i of the group."""
        return self.name.format(self.numbers[i])


def alone(scores: ArrayLike, constraints: Constraints | None, single_root: bool, projective: bool) -> Group:
    """A sentence that is no part of a batch."""
    if constraints is None:
        return Group([np.asarray(scores)], single_root, projective)
    flags = flags_of(constraints, single_root=single_root, projective=projective)
    array = masked(checked_scores(scores), constraints, limits_children=True)
    return Group([array], *flags, limits=limits_of_children(constraints, len(array), flags[0]))


def groups_of(
    list_of_scores: ListOfScores,
    lengths: Lengths,
    constraints: ConstraintsOfEach,
    single_root: bool,
    projective: bool,
    name: str = "list_of_scores[{}]",
    *,
    limits_children: bool = False,
) -> list[Group]:
    """The sentences of a batch, those with the same flags together.

    Limits on children are refused unless the caller ``limits_children``.
    """
    sentences = sentences_of(list_of_scores, lengths, name.removesuffix("[{}]"))
    if constraints is None:
        return [Group(sentences, single_root, projective, range(len(sentences)), name)]
    of_each = [constraints] * len(sentences) if isinstance(constraints, Constraints) else constraints
    if len(of_each) != len(sentences):
        raise ValueError(f"{len(of_each)} constraints for {len(sentences)} sentences")
    numbers: dict[tuple[bool, bool], list[int]] = {}
    limited = []
    for i, own in enumerate(of_each):
        flags = flags_of(own, single_root=single_root, projective=projective)
        array = checked_scores(sentences[i], name=name.format(i))
        try:
            sentences[i] = masked(array, own, limits_children=limits_children)
            limits = limits_of_children(own, len(array), flags[0])
        except ValueError as error:
            raise type(error)(f"{name.format(i)}: {error}") from None
        if limits is None:
            numbers.setdefault(flags, []).append(i)
        else:
            limited.append(Group([sentences[i]], *flags, [i], name, limits))
    return [Group([sentences[i] for i in some], *flags, some, name) for flags, some in numbers.items()] + limited


def in_order(groups: Sequence[Group], results: Sequence[Iterable[Result]]) -> list[Result]:
    """The results of the sentences of each group, in the order of the batch."""
    if len(groups) == 1:
        return list(results[0])
    numbers = chain.from_iterable(group.numbers for group in groups)
    placed = dict(zip(numbers, chain.from_iterable(results), strict=True))
    return [placed[i] for i in range(len(placed))]


def of_groups(work: Callable[[Group, int], Iterable[Result]], groups: Sequence[Group], threads: int) -> list[Result]:
    """The results of work(group, threads) for the sentences of each group, in the order of the batch."""
    checked_threads(threads)
    return in_order(groups, [work(group, threads) for group in groups])


def of_sentences(work: Callable[[Scores, Group, int], Result], groups: Sequence[Group], threads: int) -> list[Result]:
    """The results of work(scores, group, i) for the checked scores of sentence i of each group, in order."""
    checked_threads(threads)
    results = []
    for group in groups:
        checked = [checked_scores(scores, name=group.name_of(i)) for i, scores in enumerate(group.sentences)]
        blocks = in_blocks(partial(_each, work, checked, group), list(map(len, checked)), threads)
        results.append(list(chain.from_iterable(blocks)))
    return in_order(groups, results)


def _each(
    work: Callable[[Scores, Group, int], Result], checked: list[Scores], group: Group, first: int, last: int
) -> list[Result]:
    return [work(checked[i], group, i) for i in range(first, last)]


def pack(sentences: Sequence[NDArray[Any]]) -> Packed:
    """Copies scores of arcs, of any type and layout, into one array."""
    sizes = list(map(len, sentences))
    starts = list(accumulate([size * size for size in sizes], initial=0))
    flat = np.empty(0)
    if sentences:
        # rows below rows where all are of the same length, which is faster than element after element
        axis = 0 if len(set(sizes)) == 1 else None
        flat = np.concatenate(sentences, axis=axis, dtype=FLOAT, casting="unsafe").reshape(-1)
    return Packed(flat, np.array(starts, INTEGER), np.array(sizes, INTEGER))


def unpack(flat: Scores, packed: Packed) -> list[Scores]:
    """The array of each sentence, as a view."""
    starts, sizes = packed.starts.tolist(), packed.sizes.tolist()
    if len(set(sizes)) == 1:
        return list(flat.reshape(-1, sizes[0], sizes[0]))
    return [flat[start:end].reshape(size, size) for (start, end), size in zip(pairwise(starts), sizes, strict=True)]


def checked_threads(threads: int) -> int:
    """The number of threads; raises ``ValueError`` if there is none."""
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    return threads


def in_blocks(
    work: Callable[[int, int], Result], sizes: Sequence[int] | NDArray[np.int64], threads: int
) -> list[Result]:
    """The results of work(first, last) for blocks of sentences that together are all, in order.

    Blocks cost about the same if a sentence's cost is cubic. Kernels run in parallel in the threads.
    """
    count = len(sizes)
    if count <= 1 or (threads == 1 and count <= _BLOCK):
        return [work(0, count)]
    n_blocks = max(min(threads, count), -(-count // _BLOCK))
    cost = np.cumsum(np.asarray(sizes, dtype=np.float64) ** 3)
    inner = np.searchsorted(cost, cost[-1] * np.arange(1, n_blocks) / n_blocks).tolist()
    blocks = list(pairwise([0, *inner, count]))
    if threads == 1:
        return [work(first, last) for first, last in blocks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda block: work(*block), blocks))


def decode_simd(
    decode: Callable[..., None],
    inputs: Sequence[Sequence[Scores]],
    sizes: Sequence[int],
    single_root: bool,
    threads: int,
) -> tuple[list[NDArray[np.int64]], list[float]]:
    """The heads and the total of each sentence, which has its scores in each of the inputs.

    The kernel ``decode`` gets the scores of up to LANES sentences of the same size as they are, in a tuple of that
    length: cheaper than a copy.
    """
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    ordered = [[scores[i] for i in order] for scores in inputs]
    sizes = [sizes[i] for i in order]

    def work(first: int, last: int) -> tuple[list[NDArray[np.int64]], list[float]]:
        block_heads: list[NDArray[np.int64]] = []
        block_totals = np.empty(last - first)
        for start, end in _same_size(sizes, first, last):
            # a tuple of another length would be another type to Numba
            many = [tuple(scores[start:end] + scores[start : start + 1] * (LANES + start - end)) for scores in ordered]
            heads = np.empty((end - start, sizes[start]), np.int64)
            decode(*many, end - start, single_root, heads, block_totals[start - first :])
            block_heads.extend(heads)
        return block_heads, block_totals.tolist()

    blocks = in_blocks(work, sizes, threads)
    heads, totals = (list(chain.from_iterable(parts)) for parts in zip(*blocks, strict=True))
    places = sorted(range(len(order)), key=order.__getitem__)
    return [heads[i] for i in places], [totals[i] for i in places]


def _same_size(sizes: Sequence[int], first: int, last: int) -> Iterator[tuple[int, int]]:
    """The ranges from first to last that hold up to LANES equal sizes, which are sorted."""
    while first < last:
        end = bisect_right(sizes, sizes[first], first, min(first + LANES, last))
        yield first, end
        first = end
