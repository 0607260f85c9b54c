"""Models whose header somebody has changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from crossarc.models import ModelError, read_model, write_model
from crossarc.parsers import Parser, load

__all__ = ["assert_refused_with"]


def assert_refused_with(change: Mapping[str, Any], parser: Parser, problem: str, folder: Path) -> None:
    """The parser's model is refused with these fields in its header."""
    parser.save(folder / "model")
    contents = read_model(folder / "model").components["parser"]
    write_model(folder / "changed", {"parser": contents._replace(header={**contents.header, **change})})
    with pytest.raises(ModelError, match=problem):
        load(folder / "changed")
