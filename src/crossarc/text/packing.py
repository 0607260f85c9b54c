"""Word lists in model files: JSON as an array of bytes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["pack", "unpack"]


def pack(data: Any) -> NDArray[np.uint8]:
    """Data as an array.

    >>> unpack(pack({"don't": ["do", "n't"]}))
    {"don't": ['do', "n't"]}
    """
    return np.frombuffer(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(), dtype=np.uint8)


def unpack(array: NDArray[np.uint8]) -> Any:
    """The data that ``pack`` made an array of."""
    return json.loads(array.tobytes())
