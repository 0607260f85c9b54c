"""Strings as 64-bit numbers, the same on every machine and in every run (unlike Python's ``hash``)."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

__all__ = ["hash_string"]


@lru_cache(maxsize=1 << 17)  # 40 MB; of words, their tables remember the rest
def hash_string(text: str) -> int:
    """An unsigned 64-bit hash.

    >>> hash_string("form=hearing") == hash_string("form=hearing") != hash_string("form=issue")
    True
    """
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
