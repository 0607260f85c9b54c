"""A model is one file: safetensors, with a JSON header in its metadata. Nothing in it is ever executed.

``docs/model-file.md`` describes what is in it. A model is made of components (parser, tagger ...); each has a part of
the header and tensors of its own, whose names begin with its name.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from crossarc._version import __version__
from crossarc.core import CrossarcError
from crossarc.features.weights import LARGEST_WEIGHT, Quantized, quantized
from crossarc.io.replacing import file_replaced
from crossarc.models.errors import ModelError
from crossarc.models.installed import file_of, names, naming_package
from crossarc.models.schema import Anything, Flag, Kind, MapOf, Number, Record, Text, Whole, check_depth
from crossarc.models.tensors import TensorKind, check_tensors

FORMAT = 3
READABLE = (2, FORMAT)  # format 2 has no sparse tensors

_LEVELS = ".levels"  # after the name of a quantized tensor: what its codes stand for
_SMALL = 4096  # elements that are not worth making fewer
_NONZERO = ".nonzero"  # after the name of a sparse tensor: where its values are
_MOST_TENSORS = 10_000
_MOST_COMPONENTS = 100
_LONGEST = (1 << 28) + (1 << 20)  # elements of a sparse tensor: the largest table of weights, and a row of labels
_LONGEST_TEXT = 1 << 20  # characters: a treebank may be many files
_MOST_BYTES = 1 << 32  # of all tensors, with the zeros of sparse ones

Tensors = dict[str, Any]  # arrays, or ``Quantized``
Own = TypeVar("Own")


class Contents(NamedTuple):
    """One component of a model, as its file keeps it."""

    header: dict[str, Any]
    tensors: Tensors


class Component(Protocol):
    """What a model is made of: a parser, a tagger ... Whatever can be turned into contents of a file and back.

    It says what its header and its tensors look like: nothing else reaches ``from_model``.
    """

    header_kinds: ClassVar[Mapping[str, Kind]]  # the fields of its header
    optional_fields: ClassVar[Collection[str]]  # those that older files do not have

    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        """Header and tensors."""

    @classmethod
    def tensor_kinds(cls, header: dict[str, Any]) -> Mapping[str, TensorKind]:
        """What belongs to a header of these kinds, by name. ``ModelError`` for fields that do not fit together."""

    @classmethod
    def from_model(cls: type[Own], header: dict[str, Any], tensors: Tensors) -> Own:
        """The component with this header and these tensors, which have been checked."""


def component_of(kind: type[Own], contents: Contents, path: str | Path) -> Own:
    """The component with these contents; ``ModelError`` names the file if they are not what such a component has."""
    component: Any = kind
    expected = Record(component.header_kinds, component.optional_fields)
    try:
        expected.check([contents.header], "its header")
        check_tensors(contents.tensors, component.tensor_kinds(contents.header))
        return component.from_model(*contents)  # type: ignore[no-any-return]
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, CrossarcError) as error:
        raise ModelError(f"{path}: damaged, or made by another version of Crossarc ({_said(error)})") from None


def _said(error: Exception) -> str:
    return f"no {error}" if isinstance(error, KeyError) else str(error)


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
    _HEADER.check([header], f"{path}: its header")
    for tensors in sparse.values():
        arrays |= tensors
    _write(Path(path), arrays, {"crossarc": json.dumps(header, ensure_ascii=False)})


def read_model(path: str | Path) -> Model:
    """All of a model: a file's, or the installed one's with that name; ``ModelError`` says what is wrong with it."""
    header, stream = _open(path)
    try:
        arrays = _read_arrays(stream, header["sparse"])
        components = {name: Contents(own, {}) for name, own in header["components"].items()}
        for name, tensor in _with_levels(arrays).items():
            component, _, own = name.partition(".")
            if component not in components:
                raise ModelError(f"tensor {name} belongs to no component of the model")
            components[component].tensors[own] = tensor
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    return Model(components, header["about"], header["quantized"], header["version"], header["created"])


def _read_arrays(stream: Any, sparse: dict[str, int]) -> dict[str, NDArray[Any]]:
    """All tensors of a file, with the zeros of sparse ones."""
    with stream as file:
        names_of_tensors = file.keys()
        if len(names_of_tensors) > _MOST_TENSORS:
            raise ModelError(f"it has {len(names_of_tensors)} tensors, more than {_MOST_TENSORS}")
        _NAME.check(names_of_tensors, "the name of a tensor")
        arrays = {name: _read_array(file, name) for name in names_of_tensors}
    total = sum(array.nbytes for array in arrays.values())
    total += sum(length * arrays[name].itemsize for name, length in sparse.items() if name in arrays)
    if total > _MOST_BYTES:
        raise ModelError(f"its tensors would take {total} bytes, more than {_MOST_BYTES}")
    for name, length in sparse.items():
        arrays[name] = _dense(arrays.get(name), arrays.pop(name + _NONZERO, None), length, f"tensor {name}")
    return arrays


def _read_array(file: Any, name: str) -> NDArray[Any]:
    try:
        array: NDArray[Any] = file.get_tensor(name)
    except (AttributeError, SafetensorError, TypeError, ValueError):  # of a type that NumPy does not have
        raise ModelError(f"tensor {name} cannot be read") from None
    return array


def _with_levels(arrays: dict[str, NDArray[Any]]) -> Tensors:
    """The tensors, those that are codes together with their levels."""
    tensors: Tensors = dict(arrays)
    for name, levels in arrays.items():
        of_codes = name.removesuffix(_LEVELS)
        if of_codes != name and of_codes in arrays:
            tensors[of_codes] = _quantized(arrays[of_codes], levels, of_codes)
            del tensors[name]
    return tensors


def _quantized(codes: NDArray[Any], levels: NDArray[Any], name: str) -> Quantized:
    """Codes and levels; every code has one."""
    right = codes.dtype == np.uint8 and levels.dtype == np.float32 and codes.ndim == levels.ndim == 1
    if not right or not 1 <= len(levels) <= 256 or not np.abs(levels).max() <= LARGEST_WEIGHT:
        raise ModelError(f"tensor {name} is damaged: it has no levels")
    if len(levels) < 256 and len(codes) and codes.max() >= len(levels):
        raise ModelError(f"tensor {name} is damaged: the code {codes.max()} is none of its {len(levels)} levels")
    return Quantized(codes, levels)


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


def _dense(values: Any, bits: Any, length: int, name: str) -> NDArray[Any]:
    """A tensor with its zeros, from what the file keeps of it."""
    if values is None or bits is None or values.ndim != 1 or values.dtype.kind not in "fiu":
        raise ModelError(f"{name} is damaged")
    if bits.dtype != np.uint8 or bits.shape != (-(-length // 8),):
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
    try:
        with file_replaced(target) as draft:
            save_file(arrays, draft, metadata)
    except SafetensorError as error:
        raise ModelError(f"{target}: {_reason(error)}") from None
    except CrossarcError as error:
        raise ModelError(str(error)) from None


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


_NAME = Text(1000)  # of a component, a tensor, a score
_ABOUT: dict[str, Kind] = {  # what is shown, by commands and the service
    "language": Text(),
    "treebank": Text(_LONGEST_TEXT),
    "licence": Text(),
    "attribution": Text(_LONGEST_TEXT, lines=True),
    "scores": MapOf(MapOf(Number(), keys=_NAME), keys=_NAME),
    "words_per_second": Number(0),
}
_HEADER = Record(
    {
        "version": Text(100),
        "created": Text(100),
        "about": Record(_ABOUT, optional=_ABOUT),
        "quantized": Flag(),
        "sparse": MapOf(Whole(high=_LONGEST), keys=_NAME, most=_MOST_TENSORS),
        "components": MapOf(MapOf(Anything()), keys=_NAME, most=_MOST_COMPONENTS),
    },
    optional=("sparse",),
)


def _checked_header(text: str, path: str | Path) -> dict[str, Any]:
    try:
        header: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError(f"{path}: its header is not JSON") from None
    number = header.get("format") if isinstance(header, dict) else None
    if type(number) is not int:
        raise ModelError(f"{path}: its header is not that of a model")
    if number > FORMAT:
        raise ModelError(f"{path}: made by a newer version of Crossarc (format {number}, this reads {FORMAT})")
    if number not in READABLE:
        raise ModelError(
            f"{path}: made by an older version of Crossarc (format {number}, this reads {FORMAT}): train it again"
        )
    try:
        check_depth(header, "its header")
        _HEADER.check([header], "its header")
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    return {"sparse": {}, **header}
