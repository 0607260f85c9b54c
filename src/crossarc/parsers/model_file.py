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

__all__ = ["FORMAT", "ModelError", "load_model", "read_header", "save_model"]

FORMAT = 1

Tensors = dict[str, NDArray[Any]]


class ModelError(CrossarcError):
    """A model file cannot be read: it is truncated, foreign, or newer than this version of Crossarc."""


def save_model(path: str | Path, header: dict[str, Any], tensors: Tensors) -> None:
    """Write a model; the file appears under its name only when it is complete."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.part")
    metadata = {"crossarc": json.dumps({"format": FORMAT, **header}, ensure_ascii=False)}
    try:
        save_file({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, temporary, metadata)
        temporary.replace(target)
    except OSError as error:
        raise ModelError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    finally:
        temporary.unlink(missing_ok=True)


def read_header(path: str | Path) -> dict[str, Any]:
    """What a model file says about itself."""
    return _open(path)[0]


def load_model(path: str | Path) -> tuple[dict[str, Any], Tensors]:
    """Header and arrays of a model file. Raises ``ModelError`` that says what is wrong with it."""
    header, stream = _open(path)
    with stream as tensors:
        return header, {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118


def _open(path: str | Path) -> tuple[dict[str, Any], Any]:
    if not Path(path).is_file():
        raise ModelError(f"{path}: {'is a directory' if Path(path).is_dir() else 'no such file'}")
    try:
        stream: Any = safe_open(path, framework="np")
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
