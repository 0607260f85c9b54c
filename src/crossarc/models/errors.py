"""What is wrong with a model file."""

from crossarc.core import CrossarcError

__all__ = ["ModelError"]


class ModelError(CrossarcError):
    """A model file cannot be read: it is truncated, damaged, foreign, or of another version of Crossarc."""
