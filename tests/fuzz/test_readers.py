"""The fuzzers of readers, for a moment; ``-m slow`` runs the command itself for longer."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
import readers


def test_some_inputs():
    outcomes = readers.run(seed=1, number=1000)
    assert outcomes.total() == 1000
    assert min(outcomes["read"], outcomes["refused"]) > 300


@pytest.mark.slow
def test_many_inputs_in_flat_memory():
    command = [sys.executable, readers.__file__, "--count", "10000", "--seed", "2"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    found = re.fullmatch(r"seed 2: (\d+) read, (\d+) refused, (\d+) MB at most\n", result.stdout)
    assert found
    assert int(found[1]) + int(found[2]) == 10000
    assert int(found[3]) < 400  # it is 285 MB, of which 210 are there after the first few
