"""Attributes of strings as 64-bit numbers, hashed when a string is first seen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from crossarc.features.hashing import hash_string, look_up
from crossarc.text.classifier import PADDING, Items

__all__ = ["Table"]

_FULL = 1 << 17  # strings whose attributes are kept


class Table:
    """The attributes of all strings seen so far, or of the latest of them: it starts anew when it is full."""

    def __init__(self, attributes: Sequence[str], describe: Callable[[str], Iterable[str]]) -> None:
        self.attributes = attributes
        self.describe = describe
        self._lock = threading.Lock()
        self._start()

    def _start(self) -> None:
        self._rows: dict[str, int] = {}
        self._table = np.empty((1024, len(self.attributes)), dtype=np.uint64)
        self._table[0] = [hash_string(f"{name}=<outside>") for name in self.attributes]

    def items(self, sequences: Sequence[Sequence[str]]) -> Items:
        """The strings of some sequences, each between others that are known to be outside."""
        rows: list[int] = [0] * PADDING * 2  # there may be no sequences
        inside: list[int] = []
        with self._lock:
            if len(self._rows) > _FULL:
                self._start()
            for strings in sequences:
                first = len(rows) - PADDING
                rows += look_up(self._rows, strings, self._add)
                inside += range(first, len(rows) - PADDING)
                rows += [0] * PADDING
            return Items(self._table[rows], np.array(inside, dtype=np.int64))

    def _add(self, string: str) -> int:
        row = self._rows[string] = len(self._rows) + 1
        if row == len(self._table):
            self._table = np.concatenate([self._table, self._table])
        values = zip(self.attributes, self.describe(string), strict=True)
        self._table[row] = [hash_string(f"{name}={value}") for name, value in values]
        return row
