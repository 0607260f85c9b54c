"""The page has the layout of the drawings: the same numbers for random trees."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from crossarc.drawing.layout import Spacing, centred, layout
from crossarc.testing import random_tree

LAYOUT = Path(__file__).parents[2] / "src" / "crossarc" / "server" / "page" / "layout.js"
SCRIPT = """
import { placesOf, SPACING } from "%s";
import { readFileSync } from "node:fs";
const trees = JSON.parse(readFileSync(0, "utf8"));
const arcsOf = (pairs) => pairs.map(([head, word]) => ({ head, word }));
const found = trees.map(({ words, arcs, labels }) => placesOf(words, arcsOf(arcs), labels));
console.log(JSON.stringify({ spacing: SPACING, found }));
"""


def random_trees(count):
    rng = np.random.default_rng(5)
    for _ in range(count):
        n = int(rng.integers(0, 25))
        heads = random_tree(n, rng=rng, single_root=False) if n else [-1]
        yield {
            "words": rng.integers(1, 90, n).tolist(),
            "arcs": [(int(heads[word]), word) for word in range(1, n + 1)],
            "labels": rng.integers(0, 90, n).tolist(),
        }


def test_it_is_that_of_drawings():
    if shutil.which("node") is None:
        pytest.skip("no node")
    trees = list(random_trees(300))
    command = ["node", "--input-type=module", "-e", SCRIPT % LAYOUT.as_uri()]
    result = subprocess.run(command, input=json.dumps(trees), capture_output=True, text=True, check=True)
    reply = json.loads(result.stdout)
    spacing = Spacing(**reply["spacing"])
    for tree, found in zip(trees, reply["found"], strict=True):
        expected = layout([centred(width) for width in tree["words"]], tree["arcs"], tree["labels"], spacing)
        assert found["centres"] == list(expected.words)
        assert (found["width"], found["layers"]) == (expected.width, expected.layers)
        places = [{"layer": a.layer, "from": a.head, "to": a.dependent, "label": a.label} for a in expected.arcs]
        assert found["places"] == places
