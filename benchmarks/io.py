"""Reading and writing a treebank: Crossarc against the conllu package, in one run on one file.

    python benchmarks/io.py [FILE.conllu] [--rounds N]

Without a file it makes a random treebank of 5,000 sentences. Needs `pip install conllu`. Prints the median of
each side over interleaved rounds, and the ratio.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import tempfile
import time
from pathlib import Path

import conllu

import crossarc
from crossarc.testing import random_treebank


def ours(source: Path, target: Path) -> None:
    crossarc.write(crossarc.read(source), target)


def theirs(source: Path, target: Path) -> None:
    with source.open(encoding="utf-8") as lines, target.open("w", encoding="utf-8") as out:
        for sentence in conllu.parse_incr(lines):
            out.write(sentence.serialize())


def seconds(work, *paths: Path) -> float:
    gc.collect()  # neither side pays for the other's garbage
    start = time.perf_counter()
    work(*paths)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = options.file or Path(folder) / "random.conllu"
        if options.file is None:
            crossarc.write(random_treebank(5000, seed=1), source)
        target = Path(folder) / "out.conllu"
        times: dict[str, list[float]] = {"crossarc": [], "conllu": []}
        for _ in range(options.rounds):
            times["crossarc"].append(seconds(ours, source, target))
            lossless = target.read_bytes() == source.read_bytes()
            times["conllu"].append(seconds(theirs, source, target))
        words = sum(map(len, crossarc.read(source)))
        print(f"{source.name}: {words} words, {options.rounds} rounds, read and write, medians")
        for name, values in times.items():
            median = statistics.median(values)
            print(f"  {name:10} {median:8.3f} s   {words / median:10,.0f} words/s")
        ratio = statistics.median(times["conllu"]) / statistics.median(times["crossarc"])
        print(f"  Crossarc is {ratio:.1f} times as fast; byte-identical output: {'yes' if lossless else 'NO'}")


if __name__ == "__main__":
    main()
