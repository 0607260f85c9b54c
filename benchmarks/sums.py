"""Learning with sums over all trees: `python benchmarks/sums.py [TREEBANK ...] [--jobs 2] [--speed]`.

Needs Crossarc and the folder ../shared/treebanks. On each treebank two first-order parsers with the same features,
without a pruner, are trained with gold tags, by MIRA and as a log-linear model (crf); dev.conllu chooses the epoch and
the temperatures; test.conllu is parsed once by each: MIRA's best trees, the crf's best trees, the crf's min-risk trees.
The expected calibration error of the crf's arcs is that on test.conllu, too. On dev.conllu, 2 % of the heads are
replaced at random, to see how many of these `crossarc suspicious` puts first.

`--speed` measures epochs over English-EWT instead, in processor time: crf and MIRA with the same settings, those that
are the default of the one and of the other. An epoch is one of the heads and one of the labels, if these are learnt
apart; the pruner is trained before.

Figures are kept in docs/results/sums.json as soon as they are there (what is there is skipped unless `--again`); the
tables are docs/results/sums.md.
"""

from __future__ import annotations

import argparse
import datetime
import resource
import statistics
import time
from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np

import crossarc
from crossarc import Sentence
from crossarc.evaluation import evaluate
from crossarc.evaluation.calibration import expected_calibration_error
from crossarc.parsers import (
    PRESETS,
    EpochReport,
    ParseOptions,
    SpanningTreeConfig,
    SpanningTreeParser,
    TrainingListener,
)
from crossarc.parsers import train as train_parser
from crossarc.parsers.calibration import reliability_of
from crossarc.parsers.suspicious import suspects
from environment import PROJECT, commit
from kept import kept_figures

TREEBANKS = PROJECT.parent / "shared" / "treebanks"
RESULTS = PROJECT / "docs" / "results"
FIGURES = RESULTS / "sums.json"

CRF = PRESETS["ms2007"]
MIRA = replace(CRF, learner="mira")
SPEED = "English-EWT, epochs"
LEARNERS: list[Any] = ["crf", "mira"]
EPOCHS = 4
SETTINGS = {
    "all heads (the default of crf)": CRF,
    "pruned heads (the default of MIRA)": SpanningTreeConfig(order="1"),
}


def main() -> None:
    options = arguments()
    everything = sorted(folder.name for folder in TREEBANKS.iterdir() if folder.is_dir())
    treebanks = [SPEED] if options.speed else options.treebanks or everything
    work = {treebank: (speed if treebank == SPEED else figures, treebank) for treebank in treebanks}
    done = kept_figures(FIGURES, work, again=options.again, jobs=options.jobs)
    RESULTS.joinpath("sums.md").write_text("\n".join(tables(done)) + "\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "treebanks", nargs="*", metavar="TREEBANK", help="folders of ../shared/treebanks; all by default"
    )
    parser.add_argument("--speed", action="store_true", help="time epochs over English-EWT")
    parser.add_argument("--again", action="store_true", help="also what has figures")
    parser.add_argument("--jobs", type=int, default=1, help="treebanks side by side")
    return parser.parse_args()


def read(treebank: str, part: str) -> list[Sentence]:
    return list(crossarc.read(TREEBANKS / treebank / f"{part}.conllu", trees=True))


def figures(treebank: str) -> dict[str, Any]:
    """Train both, parse the test set in all ways."""
    train, dev, test = (read(treebank, part) for part in ("train", "dev", "test"))
    mira = train_parser(train, MIRA, dev=dev)
    crf = train_parser(train, CRF, dev=dev)
    assert crf.calibration is not None
    parsed = {
        "mira": list(mira.trees(test)),
        "crf": list(crf.trees(test)),
        "crf_min_risk": list(crf.trees(test, ParseOptions(decode="min-risk"))),
    }
    scores = {name: evaluate(test, trees).all_words for name, trees in parsed.items()}
    reliability = reliability_of(crf, test)
    return {
        **{name: [round(100 * s.uas.f1, 2), round(100 * s.las.f1, 2)] for name, s in scores.items()},
        "ece_arcs": round(expected_calibration_error(reliability["arcs"]), 4),
        "ece_labelled_arcs": round(expected_calibration_error(reliability["labelled arcs"]), 4),
        "temperature": round(crf.calibration.temperatures.arcs, 2),
        "found": round(100 * found_errors(crf, dev), 1),
        **dated(),
    }


def dated() -> dict[str, str]:
    return {"date": datetime.date.today().isoformat(), "commit": commit()}


