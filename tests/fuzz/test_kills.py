"""Writers that are killed, a few times; by hand, ``python tests/fuzz/kills.py --count 100``."""

from __future__ import annotations

import kills
import pytest


@pytest.mark.parametrize("name", ["stream", "model"])
def test_some_kills(name):
    outcomes = kills.run(name, 4)
    assert outcomes["old"] + outcomes["new"] == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["convert", "draw"])
def test_killed_commands(name):
    outcomes = kills.run(name, 5)
    assert outcomes["old"] + outcomes["new"] == 5
