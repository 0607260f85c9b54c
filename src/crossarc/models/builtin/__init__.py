"""Models that come with the package. Each is a file of this folder, made by its recipe in ``models/``."""

from __future__ import annotations

from pathlib import Path

__all__ = ["file_of", "names"]

_FOLDER = Path(__file__).parent
_SUFFIX = ".crossarc"


def names() -> list[str]:
    """The names of all built-in models."""
    return sorted(path.name.removesuffix(_SUFFIX) for path in _FOLDER.glob(f"*{_SUFFIX}"))


def file_of(model: str | Path) -> Path:
    """The file of a model: of a built-in one if this is the name of one and not of a file."""
    path = Path(model)
    ours = _FOLDER / f"{model}{_SUFFIX}"
    return ours if path.name == str(model) and not path.exists() and ours.exists() else path
