from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from trained import trained


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A first-order parser that knows probabilities."""
    path = tmp_path_factory.mktemp("server") / "random-order-1.crossarc"
    trained("order 1").save(path)
    return path
