"""Plain data that every other layer speaks: sentences, trees, constraints, errors."""

from crossarc.core.constraints import Constraints
from crossarc.core.errors import CrossarcError, InputError, NoTreeError, Place, UnsupportedConstraint
from crossarc.core.tree import Tree

__all__ = [
    "Constraints",
    "CrossarcError",
    "InputError",
    "NoTreeError",
    "Place",
    "Tree",
    "UnsupportedConstraint",
]
