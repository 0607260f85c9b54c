"""Crossarc: dependency parsing where arcs may cross."""

from importlib import import_module
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
    from crossarc.pipeline import load

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
    "read",
    "train",
    "write",
]


_LAZY = {"load": "crossarc.pipeline", "train": "crossarc.parsers"}


def __getattr__(name: str) -> Any:
    """These bring Numba with them; whoever only reads treebanks need not wait for that."""
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
