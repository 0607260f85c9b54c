"""Degrees of non-projectivity: `python benchmarks/degrees.py [TREEBANK ...]` makes tables 1 to 3 of Nivre (2007).

Needs Crossarc and the folder ../shared/treebanks. For each treebank, two incremental parsers are trained on
train.conllu with gold tags, one on projective links only (d = 0) and one on all; dev.conllu chooses the epoch. The
second one parses test.conllu with d = 1, 2 and without a limit. Sentences are in memory when the clock starts; seconds
are the median of five runs that take turns, of processor time, on one thread. `--on dev` parses dev.conllu instead.

Figures are kept in docs/results/degrees.json as soon as a treebank is done (one that is there is skipped unless
`--again`); the tables are docs/results/degrees.md. With `--quick` (2 epochs) they are only printed.
"""

from __future__ import annotations

import argparse
import datetime
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import crossarc
from crossarc import Sentence
from crossarc.evaluation import Evaluation, compare, evaluate, treebank_statistics
from crossarc.parsers import ParseOptions
from crossarc.parsers import train as train_parser
from crossarc.parsers.covington.parser import CovingtonConfig, CovingtonParser
from environment import PROJECT, commit
from kept import kept_figures

TREEBANKS = PROJECT.parent / "shared" / "treebanks"
RESULTS = PROJECT / "docs" / "results"
FIGURES = RESULTS / "degrees.json"

DEFAULT_TREEBANKS = [
    "Basque-BDT",
    "Danish-DDT",
    "Dutch-Alpino",
    "English-EWT",
    "Hungarian-Szeged",
    "Portuguese-Bosque",
    "Slovenian-SSJ",
    "Turkish-IMST",
]
DEGREES = {"non-projective": None, "max degree 2": 2, "max degree 1": 1, "projective": 0}
RUNS = 5


def main() -> None:
    options = arguments()
    work = {treebank: (figures, treebank, options) for treebank in options.treebanks or DEFAULT_TREEBANKS}
    done = kept_figures(None if options.quick else FIGURES, work, again=options.again, jobs=1)
    text = "\n".join(tables(done)) + "\n"
    print(text)
    if not options.quick:
        RESULTS.joinpath("degrees.md").write_text(text)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", nargs="*", metavar="TREEBANK", help="folders of ../shared/treebanks")
    parser.add_argument("--on", choices=["dev", "test"], default="test", help="what is parsed")
    parser.add_argument("--again", action="store_true", help="also what has figures")
    parser.add_argument("--quick", action="store_true", help="2 epochs; print, write nothing")
    return parser.parse_args()


def figures(treebank: str, options: argparse.Namespace) -> dict[str, Any]:
    """Train both parsers, parse with each degree, score and time."""
    train, dev, gold = (read(treebank, part) for part in ("train", "dev", options.on))
    config = CovingtonConfig(epochs=2) if options.quick else CovingtonConfig()
    train_parser(train[:5], config)  # compiles what is not compiled yet
    start = time.process_time()
    free = train_parser(train, replace(config, projective=False), dev=dev)
    training_seconds = time.process_time() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    projective = train_parser(train, replace(config, projective=True), dev=dev)
    parsers = {name: projective if d == 0 else free for name, d in DEGREES.items()}
    evaluations = {
        name: evaluate(gold, parsers[name].trees(gold, ParseOptions(max_degree=d))) for name, d in DEGREES.items()
    }
    seconds = seconds_in_turn({name: parsing(parsers[name], gold, d) for name, d in DEGREES.items()})
    words = sum(map(len, gold))
    return {
        "statistics": treebank_statistics(train).as_dict(),
        "words": words,
        "training_seconds": round(training_seconds, 1),
        "training_megabytes": round(megabytes),
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "parsed": options.on,
        "degrees": {
            name: {
                **scores(evaluations[name], evaluations["projective"]),
                "seconds": round(seconds[name], 3),
                "links_per_word": round(parsers[name].count_links(gold, max_degree=d).sum() / words, 2),
            }
            for name, d in DEGREES.items()
        },
    }


def read(treebank: str, part: str) -> list[Sentence]:
    return list(crossarc.read(TREEBANKS / treebank / f"{part}.conllu", trees=True))


def parsing(parser: CovingtonParser, gold: list[Sentence], max_degree: int | None) -> Callable[[], object]:
    return lambda: list(parser.trees(gold, ParseOptions(max_degree=max_degree)))


