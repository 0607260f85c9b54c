"""Many sentences at once: how they are given, packed side by side for a kernel, and shared among threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.trees._input import Scores

ListOfScores = Iterable[ArrayLike] | NDArray[Any]
Lengths = Sequence[int] | NDArray[np.integer[Any]] | None
Result = TypeVar("Result")

# About so many sentences are copied side by side at a time: copies then stay in the cache.
_BLOCK = 256


class Packed(NamedTuple):
    """Arc scores of many sentences in one array: those of sentence i are ``flat[starts[i]:starts[i + 1]]``."""

    flat: Scores
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]


def sentences_of(list_of_scores: ListOfScores, lengths: Lengths) -> list[NDArray[Any]]:
    """The scores of each sentence, without the padding."""
    if isinstance(list_of_scores, np.ndarray) and list_of_scores.ndim not in (3, 4):
        raise ValueError(
            f"list_of_scores must have shape (B, n+1, n+1) or (B, n+1, n+1, L), not {list_of_scores.shape}"
        )
    sentences = [np.asarray(scores) for scores in list_of_scores]
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


def name_in_list(number: int) -> str:
    """What error messages call the scores of one sentence of many."""
    return f"list_of_scores[{number}]"


def is_shape_of_arcs(shape: tuple[int, ...]) -> bool:
    """Whether scores of that shape are scores without labels."""
    return len(shape) == 2 and shape[0] == shape[1] and shape[0] > 0


def pack(sentences: Sequence[NDArray[Any]]) -> Packed:
    """Copies scores of arcs, of any type and layout, into one array."""
    sizes = np.array(list(map(len, sentences)), dtype=np.int64)
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes * sizes, out=starts[1:])
    if not sentences:
        return Packed(np.empty(0), starts, sizes)
    # rows below rows where all are of the same length, which is faster than element after element
    axis = 0 if sizes.min() == sizes.max() else None
    flat = np.concatenate(sentences, axis=axis, dtype=np.float64, casting="unsafe").reshape(-1)
    return Packed(flat, starts, sizes)


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

    Blocks cost about the same if a sentence's cost is cubic. Kernels run side by side in the threads.
    """
    count = len(sizes)
    n_blocks = max(min(threads, count), -(-count // _BLOCK))
    if n_blocks <= 1:
        return [work(0, count)]
    cost = np.cumsum(np.asarray(sizes, dtype=np.float64) ** 3)
    inner = np.searchsorted(cost, cost[-1] * np.arange(1, n_blocks) / n_blocks).tolist()
    blocks = list(pairwise([0, *inner, count]))
    if threads == 1:
        return [work(first, last) for first, last in blocks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda block: work(*block), blocks))
