"""Crossarc: dependency parsing where arcs may cross."""

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
    "read",
    "write",
]