def seconds_in_turn(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Medians; the calls take turns, so that the noise of the machine falls on all."""
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(RUNS):
        for name, call in calls.items():
            start = time.process_time()
            call()
            samples[name].append(time.process_time() - start)
    return {name: statistics.median(times) for name, times in samples.items()}


def scores(evaluation: Evaluation, baseline: Evaluation) -> dict[str, Any]:
    comparison = compare(baseline, evaluation, seed=1, samples=100)
    difference = next(d for d in comparison.differences if d.name == "UAS without punctuation")
    return {
        "uas": round(100 * difference.second, 2),
        "las": round(100 * evaluation.all_words.las.f1, 2),
        "error_reduction": round(100 * (difference.second - difference.first) / max(1 - difference.first, 1e-9), 2),
        "mcnemar": difference.mcnemar,
    }


def tables(done: dict[str, Any]) -> list[str]:
    dates = sorted({found["date"] for found in done.values()})
    commits = sorted({found["commit"] for found in done.values()})
    return [
        "# Incremental parsing with degrees of non-projectivity",
        "",
        f"Written by `python benchmarks/degrees.py`; {' to '.join(dict.fromkeys([dates[0], dates[-1]]))}, at commit "
        f"{', '.join(commits)}. The tables of Nivre (2007), with the linear classifier and gold tags, seed 1.",
        "",
        *data_table(done),
        "",
        *accuracy_table(done),
        "",
        *time_table(done),
    ]


def data_table(done: dict[str, Any]) -> list[str]:
    lines = [
        "## Table 1: training sets",
        "",
        "Tokens and sentences in thousands; NPT, NPS: % non-projective arcs and sentences; then % sentences of degree "
        "0, at most 1, at most 2.",
        "",
        "| treebank | Tok | Sen | T/S | Lem | CPoS | PoS | MSF | Dep | NPT | NPS | d = 0 | d ≤ 1 | d ≤ 2 |",
        "| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for treebank, found in done.items():
        s = found["statistics"]
        shares = [
            100 * sum(count for d, count in s["degrees"].items() if int(d) <= most) / s["sentences"]
            for most in range(3)
        ]
        lines.append(
            f"| {treebank} | {s['words'] / 1000:.0f} | {s['sentences'] / 1000:.1f} | {s['words_per_sentence']:.1f} | "
            f"{'yes' if s['has_lemmas'] else 'no'} | {s['upos_tags']} | {s['xpos_tags']} | {s['features']} | "
            f"{s['labels']} | {s['nonprojective_arcs_percent']:.1f} | {s['nonprojective_sentences_percent']:.1f} | "
            f"{' | '.join(f'{share:.1f}' for share in shares)} |"
        )
    return lines


def accuracy_table(done: dict[str, Any]) -> list[str]:
    lines = [
        "## Table 2: accuracy",
        "",
        "UAS without punctuation / LAS of all words; in brackets, % fewer errors (UAS) than the projective parser, "
        "with * where McNemar's test gives p < 0.05, ** p < 0.01.",
        "",
        "| treebank | parsed | " + " | ".join(DEGREES) + " |",
        "| --- | --- |" + " --- |" * len(DEGREES),
    ]
    for treebank, found in done.items():
        cells = []
        for name in DEGREES:
            f = found["degrees"][name]
            stars = "**" if f["mcnemar"] < 0.01 else "*" if f["mcnemar"] < 0.05 else ""
            gain = "" if name == "projective" else f" ({f['error_reduction']:+.1f}{stars})"
            cells.append(f"{f['uas']:.2f} / {f['las']:.2f}{gain}")
        lines.append(f"| {treebank} | {found['parsed']} | {' | '.join(cells)} |")
    return lines


def time_table(done: dict[str, Any]) -> list[str]:
    lines = [
        "## Table 3: parsing time",
        "",
        "Words a second, one thread, by processor time, on a machine that others used too; in brackets, % less time "
        "than the non-projective parser, and how often LINK asks the classifier, per word. Last columns: processor "
        "seconds and peak memory of training the non-projective parser.",
        "",
        "| treebank | " + " | ".join(DEGREES) + " | training s | MB |",
        "| --- |" + " --- |" * len(DEGREES) + " ---: | ---: |",
    ]
    for treebank, found in done.items():
        slowest = found["degrees"]["non-projective"]["seconds"]
        cells = []
        for f in found["degrees"].values():
            saved = 100 * (slowest - f["seconds"]) / slowest
            cells.append(f"{found['words'] / f['seconds']:,.0f} ({saved:.0f} %; {f['links_per_word']:.2f})")
        training = f"{found['training_seconds']:.0f} | {found['training_megabytes']}"
        lines.append(f"| {treebank} | {' | '.join(cells)} | {training} |")
    return lines


if __name__ == "__main__":
    main()
