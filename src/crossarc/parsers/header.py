"""What the headers of parsers have in common, as kinds of values: see ``models.schema``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from crossarc.core import CrossarcError
from crossarc.models import ModelError
from crossarc.models.schema import FEATURE_SET, Kind, ListOf, Maybe, Number, Record, Row, Text, refuse
from crossarc.models.tensors import HashedWeights, TensorKind
from crossarc.parsers.config import Config

__all__ = [
    "CALIBRATION",
    "LABELS",
    "TEMPERATURES",
    "ConfigOf",
    "fields_of_linear",
    "fields_of_parser",
    "tensors_of_linear",
]

_MOST_LABELS = 1 << 16
LABELS = ListOf(Text(1000, least=1), least=1, most=_MOST_LABELS)
_SHARE = Number(0, 1)
_DEV = Maybe(Record({"uas": _SHARE, "las": _SHARE}))

TEMPERATURES = Record({"arcs": Number(1e-3, 1e3), "labels": Number(1e-3, 1e3)})  # fitted from 0.01 to 100
_POINTS = ListOf(_SHARE, least=1, most=1000)


@dataclass(frozen=True)
class _Curve:
    """The points of a curve: the probabilities, which never fall, and the accuracy at each."""

    def check(self, values: Collection[Any], where: str) -> None:
        Row((_POINTS, _POINTS)).check(values, where)
        for probabilities, accuracies in values:
            if len(probabilities) != len(accuracies) or probabilities != sorted(probabilities):
                refuse(where, [probabilities, accuracies], "a curve")


CALIBRATION: dict[str, Kind] = {
    "temperatures": Maybe(TEMPERATURES),
    "curves": Maybe(Record({"arcs": _Curve(), "labels": _Curve()})),
}


@dataclass(frozen=True)
class ConfigOf:
    """The fields of a configuration, which checks itself."""

    config: type[Config]

    def check(self, values: Collection[Any], where: str) -> None:
        for value in values:
            if type(value) is not dict:
                refuse(where, value, "an object")
            Text().check([own for own in value.values() if isinstance(own, str)], where)
            try:
                self.config(**value)
            except (CrossarcError, TypeError) as error:
                raise ModelError(f"{where}: {str(error)[:300]}") from None


def fields_of_parser(config: type[Config]) -> dict[str, Kind]:
    """What the header of every parser has."""
    return {"config": ConfigOf(config), "labels": LABELS, "dev": _DEV, "treebank": Text(100)}


def fields_of_linear(config: type[Config]) -> dict[str, Kind]:
    """What the header of a parser with a linear scorer has."""
    return {**fields_of_parser(config), "templates": FEATURE_SET, "pruner": Maybe(FEATURE_SET)}


def tensors_of_linear(header: Mapping[str, Any]) -> dict[str, TensorKind]:
    """The tensors of a linear scorer with that header."""
    pruner = {} if header["pruner"] is None else {"pruner": HashedWeights()}
    return {"heads": HashedWeights(), "labels": HashedWeights(row=len(header["labels"])), **pruner}
