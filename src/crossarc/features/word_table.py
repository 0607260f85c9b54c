"""What is known of words, found when a word is first seen, and forgotten when there are too many of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_WORDS", "Memo", "WordTable"]

MAX_WORDS = 1 << 17

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Arrays = tuple[NDArray[Any], ...]


class Memo(dict[K, V]):
    """The values of a function for the keys that it was asked for; it starts anew when it is full.

    >>> lengths = Memo(len)
    >>> lengths.look_up(["bb", "a", "bb"]), dict(lengths)
    ([2, 1, 2], {'bb': 2, 'a': 1})
    """

    def __init__(self, function: Callable[[K], V], size: int = MAX_WORDS) -> None:
        self.function, self.size = function, size

    def __missing__(self, key: K) -> V:
        value = self[key] = self.function(key)
        return value

    def look_up(self, keys: Iterable[K]) -> list[V]:
        """The value of each key."""
        if len(self) >= self.size:
            self.clear()
        return list(map(self.__getitem__, keys))


class WordTable(Generic[K]):
    """Arrays with a row for each word; they start anew when they are full.

    ``describe`` says what the arrays have for a word. ``others`` are the first rows, of what is no word.
    """

    def __init__(self, describe: Callable[[K], Sequence[Any]], others: Sequence[Arrays], size: int = MAX_WORDS) -> None:
        self._describe, self._others, self._size = describe, others, size
        self._lock = threading.Lock()
        self._rows: Memo[K, int] = Memo(self._add)
        self._start()

    def rows(
        self, sequences: Iterable[Iterable[K]], *, before: Sequence[int] = (), after: Sequence[int] = ()
    ) -> tuple[NDArray[np.int64], Arrays]:
        """The row of each word of some sequences, with other rows before and after each of these; and the arrays.

        What stands in these rows never changes.
        """
        found: list[int] = []
        with self._lock:
            if len(self._rows) >= self._size:
                self._start()
            for words in sequences:
                found += before
                found += map(self._rows.__getitem__, words)
                found += after
            return np.array(found, dtype=np.int64), self._arrays

    def _start(self) -> None:
        self._rows.clear()
        self._arrays = tuple(np.stack(values) for values in zip(*self._others, strict=True))

    def _add(self, word: K) -> int:
        row = len(self._others) + len(self._rows)
        if row >= len(self._arrays[0]):
            self._arrays = tuple(np.concatenate([array, np.empty_like(array)]) for array in self._arrays)
        for array, value in zip(self._arrays, self._describe(word), strict=True):
            array[row] = value
        return row
