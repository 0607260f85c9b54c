"""Parsers around other parsers: how they are trained, and what their model files have in common.

The header of an inner parser stands in that of the outer one, under a name or a number; its tensors have that before
their own names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from crossarc.core import Sentence
from crossarc.models import ModelError, Tensors
from crossarc.models.schema import Anything, Kind, MapOf, Record
from crossarc.models.tensors import TensorKind
from crossarc.parsers.base import Capability, Parser, SentenceTagger
from crossarc.parsers.training import TrainingSetup

__all__ = ["INNER_HEADER", "Train", "Wrapper", "inner_contents", "inner_kinds", "inner_parsers"]


Train = Callable[[Sequence[Sentence], TrainingSetup], Parser]  # how the inner parser is trained


class Wrapper(Parser):
    """A parser around another one."""

    parser: Parser
    kept: ClassVar[frozenset[Capability]] = frozenset(Capability)  # of what the inner parser can do

    @property
    def capabilities(self) -> frozenset[Capability]:  # type: ignore[override]
        return self.parser.capabilities & self.kept

    @classmethod
    def capabilities_in(cls, header: Mapping[str, Any]) -> frozenset[Capability]:
        return _class_of(header["parser"]).capabilities_in(header["parser"]) & cls.kept

    @property
    def tagger(self) -> SentenceTagger | None:
        return self.parser.tagger


INNER_HEADER: Kind = MapOf(Anything())  # ``inner_kinds`` checks it as what it is


def inner_contents(parsers: Mapping[str, Parser]) -> tuple[dict[str, Any], Tensors]:
    """What a model file keeps of inner parsers: their headers by name, and all tensors."""
    headers: dict[str, Any] = {}
    tensors: Tensors = {}
    for name, parser in parsers.items():
        headers[name], own = parser.to_model()
        tensors |= {f"{name}.{tensor}": value for tensor, value in own.items()}
    return headers, tensors


def inner_kinds(headers: Mapping[str, Any], where: str = "") -> dict[str, TensorKind]:
    """The tensors of inner parsers, by their headers; ``ModelError`` for one that is not of the kinds of its system."""
    kinds: dict[str, TensorKind] = {}
    for name, header in headers.items():
        parser = _class_of(header)
        Record(parser.header_kinds, parser.optional_fields).check([header], f"its header: {where}{name}")
        kinds |= {f"{name}.{tensor}": kind for tensor, kind in parser.tensor_kinds(header).items()}
    return kinds


def inner_parsers(headers: Mapping[str, Any], tensors: Tensors) -> list[Parser]:
    """The inner parsers, in the order of their headers."""
    return [_class_of(header).from_model(header, _tensors_of(name, tensors)) for name, header in headers.items()]


def _tensors_of(name: str, tensors: Tensors) -> Tensors:
    """Those of one inner parser."""
    prefix = f"{name}."
    return {tensor.removeprefix(prefix): own for tensor, own in tensors.items() if tensor.startswith(prefix)}


def _class_of(header: Mapping[str, Any]) -> type[Parser]:
    from crossarc.parsers.registry import class_of  # which knows the modules that need this one

    found = class_of(header)
    if found is None:
        raise ModelError(f"a parser inside of another, of a system that is unknown: {str(header.get('system'))[:100]}")
    return found
