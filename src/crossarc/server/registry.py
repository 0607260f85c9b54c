"""The models by their names. A request names a model; it never names a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from crossarc.core import CrossarcError
from crossarc.server.jobs import Description

__all__ = ["Registry", "named_models"]


def named_models(models: Sequence[str]) -> dict[str, str]:
    """Name -> file, for ``NAME=FILE`` or files that are called after their model.

    >>> named_models(["models/danish-ddt.crossarc", "english=en.crossarc"])
    {'danish-ddt': 'models/danish-ddt.crossarc', 'english': 'en.crossarc'}
    """
    named: dict[str, str] = {}
    for model in models:
        name, equals, path = model.partition("=")
        if not equals:
            name, path = Path(model).name.removesuffix(".crossarc"), model
        if name in named:
            raise CrossarcError(f"two models are called {name}: name one with -m NAME={path}")
        named[name] = path
    return named


class Registry:
    """What is known of each model."""

    def __init__(self, descriptions: Mapping[str, Description]) -> None:
        self.descriptions = dict(descriptions)
        self.paths: dict[str, str] = {}  # of models that joined later: workers have loaded all others
        self.default = next(iter(descriptions))
        self._aliases = {"": self.default}
        for name in descriptions:
            parts = name.split("-")
            for end in range(len(parts), 0, -1):
                self._aliases.setdefault("-".join(parts[:end]), name)
        for name, description in descriptions.items():
            self._aliases.setdefault(description.language.lower(), name)
        self._aliases |= {name: name for name in descriptions}

    def add(self, name: str, description: Description, path: str) -> None:
        """One more model."""
        self.descriptions[name] = description
        self.paths[name] = path
        self._aliases[name] = name

    def find(self, name: str) -> str | None:
        """The model of that name, or the first whose name starts with these parts, or which is of that language.

        ``danish`` is ``danish-ddt``; ``english`` is also the built-in ``en``.
        """
        return self._aliases.get(name)
