"""What is known of the models that can be loaded by name."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from crossarc._version import __version__
from crossarc.core import ModelWarning
from crossarc.models import builtin
from crossarc.models.errors import ModelError
from crossarc.models.file import describe_model
from crossarc.models.installed import installed_models

__all__ = ["available"]


def available() -> dict[str, dict[str, Any]]:
    """The models that can be loaded by name: licence, attribution, scores, components, package, path, size of each.

    What packages declare but cannot be loaded by its name is left out, with a ``ModelWarning`` that names the package.

    >>> available()["en"]["language"]
    'English'
    """
    ours, declared = builtin.files(), installed_models()
    found = {name: _described(path, f"crossarc {__version__}") for name, path in ours.items()}
    times = Counter(own.name for own in declared)
    for own in declared:
        if own.name in ours:
            _warn(own.package, f"{own.name}: the built-in model has the same name and is used in its place")
        elif times[own.name] > 1:
            _warn(own.package, f"{own.name}: another package has a model of that name, so neither can be loaded by it")
        else:
            try:
                found[own.name] = _described(own.file(), own.package)
            except ModelError as error:
                _warn(own.package, str(error))
    return found


def _warn(package: str, problem: str) -> None:
    warnings.warn(f"package {package}: {problem}", ModelWarning, stacklevel=3)


def _described(path: Path, package: str) -> dict[str, Any]:
    """What the header says of a model, and where it is."""
    header = describe_model(path)
    about, components = header["about"], header["components"]
    system = components.get("parser", {}).get("system")
    if not isinstance(system, str):
        raise ModelError(f"{path}: no parser")
    where = {"package": package, "path": str(path), "bytes": header["bytes"]}
    return {**about, "system": system, "components": list(components), **where}
