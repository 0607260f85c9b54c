"""A program under construction: variables with scores, rows of coefficients, both added in blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Block", "Matrix", "Program", "Term", "matrix_of"]

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

Term = tuple[ArrayLike, ArrayLike, ArrayLike]  # rows of the block, columns, coefficients (one for all, or each its own)


class Block(NamedTuple):
    """Rows: lower <= coefficients · variables <= upper. They are counted from 0 within the block."""

    lower: Floats
    upper: Floats
    rows: Indices
    columns: Indices
    values: Floats

    @classmethod
    def of(cls, count: int, lower: ArrayLike, upper: ArrayLike, *terms: Term) -> Block:
        rows, columns, values = [], [], []
        for of_rows, of_columns, coefficients in terms:
            r, c, v = np.broadcast_arrays(of_rows, of_columns, np.asarray(coefficients, dtype=float))
            rows.append(r.ravel())
            columns.append(c.ravel())
            values.append(v.ravel())
        return cls(
            np.broadcast_to(np.asarray(lower, dtype=float), count).copy(),
            np.broadcast_to(np.asarray(upper, dtype=float), count).copy(),
            np.concatenate(rows) if rows else np.empty(0, dtype=np.int64),
            np.concatenate(columns) if columns else np.empty(0, dtype=np.int64),
            np.concatenate(values) if values else np.empty(0),
        )


class Matrix(NamedTuple):
    """All rows of a program, one after the other, as a sparse matrix in rows."""

    lower: Floats
    upper: Floats
    starts: NDArray[np.int32]
    columns: NDArray[np.int32]
    values: Floats


class Program:
    """max scores · x, lower <= A x <= upper, 0 <= x <= most; some x are integers."""

    def __init__(self) -> None:
        self._scores: list[Floats] = []
        self._most: list[Floats] = []
        self._integral: list[NDArray[np.bool_]] = []
        self._blocks: list[Block] = []
        self.size = 0

    def add_variables(self, scores: ArrayLike, *, most: ArrayLike = 1.0, integral: bool = False) -> Indices:
        """A variable for each score; one with score -inf is fixed to 0. Their columns, in the shape of the scores."""
        array = np.asarray(scores, dtype=float)
        possible = array > -np.inf
        self._scores.append(np.where(possible, array, 0.0).ravel())
        self._most.append(np.where(possible, most, 0.0).ravel())
        self._integral.append(np.full(array.size, integral))
        columns = np.arange(self.size, self.size + array.size).reshape(array.shape)
        self.size += array.size
        return columns

    def add_rows(self, count: int, lower: ArrayLike, upper: ArrayLike, *terms: Term) -> None:
        self.add_block(Block.of(count, lower, upper, *terms))

    def add_block(self, block: Block) -> None:
        self._blocks.append(block)

    @property
    def scores(self) -> Floats:
        return np.concatenate(self._scores)

    @property
    def most(self) -> Floats:
        return np.concatenate(self._most)

    @property
    def integral(self) -> Indices:
        """The columns of the variables that must be integers in the end."""
        return np.flatnonzero(np.concatenate(self._integral))

    def matrix(self) -> Matrix:
        return matrix_of(self._blocks, self.size)


def matrix_of(blocks: list[Block], n_columns: int) -> Matrix:
    """The rows of the blocks; coefficients of the same variable in a row are summed."""
    from scipy.sparse import coo_array  # takes long to import, and most parsers do without

    n_rows = sum(len(block.lower) for block in blocks)
    if not n_rows:
        return Matrix(np.empty(0), np.empty(0), np.zeros(1, np.int32), np.empty(0, np.int32), np.empty(0))
    first = np.cumsum([0, *(len(block.lower) for block in blocks)])
    rows = np.concatenate([block.rows + start for block, start in zip(blocks, first, strict=False)])
    columns = np.concatenate([block.columns for block in blocks])
    values = np.concatenate([block.values for block in blocks])
    sparse = coo_array((values, (rows, columns)), shape=(n_rows, n_columns)).tocsr()
    return Matrix(
        np.concatenate([block.lower for block in blocks]),
        np.concatenate([block.upper for block in blocks]),
        sparse.indptr.astype(np.int32),
        sparse.indices.astype(np.int32),
        sparse.data,
    )
