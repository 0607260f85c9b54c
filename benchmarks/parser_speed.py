"""How fast the parsers parse: `python benchmarks/parser_speed.py [TREEBANK]`, against UDPipe's on the same sentences.

Needs the models of `benchmarks/accuracy.py TREEBANK` and of `benchmarks/udpipe.py TREEBANK` in .benchmarks/, and pip
for an environment of its own. Parsers take turns on test.conllu, in one process and on one thread; sentences are read
before, and trees are not written. Medians of words per second.

Then the command line: `crossarc parse --jobs 1` and `--jobs 2` on the training set, once and four times over; the
difference of the two leaves start-up out.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from environment import PROJECT, commit, run_inside
from timing import medians_of_rounds

TREEBANKS = PROJECT.parent / "shared" / "treebanks"
KEPT = PROJECT / ".benchmarks"
RESULTS = PROJECT / "docs" / "results" / "parser-speed.md"

ROUNDS = 7
SYSTEMS = {"order 1": 5.0, "order 2": 2.0, "default": 2.0}  # with the ratios asked for


def main() -> None:
    run_inside("parsers", [["-e", "."], ["ufal.udpipe"]], [])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", nargs="?", default="Turkish-IMST", help="a folder of ../shared/treebanks")
    treebank = parser.parse_args().treebank
    lines = [*speed_table(treebank), "", *jobs_table(treebank)]
    print("\n".join(lines))
    RESULTS.write_text("\n".join(lines) + "\n")


def speed_table(treebank: str) -> list[str]:
    import crossarc

    path = TREEBANKS / treebank / "test.conllu"
    sentences = list(crossarc.read(path))
    words = sum(map(len, sentences))
    contestants: dict[str, Callable[[], object]] = {"UDPipe": udpipe(treebank, path)}
    for system in SYSTEMS:
        parser = crossarc.load(model(treebank, system)).parser
        contestants[system] = lambda parser=parser: list(parser.trees(sentences))
    for parse in contestants.values():
        parse()
    seconds = medians_of_rounds(contestants, ROUNDS)
    lines = [
        "# Speed of parsing",
        "",
        f"Written by `python benchmarks/parser_speed.py {treebank}` on {datetime.date.today()}, at commit {commit()}.",
        f"{treebank}, test set ({words:,} words), one thread, medians of {ROUNDS} rounds in one run.",
        "",
        "| parser | words per second | times UDPipe | goal |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, time_taken in seconds.items():
        goal = f"{SYSTEMS[name]:g} ×" if name in SYSTEMS else ""
        ratio = seconds["UDPipe"] / time_taken
        lines.append(f"| {name} | {words / time_taken:,.0f} | {ratio:.1f} × | {goal} |")
    return lines


def model(treebank: str, system: str) -> Path:
    path = KEPT / "models" / f"{treebank}.{system.replace(' ', '-')}.crossarc"
    if not path.exists():
        raise SystemExit(f"no model of {treebank}, {system}: run `python benchmarks/accuracy.py {treebank}` first")
    return path


def udpipe(treebank: str, path: Path) -> Callable[[], object]:
    import ufal.udpipe as ufal

    parser = ufal.Model.load(str(KEPT / "udpipe" / f"{treebank}.udpipe"))
    if parser is None:
        raise SystemExit(f"no UDPipe model of {treebank}: run `python benchmarks/udpipe.py {treebank}` first")
    reader = ufal.InputFormat.newInputFormat("conllu")
    reader.setText(path.read_text(encoding="utf-8"))
    sentences, sentence, error = [], ufal.Sentence(), ufal.ProcessingError()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = ufal.Sentence()
    return lambda: [parser.parse(sentence, ufal.Model.DEFAULT) for sentence in sentences]


def jobs_table(treebank: str) -> list[str]:
    text = (TREEBANKS / treebank / "train.conllu").read_bytes()
    words = sum(line[:1].isdigit() and b"-" not in line.split(b"\t")[0] for line in text.split(b"\n"))
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        once, often = Path(folder) / "once.conllu", Path(folder) / "often.conllu"
        once.write_bytes(text)
        often.write_bytes(text * 4)
        for jobs in (1, 2):
            seconds[jobs] = run(often, treebank, jobs) - run(once, treebank, jobs)
    rate = {jobs: 3 * words / taken for jobs, taken in seconds.items()}
    return [
        "## Several processes",
        "",
        "`crossarc parse --jobs N` with the default model, reading and writing included, start-up not.",
        "",
        "| jobs | words per second | times one job | goal |",
        "| ---: | ---: | ---: | ---: |",
        f"| 1 | {rate[1]:,.0f} | 1.00 × | |",
        f"| 2 | {rate[2]:,.0f} | {rate[2] / rate[1]:.2f} × | 1.7 × |",
    ]


def run(file: Path, treebank: str, jobs: int) -> float:
    command = [sys.executable, "-m", "crossarc", "parse", str(file), "-m", str(model(treebank, "default"))]
    start = time.perf_counter()
    subprocess.run([*command, "-o", str(file.with_suffix(".parsed")), "--jobs", str(jobs)], check=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