def found_errors(parser: SpanningTreeParser, gold: list[Sentence]) -> float:
    """Give 2 % of the words a random head: the share of these among as many of the most suspicious words."""
    rng = np.random.default_rng(1)
    wrong, sentences = set(), []
    for i, sentence in enumerate(gold):
        heads = sentence.heads
        for word in range(1, len(heads)):
            if len(heads) > 2 and rng.random() < 0.02:
                heads[word] = rng.choice([h for h in range(len(heads)) if h not in (word, heads[word])])
                wrong.add((i, word))
        sentences.append(sentence.with_tree(heads))
    number = {id(sentence): i for i, sentence in enumerate(sentences)}
    first = suspects(parser, sentences)[: len(wrong)]
    return sum((number[id(suspect.sentence)], suspect.word) in wrong for suspect in first) / len(wrong)


class Clock(TrainingListener):
    """Processor seconds of each epoch, by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)

    def begin_epoch(self, stage: str, epoch: int, words: int) -> None:
        self.start = time.process_time()

    def end_epoch(self, report: EpochReport) -> None:
        self.seconds[report.stage].append(time.process_time() - self.start)


def speed(name: str) -> dict[str, Any]:
    """Median seconds of an epoch, the first left out: it is slower, as all heads are still likely."""
    train = read("English-EWT", "train")
    systems = {
        (setting, learner): replace(config, learner=learner, epochs=EPOCHS, patience=0)
        for setting, config in SETTINGS.items()
        for learner in LEARNERS
    }
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    for config in systems.values():
        train_parser(train[:5], replace(config, epochs=1))  # compiles what is not compiled yet
    for _ in range(2):
        for system, config in systems.items():
            clock = Clock()
            train_parser(train, config, listener=clock)
            stages = [clock.seconds[stage] for stage in ("heads", "labels") if stage in clock.seconds]
            seconds[system] += [sum(epochs) for epochs in zip(*stages, strict=True)][1:]
    medians = {system: round(statistics.median(times), 2) for system, times in seconds.items()}
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {
        "seconds": {setting: {learner: medians[setting, learner] for learner in LEARNERS} for setting in SETTINGS},
        "memory_gb": round(memory, 2),
        **dated(),
    }


def tables(done: dict[str, Any]) -> list[str]:
    found = {name: figures for name, figures in done.items() if name != SPEED}
    lines = [
        "# Learning with sums over all trees",
        "",
        f"Made by `python benchmarks/sums.py`, {made(done.values())}. First order, all heads, gold tags; UAS / LAS "
        "on test; expected calibration error (ECE) of the log-linear model's arcs and labelled arcs on test, with the "
        "temperature fitted on dev. Found: if 2 % of the heads of dev are replaced at random, the share of these among "
        "the 2 % that are most suspicious to the log-linear model.",
        "",
        "| treebank | MIRA, best | crf, best | crf, min-risk | ECE arcs | ECE labelled | temperature | found |",
        "| --- | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for name, row in sorted(found.items()):
        cells = [f"{row[system][0]:.2f} / {row[system][1]:.2f}" for system in ("mira", "crf", "crf_min_risk")]
        cells += [f"{row[error]:.4f}" for error in ("ece_arcs", "ece_labelled_arcs")]
        cells += [f"{row['temperature']:.2f}", f"{row['found']:.0f} %"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    means = [
        " / ".join(f"{statistics.mean(row[system][i] for row in found.values()):.2f}" for i in range(2))
        for system in ("mira", "crf", "crf_min_risk")
    ]
    lines.append(f"| **mean** | {' | '.join(means)} | | | | |")
    return [*lines, "", *speed_table(done[SPEED])] if SPEED in done else lines


def speed_table(row: dict[str, Any]) -> list[str]:
    return [
        "## An epoch over English-EWT",
        "",
        f"`python benchmarks/sums.py --speed`, {made([row])}: processor seconds, median of {2 * (EPOCHS - 1)} epochs "
        f"(the first of a training is left out). Memory of the process: {row['memory_gb']} GB.",
        "",
        "| both with | crf | MIRA | ratio |",
        "| --- | --: | --: | --: |",
        *(
            f"| {setting} | {times['crf']:.2f} | {times['mira']:.2f} | {times['crf'] / times['mira']:.2f} |"
            for setting, times in row["seconds"].items()
        ),
    ]


def made(rows: Any) -> str:
    dates, commits = sorted({row["date"] for row in rows}), sorted({row["commit"] for row in rows})
    return f"{', '.join(dates)}, at {', '.join(commits)}"


if __name__ == "__main__":
    main()
