"""Crossarc: dependency parsing where arcs may cross."""

from typing import TYPE_CHECKING, Any

from crossarc._version import __version__
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
    from crossarc.parsers import train
    from crossarc.pipeline import load, models

__all__ = [
    "Constraints",
    "CrossarcError",
    "InputError",
    "InputWarning",
    "NoTreeError",
    "Sentence",
    "Tree",
    "UnsupportedConstraint",
    "__version__",
    "load",
    "models",
    "read",
    "train",
    "write",
]


def __getattr__(name: str) -> Any:
    """These bring Numba with them; whoever only reads treebanks need not wait for that."""
    if name in ("load", "models"):
        from crossarc import pipeline

        return getattr(pipeline, name)
    if name == "train":
        from crossarc import parsers

        return parsers.train
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
