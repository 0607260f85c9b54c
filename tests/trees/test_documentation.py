"""The examples of docs/trees.md."""

import doctest
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "trees.md"


def test_examples_run():
    results = doctest.testfile(str(DOCUMENT), module_relative=False)
    assert results.attempted > 20
    assert results.failed == 0
