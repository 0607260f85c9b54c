from __future__ import annotations

from pathlib import Path

import hypothesis
import pytest

TREEBANKS = Path(__file__).parents[2] / "shared" / "treebanks"
HANDMADE = Path(__file__).parent / "data" / "handmade.conllu"

# The first call of a kernel compiles it, and the machines are shared: no deadline is fair.
hypothesis.settings.register_profile("crossarc", deadline=None)
hypothesis.settings.load_profile("crossarc")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with parsers and trees, which compile different kernels; end with commands, which need them all."""
    order = ["parsers", "trees"]
    last = ["cli"]

    def rank(item: pytest.Item) -> int:
        folder = item.path.parent.name
        return order.index(folder) if folder in order else len(order) + (folder in last)

    items.sort(key=rank)


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
