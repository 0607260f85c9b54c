"""Models that come with Crossarc itself. Each is a file of this folder, made by its recipe in ``models/``."""

from __future__ import annotations

from pathlib import Path

__all__ = ["files"]

_FOLDER = Path(__file__).parent
_SUFFIX = ".crossarc"


def files() -> dict[str, Path]:
    """The file of each built-in model, by its name."""
    found = {path.name.removesuffix(_SUFFIX): path for path in _FOLDER.glob(f"*{_SUFFIX}")}
    return dict(sorted(found.items()))
