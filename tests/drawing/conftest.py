from __future__ import annotations

from pathlib import Path

import pytest

import crossarc

HANDMADE = Path(__file__).parents[1] / "data" / "handmade.conllu"


@pytest.fixture(scope="session")
def handmade():
    return list(crossarc.read(HANDMADE))


@pytest.fixture(scope="session")
def handmade_sentence(handmade):
    """A hearing is scheduled on the issue today."""
    return handmade[0]
