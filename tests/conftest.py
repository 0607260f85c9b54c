from __future__ import annotations

from pathlib import Path

import pytest

TREEBANKS = Path(__file__).parents[2] / "shared" / "treebanks"
HANDMADE = Path(__file__).parent / "data" / "handmade.conllu"


@pytest.fixture(scope="session")
def treebanks() -> Path:
    """The folder of real treebanks beside the project; tests that need it are skipped where it is absent."""
    if not TREEBANKS.is_dir():
        pytest.skip("no ../shared/treebanks beside the project")
    return TREEBANKS


@pytest.fixture(scope="session")
def treebank_files(treebanks) -> list[Path]:
    return sorted(treebanks.glob("*/*.conllu"))


@pytest.fixture(scope="session")
def handmade() -> Path:
    """Our own hand-made treebank."""
    return HANDMADE
