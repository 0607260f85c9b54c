"""A model is one file: safetensors, with a JSON header in its metadata. Nothing in it is ever executed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from crossarc.core import CrossarcError
from crossarc.features.weights import Quantized, dequantized
from crossarc.models.builtin import file_of, names

__all__ = ["FORMAT", "ModelError", "load_model", "load_parts", "read_header", "save_model"]

FORMAT = 1

_PARTS = "part."  # what the names of tensors begin with that do not belong to the parser
_LEVELS = ".levels"
_SMALL = 4096  # weights that are not worth making smaller
_MOST_LEVELS = 256
_ROUNDS = 10  # of Lloyd's algorithm

Tensors = dict[str, Any]  # arrays, or ``Quantized``


class ModelError(CrossarcError):
    """A model file cannot be read: it is truncated, foreign, or newer than this version of Crossarc."""


def save_model(
    path: str | Path,
    header: dict[str, Any],
    tensors: Tensors,
    *,
    parts: dict[str, Tensors] | None = None,
    compact: bool = False,
) -> None:
    """Write a model; the file appears under its name only when it is complete.

    ``parts`` are what belongs to other things than the parser. ``compact``: weights take one byte each instead of four,
    and are rounded to that.
    """
    target = Path(path)
    for part, its_tensors in (parts or {}).items():
        tensors = tensors | {f"{_PARTS}{part}.{name}": tensor for name, tensor in its_tensors.items()}
    tensors = _without_levels(tensors, compact)
    temporary = target.with_name(f".{target.name}.part")
    metadata = {"crossarc": json.dumps({"format": FORMAT, **header}, ensure_ascii=False)}
    try:
        temporary.touch()
        mode = temporary.stat().st_mode  # of any new file; safetensors would have only the owner read it
        save_file({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, temporary, metadata)
        temporary.chmod(mode)
        temporary.replace(target)
    except OSError as error:
        raise ModelError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    finally:
        temporary.unlink(missing_ok=True)


def read_header(path: str | Path) -> dict[str, Any]:
    """What a model file says about itself."""
    return _open(path)[0]


def load_model(path: str | Path, *, compact: bool = False) -> tuple[dict[str, Any], Tensors]:
    """Header and arrays of the parser in a model file. Raises ``ModelError`` that says what is wrong with it.

    With ``compact``, weights that take one byte each in the file stay so.
    """
    header, stream = _open(path)
    with stream as tensors:
        found = _read(tensors, [name for name in tensors.keys() if not name.startswith(_PARTS)])  # noqa: SIM118
    return header, found if compact else {name: dequantized(tensor) for name, tensor in found.items()}


def load_parts(path: str | Path) -> dict[str, Tensors]:
    """The arrays of all else in a model file; weights that take one byte each there stay so."""
    parts: dict[str, Tensors] = {}
    with _open(path)[1] as tensors:
        wanted = [name for name in tensors.keys() if name.startswith(_PARTS)]  # noqa: SIM118
        for name, tensor in _read(tensors, wanted).items():
            part, _, own = name.removeprefix(_PARTS).partition(".")
            parts.setdefault(part, {})[own] = tensor
    return parts


def _read(stream: Any, wanted: list[str]) -> Tensors:
    """The tensors with these names."""
    tensors = {name: stream.get_tensor(name) for name in wanted}
    for name in [name for name in wanted if name.endswith(_LEVELS)]:
        weights = name.removesuffix(_LEVELS)
        tensors[weights] = Quantized(tensors[weights], tensors.pop(name))
    return tensors


def _without_levels(tensors: Tensors, compact: bool) -> dict[str, NDArray[Any]]:
    """Arrays only: compact weights, or all of them if asked, as the numbers of their levels, and the levels."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, tensor in tensors.items():
        if compact and not isinstance(tensor, Quantized):
            tensor = _compact(tensor)
        if isinstance(tensor, Quantized):
            arrays[name], arrays[name + _LEVELS] = tensor
        else:
            arrays[name] = tensor
    return arrays


def _compact(tensor: NDArray[Any]) -> NDArray[Any] | Quantized:
    """Weights, if there are many, as near to what they are as one byte allows; other arrays as they are."""
    if tensor.dtype != np.float32 or tensor.ndim != 1 or len(tensor) < _SMALL:
        return tensor
    levels = _levels_of(tensor)
    return Quantized(np.searchsorted((levels[1:] + levels[:-1]) / 2, tensor).astype(np.uint8), levels)


def _levels_of(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """At most 256 numbers to which the weights are near, by Lloyd's algorithm; one of them is 0."""
    different = np.unique(weights)
    if len(different) <= _MOST_LEVELS:  # it is a compact one that is saved again
        return different
    steps = np.linspace(-1, 1, _MOST_LEVELS - 1)
    levels = steps**3 * float(np.abs(weights).max())  # most weights are small
    for _ in range(_ROUNDS):
        cells = np.searchsorted((levels[1:] + levels[:-1]) / 2, weights)
        counts = np.bincount(cells, minlength=len(levels))
        sums = np.bincount(cells, weights, minlength=len(levels))
        levels = np.where(counts > 0, sums / np.maximum(counts, 1), levels)
    levels[np.abs(levels).argmin()] = 0.0
    return levels[np.unique(np.searchsorted((levels[1:] + levels[:-1]) / 2, weights))].astype(np.float32)


def _open(path: str | Path) -> tuple[dict[str, Any], Any]:
    file = file_of(path)
    if not file.is_file():
        problem = f"no such file, nor a model of ours ({', '.join(names())})"
        raise ModelError(f"{path}: {'is a directory' if file.is_dir() else problem}")
    try:
        stream: Any = safe_open(file, framework="np")
        metadata = stream.metadata() or {}
    except SafetensorError:
        raise ModelError(f"{path}: not a model file, or a truncated one") from None
    if "crossarc" not in metadata:
        raise ModelError(f"{path}: a safetensors file, but not a model of Crossarc")
    header: dict[str, Any] = json.loads(metadata["crossarc"])
    if header["format"] > FORMAT:
        raise ModelError(
            f"{path}: made by a newer version of Crossarc (format {header['format']}, this reads {FORMAT})"
        )
    return header, stream
