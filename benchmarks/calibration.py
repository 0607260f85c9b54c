"""How honest the default parser's probabilities are: `python benchmarks/calibration.py [TREEBANK ...]`.

Needs Crossarc and the folder ../shared/treebanks. On each treebank the parser with default settings is trained with
gold tags and calibrated on dev.conllu; the expected calibration error of its arcs and labelled arcs is that on
test.conllu, which nothing has been fitted to. There, too, 2 % of the heads, and then of the labels, are replaced at
random, to see how many of these `crossarc suspicious` puts first. `--models` takes trained parsers from a folder, in
files named as the treebanks, and calibrates them anew.

Figures are kept in docs/results/calibration.json as soon as they are there (what is there is skipped unless `--again`);
the table is docs/results/calibration.md.
"""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path
from typing import Any

import numpy as np

import crossarc
from crossarc import Sentence
from crossarc.evaluation.calibration import Calibration, expected_calibration_error
from crossarc.parsers import SpanningTreeConfig, SpanningTreeParser
from crossarc.parsers import load as load_parser
from crossarc.parsers import train as train_parser
from crossarc.parsers.calibration import reliability_of
from crossarc.parsers.suspicious import Kind, suspects
from environment import PROJECT, commit
from kept import kept_figures

TREEBANKS = PROJECT.parent / "shared" / "treebanks"
RESULTS = PROJECT / "docs" / "results"
DEFAULT = ["Danish-DDT", "German-mix", "Hungarian-Szeged", "Slovenian-SSJ", "Swedish-Talbanken", "Turkish-IMST"]
ERRORS = 0.02  # the share of words that get a wrong head or label


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", nargs="*", metavar="TREEBANK", default=DEFAULT)
    parser.add_argument("--models", type=Path, help="a folder with trained parsers")
    parser.add_argument("--again", action="store_true", help="also what has figures")
    parser.add_argument("--jobs", type=int, default=1, help="treebanks side by side")
    options = parser.parse_args()
    work = {treebank: (figures, treebank, options.models) for treebank in options.treebanks}
    done = kept_figures(RESULTS / "calibration.json", work, again=options.again, jobs=options.jobs)
    RESULTS.joinpath("calibration.md").write_text("\n".join(table(done)) + "\n")


def figures(treebank: str, models: Path | None) -> dict[str, Any]:
    """Train (or load), calibrate on dev, measure on test."""
    dev, test = read(treebank, "dev"), read(treebank, "test")
    if models is None:
        parser: Any = train_parser(read(treebank, "train"), SpanningTreeConfig(), dev=dev)
    else:
        parser = load_parser(models / treebank).calibrated(dev)
    assert isinstance(parser, SpanningTreeParser)
    assert parser.calibration is not None
    without = SpanningTreeParser(parser.config, parser.scorer, calibration=Calibration(parser.calibration.temperatures))
    return {
        "temperatures_only": errors_of(without, test),
        "with_curves": errors_of(parser, test),
        "found_heads": found(parser, *with_wrong_heads(test), "head"),
        "found_labels": found(parser, *with_wrong_labels(test, parser.labels), "label"),
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
    }


def read(treebank: str, part: str) -> list[Sentence]:
    return list(crossarc.read(TREEBANKS / treebank / f"{part}.conllu", trees=True))


def errors_of(parser: SpanningTreeParser, gold: list[Sentence]) -> list[float]:
    """The expected calibration errors of arcs and labelled arcs."""
    return [round(expected_calibration_error(bins), 4) for bins in reliability_of(parser, gold).values()]


def with_wrong_heads(gold: list[Sentence]) -> tuple[list[Sentence], set[tuple[int, int]]]:
    """The sentences with random heads for some words, and which words these are."""
    rng = np.random.default_rng(1)
    wrong, sentences = set(), []
    for i, sentence in enumerate(gold):
        heads = sentence.heads
        for word in range(1, len(heads)):
            if len(heads) > 2 and rng.random() < ERRORS:
                heads[word] = rng.choice([h for h in range(len(heads)) if h not in (word, heads[word])])
                wrong.add((i, word))
        sentences.append(sentence.with_tree(heads))
    return sentences, wrong


def with_wrong_labels(gold: list[Sentence], labels: tuple[str, ...]) -> tuple[list[Sentence], set[tuple[int, int]]]:
    """The sentences with random labels for some words, and which words these are."""
    rng = np.random.default_rng(1)
    wrong, sentences = set(), []
    for i, sentence in enumerate(gold):
        own = ["_", *sentence.deprel]
        for word in range(1, len(own)):
            if rng.random() < ERRORS:
                own[word] = str(rng.choice([label for label in labels if label != own[word]]))
                wrong.add((i, word))
        sentences.append(sentence.with_tree(sentence.heads, own))
    return sentences, wrong


def found(
    parser: SpanningTreeParser, sentences: list[Sentence], wrong: set[tuple[int, int]], kind: Kind
) -> list[float]:
    """How many percent of the wrong words are among as many suspicious ones, in lists of that kind and of both."""
    number = {id(sentence): i for i, sentence in enumerate(sentences)}
    lists = [suspects(parser, sentences, kinds=kinds)[: len(wrong)] for kinds in ([kind], ["head", "label"])]
    counts = [sum((number[id(one.sentence)], one.word) in wrong for one in listed) for listed in lists]
    return [round(100 * count / len(wrong), 1) for count in counts]


def table(done: dict[str, Any]) -> list[str]:
    dates, commits = ({row[key] for row in done.values()} for key in ("date", "commit"))
    lines = [
        "# Calibration of the default parser",
        "",
        f"Made by `python benchmarks/calibration.py`, {', '.join(sorted(dates))}, at {', '.join(sorted(commits))}. "
        "Order high, labels in a second stage, gold tags. Expected calibration error (ECE) of arcs / labelled arcs on "
        "test, with temperatures only and with curves; both are fitted on dev. Found: if 2 % of the heads (labels) of "
        "test are replaced at random, the share of these among the 2 % of words that are most suspicious, in the list "
        "of heads (labels) only / of both.",
        "",
        "| treebank | ECE, temperatures | ECE, curves | heads found | labels found |",
        "| --- | --: | --: | --: | --: |",
    ]
    for treebank, row in done.items():
        cells = [" / ".join(f"{error:.4f}" for error in row[key]) for key in ("temperatures_only", "with_curves")]
        cells += [" / ".join(f"{share:.0f} %" for share in row[key]) for key in ("found_heads", "found_labels")]
        lines.append(f"| {treebank} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    main()
