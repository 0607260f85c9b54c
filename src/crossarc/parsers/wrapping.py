"""Parsers around other parsers: how they are trained, and what their model files have in common.

The header of an inner parser stands in that of the outer one, under a name; its tensors have that name before theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crossarc.core import Sentence
from crossarc.models import ModelError, Tensors
from crossarc.models.schema import Anything, Kind, MapOf, Record
from crossarc.models.tensors import TensorKind
from crossarc.parsers.base import Parser
from crossarc.parsers.training import TrainingSetup

__all__ = ["INNER_HEADER", "Train", "inner_contents", "inner_kinds", "inner_parser"]

Train = Callable[[Sequence[Sentence], TrainingSetup], Parser]  # how the inner parser is trained

INNER_HEADER: Kind = MapOf(Anything())  # ``inner_kinds`` checks it as what it is


def inner_contents(parsers: Mapping[str, Parser]) -> tuple[dict[str, Any], Tensors]:
    """What a model file keeps of inner parsers: their headers by name, and all tensors."""
    headers: dict[str, Any] = {}
    tensors: Tensors = {}
    for name, parser in parsers.items():
        headers[name], own = parser.to_model()
        tensors |= {f"{name}.{tensor}": value for tensor, value in own.items()}
    return headers, tensors


def inner_kinds(header: Mapping[str, Any], *names: str) -> dict[str, TensorKind]:
    """The tensors of the inner parsers of a header; ``ModelError`` for one that is not of the kinds of its system."""
    kinds: dict[str, TensorKind] = {}
    for name in names:
        own = header[name]
        parser = _class_of(own)
        Record(parser.header_kinds, parser.optional_fields).check([own], f"its header: {name}")
        kinds |= {f"{name}.{tensor}": kind for tensor, kind in parser.tensor_kinds(own).items()}
    return kinds


def inner_parser(header: Mapping[str, Any], tensors: Tensors, name: str) -> Parser:
    """The inner parser with that name."""
    prefix = f"{name}."
    own = {tensor.removeprefix(prefix): value for tensor, value in tensors.items() if tensor.startswith(prefix)}
    return _class_of(header[name]).from_model(header[name], own)


def _class_of(header: Mapping[str, Any]) -> type[Parser]:
    from crossarc.parsers.registry import class_of  # which knows the modules that need this one

    found = class_of(header)
    if found is None:
        raise ModelError(f"a parser inside of another, of a system that is unknown: {str(header.get('system'))[:100]}")
    return found
