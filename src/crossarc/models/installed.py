"""Models by name: those that come with Crossarc, and those of other installed packages.

A package declares its models as entry points of the group ``crossarc.models``: ``da = "crossarc_da"`` says that there
is a file ``da.crossarc`` in the folder of the module ``crossarc_da``. Nothing of the package is imported or executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from crossarc._version import __version__
from crossarc.models import builtin
from crossarc.models.errors import ModelError

__all__ = ["GROUP", "NAME", "InstalledModel", "file_of", "installed_models", "names", "naming_package", "packages_of"]

GROUP = "crossarc.models"
NAME = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*", re.IGNORECASE)  # of a model
_SUFFIX = ".crossarc"


class InstalledModel(NamedTuple):
    """What a package says of a model."""

    name: str
    package: str  # its name and version
    module: str  # whose folder has the file

    def file(self) -> Path:
        """Where its file is; ``ModelError`` if it is not there."""
        if not NAME.fullmatch(self.name):
            raise ModelError(f"{self.name!r} is no name of a model, in the package {self.package}")
        for folder in self._folders():
            if (path := folder / f"{self.name}{_SUFFIX}").is_file():
                return path
        where = self.module.replace(".", "/")
        raise ModelError(f"{self.name}: no file {where}/{self.name}{_SUFFIX} in the package {self.package}")

    def _folders(self) -> list[Path]:
        """Those of the module, which is not imported."""
        top, *rest = self.module.split(".")
        try:
            spec = find_spec(top)
        except (ImportError, ValueError):  # as a finder, or a module that has no spec, says that there is none
            spec = None
        found = spec.submodule_search_locations if spec is not None else None
        return [Path(folder, *rest) for folder in found or ()]


def installed_models() -> list[InstalledModel]:
    """The models that installed packages declare, by name; some may have the same, and some no file."""
    found = [InstalledModel(point.name, _package(point), point.module) for point in entry_points(group=GROUP)]
    return sorted(found)


def _package(point: EntryPoint) -> str:
    return "unknown" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def names() -> list[str]:
    """The names that models can be loaded by."""
    return sorted({*builtin.files(), *(own.name for own in installed_models())})


def file_of(model: str | Path) -> Path:
    """The file of a model, which is given by its path or by its name.

    A file of that name in the current directory comes first, then a built-in model, then those of other packages.
    ``ModelError`` if two packages have a model of that name, or if the package has no such file.
    """
    path = Path(model)
    if path.name != str(model) or path.is_file():
        return path
    if path.name in (built_in := builtin.files()):
        return built_in[path.name]
    declared = _declared(path.name)
    if len(declared) > 1:
        packages = " and ".join(own.package for own in declared)
        raise ModelError(f"{model}: several packages have a model of that name, {packages}: uninstall all but one")
    return declared[0].file() if declared else path


def packages_of(model: str | Path) -> list[str]:
    """The packages that a name stands for a model of; none for a file."""
    path = Path(model)
    if path.name != str(model) or path.is_file():
        return []
    if path.name in builtin.files():
        return [f"crossarc {__version__}"]
    return [own.package for own in _declared(path.name)]


def _declared(name: str) -> list[InstalledModel]:
    return [own for own in installed_models() if own.name == name]


@contextmanager
def naming_package(model: str | Path) -> Iterator[None]:
    """Errors in the file of a model that is given by its name say which package brought it."""
    try:
        yield
    except ModelError as error:
        packages = packages_of(model)
        if len(packages) != 1 or packages[0] in str(error):
            raise
        raise ModelError(f"{error} (in the package {packages[0]})") from None
