"""Strings as 64-bit numbers, the same on every machine and in every run (unlike Python's ``hash``)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TypeVar

__all__ = ["hash_string", "look_up"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def look_up(known: dict[K, V], keys: Sequence[K], add: Callable[[K], V]) -> list[V]:
    """The values of keys; ``add`` finds those that are not known yet, and makes them known.

    >>> lengths = {"a": 1}
    >>> look_up(lengths, ["bb", "a", "bb"], lambda key: lengths.setdefault(key, len(key)))
    [2, 1, 2]
    """
    try:
        return [known[key] for key in keys]  # nearly always
    except KeyError:
        return [known[key] if key in known else add(key) for key in keys]


@lru_cache(maxsize=1 << 20)
def hash_string(text: str) -> int:
    """An unsigned 64-bit hash.

    >>> hash_string("form=hearing") == hash_string("form=hearing") != hash_string("form=issue")
    True
    """
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
