"""Model files that are wrong in some way: each number gives another one, always the same.

What is changed: fields of the header and of word lists (deleted, of another type, huge, negative, deep, taken from
elsewhere), tensors (of another size, type or shape, with random or extreme numbers, missing, renamed, quantized,
sparse), and the bytes of the file (cut off, turned over, added).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any
from zlib import crc32

import numpy as np
from safetensors.numpy import save

from crossarc.models import Contents
from crossarc.models.file import _arrays, _sparse

__all__ = ["Mutations"]

_VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 7, 63, 64, 255, 256, 65_536, 2_000_000, 10**9, 2**31, 2**63 - 1, 2**63, -(2**63),
    10**12, 10**30, 10**400, 0.0, -0.5, 0.5, 1e-300, 1e300, float("nan"), float("inf"), -float("inf"), "", "a", "_",
    "\t", "\n", "\x00", "\ud800", "a\nb", "x" * 10_000, "10", "nan", [], [[]], {}, {"": 0}, [0], [None], ["a", 1],
]  # fmt: skip
_LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 1000, 4096, 70_000)
_TYPES = ("<f4", "<f8", "<f2", "<i8", "<i4", "<i2", "i1", "u1", "<u2", "<u4", "<u8", "?")
_EXTREMES = (np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-45, -0.0, 1e6, -1e6, 1e300, -1, 0, 1, 2**31, 2**62, -(2**62))
_WORD_LISTS = ("words", "rules")  # tensors that hold JSON
_KERNELS = (
    "order",
    "labels",
    "projective",
    "solver",
    "classifier",
)  # fields of configurations that other kernels belong to


class Mutations:
    """The mutations of one model."""

    def __init__(self, name: str, components: dict[str, Any]) -> None:
        self._seed = crc32(name.encode())
        contents = {name: Contents(*component.to_model()) for name, component in components.items()}
        self._arrays: dict[str, Any] = {}
        for name, (_, tensors) in contents.items():
            for own, tensor in tensors.items():
                self._arrays |= _arrays(f"{name}.{own}", tensor)
        self._json = json.dumps(_file_header(contents))
        self._header = json.loads(self._json)

    def file(self, number: int) -> bytes:
        """The bytes of a file; number 0 is the model as it is."""
        rng = np.random.default_rng([self._seed, number])
        if not number:
            return self.changed(lambda header, arrays: None)
        if rng.random() < 0.15:
            return _changed_bytes(rng, self.changed(lambda header, arrays: None))
        return self.changed(lambda header, arrays: self._change(rng, header, arrays))

    def changed(self, change: Callable[[Any, dict[str, Any]], None]) -> bytes:
        """The bytes of the file after a change of its header and its tensors."""
        header, arrays = json.loads(self._json), dict(self._arrays)
        change(header, arrays)
        contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        return save(contiguous, {"crossarc": json.dumps(header)})

    def _change(self, rng: np.random.Generator, header: Any, arrays: dict[str, Any]) -> None:
        """One change, or several."""
        for _ in range(_choose(rng, [1, 1, 1, 2, 3])):
            change = _choose(rng, [_change_header] * 4 + [_change_tensor] * 4 + [_change_words, _change_storage])
            change(rng, header, arrays)
        self._keep_kernels(header)

    def _keep_kernels(self, header: Any) -> None:
        """Put fields back that would have kernels compiled which nothing else needs."""
        try:
            config, own = header["components"]["parser"]["config"], self._header["components"]["parser"]["config"]
            for name in set(_KERNELS) & own.keys():
                if isinstance(config.get(name, own[name]), type(own[name])):
                    config[name] = own[name]
        except (KeyError, TypeError, AttributeError):
            pass


def _file_header(contents: dict[str, Contents]) -> dict[str, Any]:
    about = {"format": 3, "version": "1", "created": "2026-11-17", "about": {}, "quantized": False, "sparse": {}}
    return {**about, "components": {name: own for name, (own, _) in contents.items()}}


def _choose(rng: np.random.Generator, values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def _places(value: Any) -> list[tuple[Any, Any]]:
    """All containers in a value, with a key or an index of each of their values."""
    found, left = [], [value]
    while left:
        own = left.pop()
        keys = list(own) if isinstance(own, dict) else range(len(own))
        for key in keys:
            found.append((own, key))
            if isinstance(own[key], dict | list):
                left.append(own[key])
    return found


def _change_value(rng: np.random.Generator, value: Any) -> None:
    """Change something in a JSON value; outer fields as often as inner ones, of which there are many more."""
    container, key = value, None
    while isinstance(container, dict | list) and len(container):
        keys = list(container) if isinstance(container, dict) else range(len(container))
        key = _choose(rng, keys)
        if not isinstance(container[key], dict | list) or not len(container[key]) or rng.random() < 0.3:
            break
        container = container[key]
    if key is None:
        return
    own = container[key]
    kind = int(rng.integers(8))
    if kind == 0:
        del container[key]
    elif kind == 1:
        container[key] = deepcopy(_choose(rng, _VALUES))
    elif kind == 2 and isinstance(own, str):
        container[key] = _changed_text(rng, own)
    elif kind == 3 and isinstance(own, list):
        container[key] = _changed_list(rng, own)
    elif kind == 4 and isinstance(own, int | float):
        container[key] = own + _choose(rng, [1, -1, 0.5, 100, 10**6, -(10**6)])
    elif kind == 5:
        for _ in range(_choose(rng, [1, 5, 20, 400])):
            container[key] = [container[key]] if rng.random() < 0.5 else {"in": container[key]}
    elif kind == 6:
        other, place = _choose(rng, _places(value))
        container[key] = deepcopy(other[place])
    elif isinstance(container, dict):
        container[_choose(rng, ["", "x", "arc", "form", f"{key}x"])] = container.pop(key)


def _changed_text(rng: np.random.Generator, text: str) -> str:
    i, j = sorted(rng.integers(0, len(text) + 1, 2).tolist())
    inserted = _choose(
        rng, ["", text, text[i:j] * 50, " ", "\n", "(", ")", "[", "+9", "-5", "\t", "\u0663", "h.upos", "0"]
    )
    return text[:i] + str(inserted) + text[j:]


def _changed_list(rng: np.random.Generator, values: list[Any]) -> list[Any]:
    kind = int(rng.integers(5))
    if kind == 0:
        return values[: int(rng.integers(0, len(values) + 1))]
    if kind == 1:
        return values * _choose(rng, [2, 3, 100])
    if kind == 2:
        return [*values, deepcopy(_choose(rng, _VALUES))]
    if kind == 3:
        return [values[i] for i in rng.permutation(len(values))]
    return [*values, *values[:1]]


def _change_header(rng: np.random.Generator, header: Any, arrays: dict[str, Any]) -> None:
    parts = list(header["components"].values()) if isinstance(header.get("components"), dict) else []
    parts = [part for part in parts if isinstance(part, dict) and part]
    _change_value(rng, header if not parts or rng.random() < 0.15 else _choose(rng, parts))


def _change_words(rng: np.random.Generator, header: Any, arrays: dict[str, Any]) -> None:
    names = [name for name in arrays if name.rpartition(".")[2] in _WORD_LISTS and arrays[name].dtype == np.uint8]
    if not names:
        _change_tensor(rng, header, arrays)
        return
    name = _choose(rng, names)
    try:
        words = json.loads(arrays[name].tobytes())
    except ValueError:
        return
    if isinstance(words, dict | list):
        _change_value(rng, words)
    arrays[name] = np.frombuffer(json.dumps(words).encode(), dtype=np.uint8)


def _change_tensor(rng: np.random.Generator, header: Any, arrays: dict[str, Any]) -> None:
    if not arrays:
        return
    name = _choose(rng, list(arrays))
    array = arrays[name]
    kind = int(rng.integers(12))
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[_choose(rng, [f"{name}x", "parser.x", "x", name.replace("parser", "tagger"), f"{name}.levels"])] = array
    elif kind == 2:
        axis, length = (
            int(rng.integers(max(array.ndim, 1))),
            _choose(rng, [*_LENGTHS, *[len(array.ravel()) + i for i in (-1, 1)]]),
        )
        if array.ndim and array.size:
            arrays[name] = np.take(array, range(max(length, 0)), axis=axis, mode="wrap")
    elif kind == 3:
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(_choose(rng, _TYPES))
    elif kind == 4:
        arrays[name] = array.reshape(_choose(rng, [(1, *array.shape), (*array.shape, 1), (-1,), array.shape[::-1]]))
    elif kind == 5:
        arrays[name] = _random_like(rng, array)
    elif kind > 7 and array.dtype.kind == "f":  # likely to be let in: kernels meet what no training makes
        scale = _choose(rng, [0.0, 1e-30, 1e-6, 1.0, 1e3, 1e5])
        arrays[name] = (scale * rng.choice([rng.normal(size=array.shape), rng.integers(-1, 2, array.shape)])).astype(
            array.dtype
        )
    else:
        arrays[name] = _with_extremes(rng, array)


def _random_like(rng: np.random.Generator, array: Any) -> Any:
    raw = rng.integers(0, 256, array.nbytes, dtype=np.uint8)
    return raw.view(array.dtype).reshape(array.shape) if array.dtype != bool else (raw > 127).reshape(array.shape)


def _with_extremes(rng: np.random.Generator, array: Any) -> Any:
    """Some elements that are as large, small, or strange as can be; or one that is just beyond the others."""
    if not array.size:
        return array
    changed = array.copy()
    places = rng.integers(0, array.size, _choose(rng, [1, 1, 3, array.size]))
    numbers: list[Any] = list(_EXTREMES)
    if array.dtype.kind in "iu":
        numbers = [array.max(initial=0) + 1, array.min(initial=0) - 1, -1, 0, 1, 255, 2**31, 2**62, -(2**62), 10**9]
    with np.errstate(all="ignore"):
        changed.ravel()[places] = np.array(_choose(rng, numbers)).astype(array.dtype)
    return changed


def _change_storage(rng: np.random.Generator, header: Any, arrays: dict[str, Any]) -> None:
    """Keep a tensor in another way: without its zeros, or as codes; rightly or wrongly."""
    names = [name for name, array in arrays.items() if array.ndim == 1 and array.dtype.kind in "fiu" and len(array)]
    if not names or not isinstance(header.get("sparse"), dict):
        return
    name = _choose(rng, names)
    array = arrays[name]
    if rng.random() < 0.5:
        header["sparse"][name] = _choose(rng, [len(array), len(array), len(array) + 1, -1, 0, 10**9, 10**12, "1", None])
        arrays |= _sparse(name, array)
        if rng.random() < 0.5:
            wrong = _choose(rng, [name, f"{name}.nonzero"])
            arrays[wrong] = _choose(
                rng, [arrays[wrong][:-1], _random_like(rng, arrays[wrong]), arrays[wrong].astype("<i8")]
            )
    elif not any(name.endswith(".levels") for name in arrays):  # kernels for two such tables are others
        header["quantized"] = bool(rng.random() < 0.8)
        different, codes = np.unique(array.astype(np.float32), return_inverse=True)
        arrays[name] = (codes % 256).astype(np.uint8)
        arrays[f"{name}.levels"] = different[: _choose(rng, [256, 256, 256, 0, 1, 17])].copy()


def _changed_bytes(rng: np.random.Generator, content: bytes) -> bytes:
    kind = int(rng.integers(5))
    changed = bytearray(content)
    if kind == 0:
        return content[: int(rng.integers(len(content)))]
    if kind == 1:
        for place in rng.integers(0, len(content), _choose(rng, [1, 2, 10, 100])).tolist():
            changed[place] ^= 1 << int(rng.integers(8))
    elif kind == 2:  # in the header of safetensors
        place = int(rng.integers(0, min(len(content), 8 + int.from_bytes(content[:8], "little"))))
        changed[place] = int(rng.integers(256))
    elif kind == 3:
        changed[:8] = int(_choose(rng, [0, 1, 7, 2**20, 2**40, 2**63, len(content)])).to_bytes(8, "little")
    else:
        place = int(rng.integers(len(content)))
        changed[place:place] = rng.integers(0, 256, _choose(rng, [1, 8, 1000]), dtype=np.uint8).tobytes()
    return bytes(changed)
