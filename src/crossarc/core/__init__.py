"""Plain data that every other layer speaks: sentences, trees, constraints, errors."""

from crossarc.core.constraints import Constraints
from crossarc.core.errors import (
    CrossarcError,
    EmptyInput,
    InputError,
    InputWarning,
    MissingLibrary,
    ModelWarning,
    NoTreeError,
    Place,
    UnsupportedConstraint,
)
from crossarc.core.row import Insert, Row
from crossarc.core.sentence import Sentence
from crossarc.core.tree import Tree
from crossarc.core.word import Word

__all__ = [
    "Constraints",
    "CrossarcError",
    "EmptyInput",
    "InputError",
    "InputWarning",
    "Insert",
    "MissingLibrary",
    "ModelWarning",
    "NoTreeError",
    "Place",
    "Row",
    "Sentence",
    "Tree",
    "UnsupportedConstraint",
    "Word",
]
