"""A package with a model: whoever installs it has the model by its name (``models/installed.py``)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crossarc._version import __version__
from crossarc.core import CrossarcError
from crossarc.models import builtin, describe_model, read_model, write_model
from crossarc.models.installed import GROUP
from crossarc.pipeline.card import model_card
from crossarc.pipeline.pipeline import load

__all__ = ["ModelPackage", "write_package"]

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?")
_LICENCE = re.compile(r"[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*")


@dataclass(frozen=True)
class ModelPackage:
    """What the maker of a package says of it.

    >>> ModelPackage("da", "CC BY-SA 4.0", "The makers of the Danish Dependency Treebank")
    Traceback (most recent call last):
    crossarc.core.errors.CrossarcError: licence 'CC BY-SA 4.0' is no SPDX identifier: such as CC-BY-SA-4.0
    """

    name: str  # by which the model is loaded
    licence: str  # of the model: an identifier of SPDX (https://spdx.org/licenses)
    attribution: str = ""  # whose data it was learnt from
    language: str = ""
    version: str = "1.0"

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise CrossarcError(f"name {self.name!r}: lower-case letters, digits and single hyphens are allowed")
        if self.name in builtin.files():
            raise CrossarcError(f"name {self.name!r} is that of a built-in model")
        if not _VERSION.fullmatch(self.version):
            raise CrossarcError(f"version {self.version!r} is none that packages can have: such as 1.0")
        if not _LICENCE.fullmatch(self.licence):
            raise CrossarcError(f"licence {self.licence!r} is no SPDX identifier: such as CC-BY-SA-4.0")
        if self.licence.startswith("CC-BY") and not self.attribution:
            raise CrossarcError(f"{self.licence} asks for attribution: say whose data the model was learnt from")

    @property
    def distribution(self) -> str:
        """What pip calls it."""
        return f"crossarc-{self.name}"

    @property
    def module(self) -> str:
        """Where the model's file is."""
        return self.distribution.replace("-", "_")

    @property
    def about(self) -> dict[str, str]:
        """What the model's header keeps, so that it travels with the file."""
        own = {"language": self.language, "licence": self.licence, "attribution": self.attribution}
        return {name: text for name, text in own.items() if text}


def write_package(
    model: str | Path, folder: str | Path, package: ModelPackage, *, about: dict[str, Any] | None = None
) -> Path:
    """Write an installable package with a model; the model's file in it, whose header has what the package says.

    ``about`` is what else the header is to say: ``scores``, ``words_per_second``.
    """
    pipeline, contents = load(model), read_model(model)
    root = Path(folder)
    source = root / "src" / package.module
    source.mkdir(parents=True, exist_ok=True)
    file = source / f"{package.name}.crossarc"
    said = {**contents.about, **package.about, **(about or {})}
    write_model(file, contents.components, about=said, quantize=contents.quantized)
    texts = {
        source / "__init__.py": f'"""A model for Crossarc: crossarc.load("{package.name}")."""\n',
        root / "pyproject.toml": _pyproject(package, list(pipeline.components)),
        root / "README.md": model_card(package.name, pipeline, describe_model(file)),
        root / "LICENSE": _licence(package),
    }
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return file


def _pyproject(package: ModelPackage, components: list[str]) -> str:
    what = f"{package.language or package.name}: a model for Crossarc ({', '.join(components)})"
    return f"""\
[build-system]
requires = ["hatchling>=1.26"]
build-backend = "hatchling.build"

[project]
name = {_toml(package.distribution)}
version = {_toml(package.version)}
description = {_toml(what)}
readme = "README.md"
license = {_toml(package.licence)}
license-files = ["LICENSE"]
requires-python = ">=3.11"
dependencies = [{_toml(f"crossarc>={__version__}")}]

[project.entry-points."{GROUP}"]
{package.name} = {_toml(package.module)}

[tool.hatch.build]
artifacts = ["*.crossarc"] # whether Git ignores them or not

[tool.hatch.build.targets.wheel]
packages = [{_toml(f"src/{package.module}")}]
"""


def _toml(text: str) -> str:
    """A string in TOML: one in JSON is one there, too, if it has no control characters."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


def _licence(package: ModelPackage) -> str:
    paragraphs = [
        f"The model in this package is under the licence {package.licence}: {_link(package.licence)}",
        package.attribution,
        "The package has what Crossarc has learnt from the data (weights, lists of words), not the data itself.",
    ]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph) + "\n"


def _link(licence: str) -> str:
    """Where a licence can be read.

    >>> _link("CC-BY-SA-4.0"), _link("MIT"), _link("MIT OR Apache-2.0")
    ('https://creativecommons.org/licenses/by-sa/4.0/', 'https://spdx.org/licenses/MIT.html', 'https://spdx.org/licenses/')
    """
    creative_commons = re.fullmatch(r"CC-(BY[A-Z-]*)-(\d\.\d)", licence)
    if creative_commons:
        return f"https://creativecommons.org/licenses/{creative_commons[1].lower()}/{creative_commons[2]}/"
    return f"https://spdx.org/licenses/{licence}.html" if " " not in licence else "https://spdx.org/licenses/"
