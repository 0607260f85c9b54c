"""The scripts in examples/ run, and end with what they are about."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
EXAMPLES = Path(__file__).parents[1] / "examples"


def output_of(name):
    command = [sys.executable, "-W", "error::DeprecationWarning:__main__", str(EXAMPLES / name)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_all_of_them_are_here_and_in_the_list():
    scripts = {path.name for path in EXAMPLES.glob("*.py")}
    assert scripts == set(re.findall(r"\]\((\w+\.py)\)", (EXAMPLES / "README.md").read_text(encoding="utf-8")))
    assert scripts == set(re.findall(r'output_of\("(\w+\.py)"\)', Path(__file__).read_text(encoding="utf-8")))


def test_crossing_arcs():
    assert re.match(r"\d+ of 3490 arcs are non-projective:\n  amod", output_of("crossing_arcs.py"))


def test_train_and_correct():
    before, after = re.findall(r"^(?:before|after): (\d+) of", output_of("train_and_correct.py"), re.MULTILINE)
    assert int(after) > int(before)


def test_own_scorer():
    likelihoods = re.findall(r"log p of a tree +(-?[\d.]+)", output_of("own_scorer.py"))
    assert len(likelihoods) == 5
    assert float(likelihoods[-1]) > float(likelihoods[0])


def test_spacy_pipeline():
    pytest.importorskip("spacy", reason="spaCy is not installed: pip install '.[spacy]'")
    if not entry_points(group="spacy_factories", name="crossarc"):
        pytest.skip("Crossarc was installed before it had the entry point: pip install -e . again")
    assert "hearing" in output_of("spacy_pipeline.py").splitlines()[-1]
