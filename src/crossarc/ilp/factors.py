"""The factors of dual decomposition: what each head knows about its arcs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.ilp import _dual_decomposition as kernels
from crossarc.ilp.parts import Pairs, Parts

__all__ = ["Grouped", "factors_of", "grouped"]

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]


class Grouped(NamedTuple):
    """Arcs that belong together because they have the same key.

    Attributes
    ----------
    arcs : array
        One group behind the other.
    keys, starts, sizes : arrays
        Of the groups.
    number, place : arrays
        Of each arc: its group, and where in the group it is.
    """

    arcs: Indices
    keys: Indices
    starts: Indices
    sizes: Indices
    number: Indices
    place: Indices


def grouped(keys: Indices, order: Indices) -> Grouped:
    """The arcs by their keys, and in this order within a group."""
    arcs = np.lexsort((order, keys))
    starts = np.flatnonzero(np.diff(keys[arcs], prepend=-1))
    sizes = np.diff(starts, append=len(arcs))
    number, place = np.empty_like(arcs), np.empty_like(arcs)
    number[arcs] = np.repeat(np.arange(len(starts)), sizes)
    place[arcs] = np.arange(len(arcs)) - starts[number[arcs]]
    return Grouped(arcs, keys[arcs[starts]], starts, sizes, number, place)


class _Factors(NamedTuple):
    """Factors of one kind, one behind the other; the arrays are those of ``kernels.Factors``, but sizes for starts."""

    kinds: Indices
    sizes: Indices
    variables: Indices
    table_sizes: Indices
    tables: Floats
    numbers: Indices
    inner: Indices


def factors_of(parts: Parts) -> kernels.Factors:
    """All factors of the parts."""
    empty = np.empty(0, np.int64)
    kinds = [_Factors(empty, empty, empty, empty, np.empty(0), empty, empty), *_kinds(parts)]
    kind, sizes, variables, table_sizes, tables, numbers, inner = map(np.concatenate, zip(*kinds, strict=True))
    starts, offsets = (np.concatenate([[0], np.cumsum(counts)]) for counts in (sizes, table_sizes))
    return kernels.Factors(kind, starts, variables, offsets, tables, numbers, inner)


def _kinds(parts: Parts) -> Iterator[_Factors]:
    if len(parts.next_siblings.first):
        yield _next_siblings(parts)
    if parts.valencies.size:
        yield _valencies(parts)
    if len(parts.grandparents.first):
        yield _grandparents(parts)


def _next_siblings(parts: Parts) -> _Factors:
    """The candidates on one side of a head, from the nearest on: the table says which may follow which."""
    sides = grouped(2 * parts.heads + parts.sides, np.abs(parts.heads - parts.modifiers))
    first, second, _ = parts.next_siblings
    table_sizes = sides.sizes * (sides.sizes + 1)
    side = sides.number[second]
    row: Indices = np.where(first < 0, 0, sides.place[first] + 1)
    where = _beginnings(table_sizes)[side] + row * sides.sizes[side] + sides.place[second]
    return _of_pairs(kernels.NEXT_SIBLINGS, sides.sizes, sides.arcs, table_sizes, where, parts.next_siblings)


def _valencies(parts: Parts) -> _Factors:
    """The candidates of a head, or of one side of it: the table says how good each number of children is."""
    n_sides, n_counts = parts.valencies.shape[1:]
    heads = grouped(parts.heads * n_sides + (parts.sides if n_sides == 2 else 0), parts.modifiers)
    numbers = heads.keys[:, np.newaxis] * n_counts + np.arange(n_counts)
    every = np.ones_like(heads.keys)
    return _Factors(
        kernels.VALENCY * every,
        heads.sizes,
        heads.arcs,
        n_counts * every,
        parts.valencies.ravel()[numbers.ravel()],
        numbers.ravel(),
        0 * every,
    )


def _grandparents(parts: Parts) -> _Factors:
    """The arcs into a word and those out of it: the table says how good each pair is."""
    n_into = np.bincount(parts.modifiers, minlength=parts.size)
    n_out = np.bincount(parts.heads, minlength=parts.size) * (n_into > 0)
    into, out = grouped(parts.modifiers, parts.heads), grouped(parts.heads, parts.modifiers)
    words = np.flatnonzero(n_out)
    first, second, _ = parts.grandparents
    head = parts.heads[second]
    where = _beginnings(n_into * n_out)[head] + into.place[first] * n_out[head] + out.place[second]
    arcs, word = (
        np.concatenate([into.arcs, out.arcs]),
        np.concatenate([parts.modifiers[into.arcs], parts.heads[out.arcs]]),
    )
    arcs = arcs[np.argsort(word, kind="stable")][n_out[np.sort(word)] > 0]
    sizes, table_sizes = n_into[words] + n_out[words], (n_into * n_out)[words]
    factors = _of_pairs(kernels.GRANDPARENTS, sizes, arcs, table_sizes, where, parts.grandparents)
    return factors._replace(inner=n_into[words])


def _of_pairs(
    kind: int, sizes: Indices, variables: Indices, table_sizes: Indices, where: Indices, pairs: Pairs
) -> _Factors:
    """Factors whose tables have the pairs in these places, and forbid others."""
    tables, numbers = np.full(table_sizes.sum(), -np.inf), np.full(table_sizes.sum(), -1)
    tables[where] = pairs.scores
    numbers[where] = np.arange(len(where))
    kinds = np.full_like(sizes, kind)
    return _Factors(kinds, sizes, variables, table_sizes, tables, numbers, np.zeros_like(sizes))


def _beginnings(sizes: Indices) -> Indices:
    """Where each table begins."""
    return np.cumsum(sizes) - sizes
