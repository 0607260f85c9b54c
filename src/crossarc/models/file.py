"""A model is one file: safetensors, with a JSON header in its metadata. Nothing in it is ever executed.

``docs/model-file.md`` describes what is in it. A model is made of components (parser, tagger ...); each has a part of
the header and tensors of its own, whose names begin with its name.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from crossarc._version import __version__
from crossarc.core import CrossarcError
from crossarc.features.weights import Quantized, quantized
from crossarc.models.errors import ModelError
from crossarc.models.installed import file_of, names, naming_package

FORMAT = 3
READABLE = (2, FORMAT)  # format 2 has no sparse tensors

_LEVELS = ".levels"  # after the name of a quantized tensor: what its codes stand for
_SMALL = 4096  # elements that are not worth making fewer
_NONZERO = ".nonzero"  # after the name of a sparse tensor: where its values are

Tensors = dict[str, Any]  # arrays, or ``Quantized``
Own = TypeVar("Own")


class Contents(NamedTuple):
    """One component of a model, as its file keeps it."""

    header: dict[str, Any]
    tensors: Tensors


def component_of(kind: type[Own], contents: Contents, path: str | Path) -> Own:
    """The component with these contents; ``ModelError`` names the file if they are not what such a component has."""
    try:
        return kind.from_model(*contents)  # type: ignore[attr-defined,no-any-return]
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, CrossarcError) as error:
        raise ModelError(f"{path}: damaged, or made by another version of Crossarc ({_said(error)})") from None


def _said(error: Exception) -> str:
    return f"no {error}" if isinstance(error, KeyError) else str(error)


class Component(Protocol):
    """What a model is made of: a parser, a tagger ... Whatever can be turned into contents of a file and back."""

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        """Header and tensors."""

    @classmethod
    def from_model(cls: type[Own], header: dict[str, Any], tensors: Tensors) -> Own:
        """The component with this header and these tensors."""


class Model(NamedTuple):
    """All of a model file."""

    components: dict[str, Contents]
    about: dict[str, Any]  # what its maker says of it: licence, attribution, scores ...
    quantized: bool  # whether its weights take one byte each
    version: str  # of Crossarc, which wrote it
    created: str  # the day on which it was written


def write_model(
    path: str | Path,
    components: Mapping[str, Component | Contents],
    *,
    about: dict[str, Any] | None = None,
    quantize: bool = False,
) -> None:
    """Write a model; the file appears under its name only when it is complete and on the disk.

    Tensors that are mostly zeros take only as much as their other values, and a bit for each zero; nothing is lost.
    ``quantize``: weights take one byte each instead of four, and are rounded to that.
    """
    contents = {
        name: component if isinstance(component, Contents) else Contents(*component.to_model())
        for name, component in components.items()
    }
    arrays: dict[str, NDArray[Any]] = {}
    for name, (_, tensors) in contents.items():
        for own, tensor in tensors.items():
            arrays |= _arrays(f"{name}.{own}", quantized(tensor) if quantize else tensor)
    sparse = {name: _sparse(name, array) for name, array in arrays.items() if _is_mostly_zeros(array)}
    header = {
        "format": FORMAT,
        "version": __version__,
        "created": datetime.now(UTC).date().isoformat(),
        "about": about or {},
        "quantized": quantize,
        "sparse": {name: len(arrays[name]) for name in sparse},
        "components": {name: own for name, (own, _) in contents.items()},
    }
    for tensors in sparse.values():
        arrays |= tensors
    _write(Path(path), arrays, {"crossarc": json.dumps(header, ensure_ascii=False)})


def read_model(path: str | Path) -> Model:
    """All of a model: a file's, or the installed one's with that name; ``ModelError`` says what is wrong with it."""
    header, stream = _open(path)
    with stream as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    for name, length in header["sparse"].items():
        arrays[name] = _dense(arrays.get(name), arrays.pop(name + _NONZERO, None), length, f"{path}: tensor {name}")
    components = {name: Contents(own, {}) for name, own in header["components"].items()}
    for name, array in arrays.items():
        component, _, own = name.partition(".")
        if component not in components:
            raise ModelError(f"{path}: tensor {name} belongs to no component of the model")
        if not own.endswith(_LEVELS):
            levels = arrays.get(name + _LEVELS)
            components[component].tensors[own] = array if levels is None else Quantized(array, levels)
    return Model(components, header["about"], header["quantized"], header["version"], header["created"])


def describe_model(path: str | Path) -> dict[str, Any]:
    """The header of a model file, and its size in bytes."""
    with naming_package(path):
        header, _ = _open(path)
    return {**header, "bytes": file_of(path).stat().st_size}


def _arrays(name: str, tensor: NDArray[Any] | Quantized) -> dict[str, NDArray[Any]]:
    """A tensor as the file keeps it."""
    if isinstance(tensor, Quantized):
        return {name: tensor.codes, name + _LEVELS: tensor.levels}
    return {name: np.ascontiguousarray(tensor)}


def _is_mostly_zeros(array: NDArray[Any]) -> bool:
    """Whether it takes less room without its zeros."""
    if array.ndim != 1 or len(array) < _SMALL or array.dtype.kind not in "fiu":
        return False
    return bool(len(array) / 8 < array.itemsize * (len(array) - np.count_nonzero(_bits(array))))


def _sparse(name: str, array: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """A tensor without its zeros: the other values, and a bit for each element that says whether it is one of them."""
    nonzero = _bits(array) != 0
    return {name: array[nonzero], name + _NONZERO: np.packbits(nonzero)}


def _dense(values: Any, bits: Any, length: Any, name: str) -> NDArray[Any]:
    """A tensor with its zeros, from what the file keeps of it."""
    if values is None or bits is None or not isinstance(length, int) or len(bits) != -(-length // 8):
        raise ModelError(f"{name} is damaged")
    nonzero = np.unpackbits(bits, count=length).view(bool)
    if np.count_nonzero(nonzero) != len(values):
        raise ModelError(f"{name} is damaged")
    array = np.zeros(length, values.dtype)
    array[nonzero] = values
    return array


def _bits(array: NDArray[Any]) -> NDArray[Any]:
    """The elements as whole numbers that are 0 for zeros alone: -0.0 is another number."""
    return array.view(f"u{array.itemsize}")


def _write(target: Path, arrays: dict[str, NDArray[Any]], metadata: dict[str, str]) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        temporary.touch()
        mode = temporary.stat().st_mode  # of any new file; safetensors would have only the owner read it
        save_file(arrays, temporary, metadata)
        temporary.chmod(mode)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(target)
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{target}: {_reason(error)}") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _reason(error: Exception) -> str:
    """Why a file cannot be written, as the operating system says it; safetensors has more words for it."""
    number = re.search(r"\(os error (\d+)\)", str(error))
    reason = os.strerror(int(number[1])) if number else getattr(error, "strerror", None) or str(error)
    return reason.lower()


def _open(path: str | Path) -> tuple[dict[str, Any], Any]:
    """The header, and the file."""
    file = file_of(path)
    if not file.is_file():
        problem = f"no such file, nor the name of a model that is installed ({', '.join(names())})"
        raise ModelError(f"{path}: {'is a directory' if file.is_dir() else problem}")
    try:
        stream: Any = safe_open(file, framework="np")
        metadata = stream.metadata() or {}
    except SafetensorError:
        raise ModelError(f"{path}: not a model file, or a truncated one") from None
    except OSError as error:
        raise ModelError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    if "crossarc" not in metadata:
        raise ModelError(f"{path}: a safetensors file, but not a model of Crossarc")
    return _checked_header(metadata["crossarc"], path), stream


_FIELDS = {"version": str, "created": str, "about": dict, "quantized": bool, "sparse": dict, "components": dict}


def _checked_header(text: str, path: str | Path) -> dict[str, Any]:
    try:
        header: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError(f"{path}: its header is not JSON") from None
    number = header.get("format") if isinstance(header, dict) else None
    if not isinstance(number, int):
        raise ModelError(f"{path}: its header is not that of a model")
    if number > FORMAT:
        raise ModelError(f"{path}: made by a newer version of Crossarc (format {number}, this reads {FORMAT})")
    if number not in READABLE:
        raise ModelError(
            f"{path}: made by an older version of Crossarc (format {number}, this reads {FORMAT}): train it again"
        )
    header.setdefault("sparse", {})
    wrong = [name for name, kind in _FIELDS.items() if not isinstance(header.get(name), kind)]
    if wrong or not all(isinstance(own, dict) for own in header["components"].values()):
        raise ModelError(f"{path}: its header lacks {', '.join(wrong) or 'the headers of components'}")
    return dict(header)
