"""Libraries that Crossarc works with but does not need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from crossarc.core import CrossarcError

__all__ = ["library"]


def library(name: str) -> Any:
    """The module of that name. Raises ``CrossarcError`` that says how to get it where it is not installed."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        if error.name != package:
            raise
        raise CrossarcError(f"{package} is not installed: pip install {package}") from None
