"""What the tensors of a model may be: types, shapes that belong together, and every number inside its bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from crossarc.features.weights import LARGEST_WEIGHT, Quantized, number_of_weights, table_bits
from crossarc.models.errors import ModelError

__all__ = ["Array", "HashedWeights", "TensorKind", "check_tensors"]

Sizes = dict[str, int]
Bound = float | str | None


class TensorKind(Protocol):
    """What a tensor may be."""

    def check(self, tensor: Any, name: str, sizes: Sizes) -> None:
        """``ModelError`` for another one. ``sizes`` are the lengths that have names; those that are new are added."""


@dataclass(frozen=True)
class Array:
    """An array.

    A length is a number, or a name that stands for the same length in all tensors of a component; ``("classes", -1)``
    is one less than that. Bounds are for all elements, both included: numbers, or such names. Numbers that are not
    finite are never inside.
    """

    dtype: DTypeLike
    shape: tuple[int | str | tuple[str, int], ...]
    low: Bound = None
    high: Bound = None
    increasing: bool = False  # each element larger than the one before it
    rising: bool = False  # none smaller, row after row

    def check(self, tensor: Any, name: str, sizes: Sizes) -> None:
        if isinstance(tensor, Quantized) and self.dtype == np.float32:
            self._check_elements(tensor.levels, name, sizes)
            Array(np.uint8, self.shape).check(tensor.codes, name, sizes)
            return
        if isinstance(tensor, Quantized):
            raise ModelError(f"tensor {name} is quantized: it is not made of weights")
        if tensor.dtype != np.dtype(self.dtype) or tensor.ndim != len(self.shape):
            wanted = f"{len(self.shape)} dimensions of {np.dtype(self.dtype)}"
            raise ModelError(f"tensor {name} has {tensor.ndim} dimensions of {tensor.dtype}, not {wanted}")
        for length, own in zip(tensor.shape, self.shape, strict=True):
            wanted_length = self._length(own, length, sizes)
            if length != wanted_length:
                raise ModelError(f"tensor {name} has the shape {tensor.shape}: {length} where {wanted_length} belong")
        if tensor.size:
            self._check_elements(tensor, name, sizes)

    def _length(self, own: int | str | tuple[str, int], found: int, sizes: Sizes) -> int:
        if isinstance(own, int):
            return own
        name, more = (own, 0) if isinstance(own, str) else own
        return sizes.setdefault(name, found - more) + more

    def _check_elements(self, tensor: NDArray[Any], name: str, sizes: Sizes) -> None:
        low, high = (sizes[bound] if isinstance(bound, str) else bound for bound in (self.low, self.high))
        is_float = tensor.dtype.kind == "f"
        low, high = (-LARGEST_WEIGHT, LARGEST_WEIGHT) if is_float and low is None else (low, high)
        # NaN is neither above nor below anything
        if (low is not None and not tensor.min() >= low) or (high is not None and not tensor.max() <= high):
            raise ModelError(f"tensor {name} has a number that is not from {low} to {high}")
        flat = tensor.ravel()
        if (self.increasing and not (flat[1:] > flat[:-1]).all()) or (
            self.rising and not (flat[1:] >= flat[:-1]).all()
        ):
            raise ModelError(f"tensor {name} is not in order")


@dataclass(frozen=True)
class HashedWeights:
    """The weights of hashed features: a power of two of them, and ``row`` more where a feature has a row of weights.

    ``row`` None: how long rows are, the component knows only later; it then checks the number itself.
    """

    row: int | None = 0

    def check(self, tensor: Any, name: str, sizes: Sizes) -> None:
        weights = tensor.levels if isinstance(tensor, Quantized) else tensor
        Array(np.float32, ("",)).check(weights, name, {})
        if self.row is not None and table_bits(number_of_weights(tensor), self.row) is None:
            more = f" and {self.row}" if self.row else ""
            raise ModelError(f"tensor {name} has {number_of_weights(tensor)} weights, not a power of two{more}")


def check_tensors(tensors: Mapping[str, Any], kinds: Mapping[str, TensorKind]) -> None:
    """Refuse tensors that are missing, of another kind, or not known."""
    missing, unknown = kinds.keys() - tensors.keys(), tensors.keys() - kinds.keys()
    if missing or unknown:
        problem = f"no tensor {min(missing)}" if missing else f"a tensor {min(unknown)!r}, which nothing needs"
        raise ModelError(f"it has {problem}")
    sizes: Sizes = {}
    for name, kind in kinds.items():
        kind.check(tensors[name], name, sizes)
