"""Plain data that every other layer speaks: sentences, trees, constraints, errors."""

from crossarc.core.constraints import Constraints
from crossarc.core.errors import (
    CrossarcError,
    InputError,
    InputWarning,
    ModelWarning,
    NoTreeError,
    Place,
    UnsupportedConstraint,
)
from crossarc.core.sentence import Insert, Sentence, Word
from crossarc.core.tree import Tree

__all__ = [
    "Constraints",
    "CrossarcError",
    "InputError",
    "InputWarning",
    "Insert",
    "ModelWarning",
    "NoTreeError",
    "Place",
    "Sentence",
    "Tree",
    "UnsupportedConstraint",
    "Word",
]
