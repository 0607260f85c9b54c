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
from crossarc.io import from_arrow, read, read_string, to_arrow, to_pandas, write

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
    "from_arrow",
    "load",
    "read",
    "read_string",
    "to_arrow",
    "to_pandas",
    "train",
    "write",
]


_LAZY = {"load": "crossarc.pipeline", "train": "crossarc.parsers"}
_PACKAGES = frozenset(
    {
        "cluster",
        "drawing",
        "evaluation",
        "ilp",
        "integrations",
        "io",
        "models",
        "parsers",
        "pipeline",
        "search",
        "testing",
        "text",
        "trees",
    }
)


def __getattr__(name: str) -> Any:
    """These bring Numba with them; whoever only reads treebanks need not wait for that."""
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name in _PACKAGES:
        return import_module(f"crossarc.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What there is to use, packages too, before and after they are imported."""
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*own, *__all__, *_PACKAGES})
