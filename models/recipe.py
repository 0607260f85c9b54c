"""What a recipe says, checked before any work begins; ``docs/models.md`` describes its fields."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from crossarc import CrossarcError
from crossarc.parsers import SYSTEMS
from crossarc.parsers.config import Config
from crossarc.pipeline import TEXT_COMPONENTS
from crossarc.pipeline.packaging import ModelPackage

__all__ = ["Recipe", "read_recipe"]

TARGETS = ("builtin", "package")


@dataclass(frozen=True)
class Recipe:
    """How a model is made."""

    name: str
    language: str
    treebank: str  # its full name
    folder: str  # of its files, in the folder of treebanks
    licence: str
    attribution: str
    target: str  # whether it comes with Crossarc or in a package of its own
    parser: Mapping[str, Any]  # the system, and fields of its configuration
    components: tuple[str, ...] = ()
    quantize: bool = True
    version: str = "1.0"  # of the package
    search: Mapping[str, Any] = field(default_factory=dict)  # what is changed in the configuration after training

    def __post_init__(self) -> None:
        if self.target not in TARGETS:
            raise CrossarcError(f"target is {self.target!r}, which is none of {', '.join(TARGETS)}")
        unknown = set(self.components) - set(TEXT_COMPONENTS)
        if unknown:
            raise CrossarcError(f"components: no {', '.join(sorted(unknown))}; there are {', '.join(TEXT_COMPONENTS)}")
        if self.target == "package":
            _ = self.package
        _ = self.narrowed

    @property
    def config(self) -> Config:
        """How the parser is trained."""
        settings = dict(self.parser)
        system = settings.pop("system", None)
        if system not in SYSTEMS:
            raise CrossarcError(f"system is {system!r}, which is none of {', '.join(SYSTEMS)}")
        try:
            return SYSTEMS[system].config(**settings).beside(self.components)
        except TypeError as error:  # a setting that there is not
            raise CrossarcError(f"[parser]: {error}") from None

    @property
    def narrowed(self) -> Config:
        """How the finished parser searches."""
        try:
            return replace(self.config, **self.search)
        except TypeError as error:
            raise CrossarcError(f"[search]: {error}") from None

    @property
    def package(self) -> ModelPackage:
        """The package that the model goes into."""
        return ModelPackage(self.name, self.licence, self.attribution, self.language, self.version)

    @property
    def about(self) -> dict[str, str]:
        """What the header says."""
        return {name: getattr(self, name) for name in ("language", "treebank", "licence", "attribution")}


def read_recipe(path: Path, *, epochs: int | None = None) -> Recipe:
    """The recipe in a file, perhaps with another number of epochs."""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
        wrong = [name for name in said if name not in {own.name for own in fields(Recipe)}]
        wrong += [own.name for own in fields(Recipe) if _is_required(own) and own.name not in said]
        if wrong:
            raise CrossarcError(f"unknown or missing: {', '.join(wrong)}")
        if epochs is not None:
            said["parser"] = {**said["parser"], "epochs": epochs}
        return Recipe(**said)
    except OSError as error:
        raise CrossarcError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except (CrossarcError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CrossarcError(f"{path}: {error}") from None


def _is_required(own: Any) -> bool:
    return own.default is MISSING and own.default_factory is MISSING
