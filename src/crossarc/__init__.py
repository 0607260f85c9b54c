"""Crossarc: dependency parsing where arcs may cross."""

from typing import TYPE_CHECKING, Any

from crossarc.core import (
    Constraints,
    CrossarcError,
    InputError,
    InputWarning,
    NoTreeError,
    Sentence,
    Tree,
    UnsupportedConstraint,
)
from crossarc.io import read, write

if TYPE_CHECKING:
    from crossarc.parsers import load, train

__version__ = "0.1.0.dev0"

__all__ = [
    "Constraints",
    "CrossarcError",
    "InputError",
    "InputWarning",
    "NoTreeError",
    "Sentence",
    "Tree",
    "UnsupportedConstraint",
    "load",
    "read",
    "train",
    "write",
]


def __getattr__(name: str) -> Any:
    """``train`` and ``load`` bring Numba with them; whoever only reads treebanks need not wait for that."""
    if name in ("load", "train"):
        from crossarc import parsers

        return getattr(parsers, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
