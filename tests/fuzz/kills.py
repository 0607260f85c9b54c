"""Commands that write, killed (SIGKILL) at random moments: the old file is there or the new one, and nothing else.

    python tests/fuzz/kills.py                                  # until it is interrupted
    python tests/fuzz/kills.py --count 100 --what convert draw

What a killed process leaves behind is cleared away by the next one that writes the same file.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import count
from pathlib import Path
from typing import NamedTuple

__all__ = ["SCENARIOS", "run"]

HANDMADE = Path(__file__).parents[1] / "data" / "handmade.conllu"
CROSSARC = [sys.executable, "-m", "crossarc"]

# Write one file and another by turns, for ever: most of the time is spent in writing.
STREAM = """
import sys
from crossarc.io.streams import open_output
for i in range(10**9):
    with open_output(sys.argv[1]) as stream:
        for _ in range(100):
            stream.write(b"%d" % (i % 2) * 10_000)
"""
MODEL = """
import sys
import numpy as np
from crossarc.models import Contents, write_model
for i in range(10**9):
    write_model(sys.argv[1], {"parser": Contents({}, {"weights": np.full(300_000, 1.0 + i % 2)})})
"""


class Scenario(NamedTuple):
    command: list[str]  # with {folder} for the folder of its files
    target: str  # the file that is written
    ends: bool = True  # by itself


SCENARIOS = {
    "stream": Scenario([sys.executable, "-c", STREAM, "{folder}/out"], "out", ends=False),
    "model": Scenario([sys.executable, "-c", MODEL, "{folder}/x.crossarc"], "x.crossarc", ends=False),
    "convert": Scenario([*CROSSARC, "convert", "{folder}/in.conllu", "-o", "{folder}/out.conllx"], "out.conllx"),
    "draw": Scenario([*CROSSARC, "draw", "{folder}/few.conllu", "-o", "{folder}/out.svg"], "out.svg"),
    "parse": Scenario([*CROSSARC, "parse", "{folder}/few.conllu", "-o", "{folder}/out.conllu"], "out.conllu"),
    "train": Scenario(
        [
            *(*CROSSARC, "train", "{folder}/few.conllu", "-m", "{folder}/x.crossarc", "--dev", "{folder}/few.conllu"),
            *("--epochs", "3", "--order", "1", "--hash-bits", "14", "--with", "segmenter,tagger"),
        ],
        "x.crossarc",
    ),
}


def run(name: str, number: int, seed: int = 1) -> Counter[str]:
    """Kill a command so many times; which file was there then. Raises ``AssertionError`` for any other."""
    scenario, rng = SCENARIOS[name], random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        treebank = HANDMADE.read_bytes()
        (folder / "few.conllu").write_bytes(treebank)
        (folder / "in.conllu").write_bytes(treebank * 200)
        before = sorted(path.name for path in folder.iterdir())
        versions, seconds = _versions(scenario, folder)
        outcomes: Counter[str] = Counter()
        for _ in range(number):
            (folder / scenario.target).write_bytes(versions["old"])
            _kill(scenario, folder, rng.uniform(0, seconds))
            found = (folder / scenario.target).read_bytes()
            assert found in versions.values(), "neither the old file nor the new one"
            outcomes["new" if found == versions["new"] else "old"] += 1
            outcomes["left behind"] += any(path.name.endswith(".part") for path in folder.iterdir())
        _check_cleared(scenario, folder, before)
    return outcomes


def _versions(scenario: Scenario, folder: Path) -> tuple[dict[str, bytes], float]:
    """The file before and after, and how long that takes."""
    target = folder / scenario.target
    start = time.monotonic()
    if scenario.ends:
        _run(scenario, folder)
        return {"old": b"old", "new": target.read_bytes()}, time.monotonic() - start
    found: set[bytes] = set()
    process = _start(scenario, folder)
    try:
        while len(found) < 2:
            time.sleep(0.01)
            if target.exists():
                found.add(target.read_bytes())
    finally:
        process.kill()
        process.wait()
    old, new = sorted(found)
    return {"old": old, "new": new}, 1.5 * (time.monotonic() - start)


def _check_cleared(scenario: Scenario, folder: Path, before: list[str]) -> None:
    """Run the command once more: no temporary file stays."""
    if scenario.ends:
        _run(scenario, folder)
        assert sorted(path.name for path in folder.iterdir()) == sorted([*before, scenario.target])
        return
    leftovers = set(folder.glob(".*.part"))
    process = _start(scenario, folder)
    while any(path.exists() for path in leftovers):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()


def _command(scenario: Scenario, folder: Path) -> list[str]:
    return [part.replace("{folder}", str(folder)) for part in scenario.command]


def _start(scenario: Scenario, folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(_command(scenario, folder), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def _run(scenario: Scenario, folder: Path) -> None:
    subprocess.run(_command(scenario, folder), check=True, capture_output=True)


def _kill(scenario: Scenario, folder: Path, after: float) -> None:
    process = _start(scenario, folder)
    time.sleep(after)
    process.kill()
    process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, help="kills of each command; without end if it is not given")
    parser.add_argument("--what", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    options = parser.parse_args()
    for seed in count(1) if options.count is None else [1]:
        for name in options.what:
            outcomes = run(name, options.count or 20, seed)
            print(f"{name}: {dict(outcomes)}", flush=True)


if __name__ == "__main__":
    main()
