"""Word lists in model files: JSON as an array of bytes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crossarc.models import ModelError
from crossarc.models.schema import Kind
from crossarc.models.tensors import Array

__all__ = ["PACKED", "pack", "unpack"]

PACKED = Array(np.uint8, ("bytes",))  # what a model file has of a word list


def pack(data: Any) -> NDArray[np.uint8]:
    """Data as an array.

    >>> from crossarc.models.schema import ListOf, MapOf, Text
    >>> unpack(pack({"don't": ["do", "n't"]}), MapOf(ListOf(Text())))
    {"don't": ['do', "n't"]}
    """
    return np.frombuffer(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(), dtype=np.uint8)


def unpack(array: NDArray[np.uint8], kind: Kind) -> Any:
    """The data that ``pack`` made an array of; ``ModelError`` if they are of another kind."""
    try:
        data = json.loads(array.tobytes())
    except (ValueError, RecursionError):
        raise ModelError("a word list that is not JSON") from None
    kind.check([data], "a word list")
    return data
