"""The page finds wrong what crossarc validate finds wrong, in the same words."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from crossarc.io.conllu import format_sentence
from crossarc.io.validate import problems_by_sentence
from trained import TEST

SCRIPT = Path(__file__).parents[1] / "page" / "problems-of.js"


def broken(sentence: str, rng: random.Random) -> str:
    """The sentence with some damage."""
    rows = sentence.rstrip("\n").split("\n")
    for _ in range(rng.randint(1, 2)):
        i = rng.randrange(len(rows))
        cells = rows[i].split("\t")
        damage = rng.choice(["cell", "cell", "head", "deps", "id", "drop", "double", "columns", "empty", "comment"])
        if damage == "drop" and len(rows) > 1:
            del rows[i]
        elif damage == "double":
            rows.insert(i, rows[i])
        elif damage == "comment":
            rows.insert(i, "# late")
        elif damage == "columns":
            rows[i] = "\t".join(cells[:-1])
        elif len(cells) == 10:
            places = {"cell": rng.randrange(10), "head": 6, "deps": 8, "id": 0, "empty": rng.randrange(10)}
            values = ["_", "0", "1", "2", "3", "99", "x", "1:a|1:a", "3:a|2:b", "2:", "1-2", "2.1", "1.1"]
            cells[places.get(damage, 9)] = "" if damage == "empty" else rng.choice(values)
            rows[i] = "\t".join(cells)
    return "\n".join(rows) + "\n\n"


@pytest.mark.skipif(not shutil.which("node"), reason="no node")
def test_the_page_and_the_command_agree(tmp_path):
    rng = random.Random(7)
    sentences = [format_sentence(sentence) for sentence in TEST if len(sentence) <= 9] * 12
    path = tmp_path / "broken.conllu"
    path.write_text("".join(broken(sentence, rng) for sentence in sentences))
    result = subprocess.run(["node", SCRIPT], input=path.read_bytes(), capture_output=True, check=True)
    ours = [[problem.message for problem in found.problems] for found in problems_by_sentence(path)]
    # numbers of sentences are what the file is about as a whole
    theirs = json.loads(result.stdout)
    ours = [[message for message in some if "this sent_id was used" not in message] for some in ours]
    assert theirs == ours[: len(theirs)]
    assert sum(map(bool, theirs)) > 20
