"""What `import crossarc` offers."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder

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


def test_the_metadata_name_the_licences_of_code_and_models():
    root = Path(__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["license"] == "Apache-2.0 AND CC-BY-SA-4.0"
    assert {about["licence"] for about in crossarc.models.available().values()} == {"CC-BY-SA-4.0"}
    texts = [(root / name).read_text("utf-8") for name in project["license-files"]]
    assert "Apache License" in texts[0]
    assert "CC BY-SA 4.0" in texts[1]


def test_the_source_archive_has_the_project_and_no_models_of_other_packages():
    root = Path(__file__).parents[1]
    files = {Path(file.relative_path) for file in SdistBuilder(str(root)).recurse_included_files()}
    assert {"src", "tests", "docs", "examples", "benchmarks", "models"} <= {file.parts[0] for file in files}
    models = {file.parent.as_posix() for file in files if file.suffix == ".crossarc"}
    assert models == {"src/crossarc/models/builtin"}
