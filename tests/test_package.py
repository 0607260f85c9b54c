"""What `import crossarc` offers."""

from __future__ import annotations

import subprocess
import sys

import pytest

import crossarc

EVERYTHING = """
import sys, crossarc
assert "numba" not in sys.modules
names = [name for name in dir(crossarc) if not name.startswith("_")]
for name in names:
    getattr(crossarc, name)
print(*names)
"""


def test_dir_shows_everything_there_is_and_nothing_else():
    """In a new process: what has been imported before must not matter."""
    shown = subprocess.run(
        [sys.executable, "-c", EVERYTHING], capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(crossarc.__all__) <= {*shown, "__version__"}
    assert {"trees", "parsers", "ilp", "evaluation", "drawing"} <= set(shown)
    assert not {"Any", "TYPE_CHECKING", "import_module"} & set(shown)
    assert [name for name in dir(crossarc) if not name.startswith("_")] == shown
    with pytest.raises(AttributeError, match="no attribute 'tree'"):
        _ = crossarc.tree
