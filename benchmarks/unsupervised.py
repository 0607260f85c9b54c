"""How much of trees EM finds without seeing any: `python benchmarks/unsupervised.py [TREEBANK ...]`.

Needs Crossarc and the folder ../shared/treebanks. As in Klein & Manning (2004): sentences of at most 10 words when
punctuation is left out, with gold tags (UPOS). EM learns from those of train.conllu, with its default options and the
harmonic start, and never sees a tree; the table is of those of test.conllu. Writes docs/results/unsupervised.md. A
few minutes; on one core.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import time
from collections.abc import Iterable, Iterator

import numpy as np

import crossarc
from crossarc import Sentence
from crossarc.parsers import EpochReport, GenerativeConfig, TrainingListener, train
from crossarc.trees import sample_trees
from environment import PROJECT, commit

TREEBANKS = PROJECT.parent / "shared" / "treebanks"
RESULT = PROJECT / "docs" / "results" / "unsupervised.md"
LONGEST = 10

DEFAULT_TREEBANKS = [
    "Basque-BDT",
    "Danish-DDT",
    "English-EWT",
    "Hungarian-Szeged",
    "Portuguese-Bosque",
    "Slovenian-SSJ",
    "Swedish-Talbanken",
    "Turkish-IMST",
]
SYSTEMS = {
    "projective, STOP": GenerativeConfig(unsupervised=True),
    "projective": GenerativeConfig(unsupervised=True, stop=False),
    "non-projective, STOP": GenerativeConfig(unsupervised=True, projective=False),
    "non-projective": GenerativeConfig(unsupervised=True, projective=False, stop=False),
}
SUPERVISED = GenerativeConfig(symbols="upos", condition="direction")


class Speeds(TrainingListener):
    """Sentences of each iteration for a second of processor time: other programs may run at the same time."""

    def __init__(self, sentences: int) -> None:
        self.sentences = sentences
        self.of_iterations: list[float] = []
        self.begin = 0.0

    def begin_epoch(self, stage: str, epoch: int, words: int) -> None:
        self.begin = time.process_time()

    def end_epoch(self, report: EpochReport) -> None:
        self.of_iterations.append(self.sentences / (time.process_time() - self.begin))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", nargs="*", default=DEFAULT_TREEBANKS, metavar="TREEBANK")
    rows, speeds = [], []
    for treebank in parser.parse_args().treebanks:
        learn, test = (short_sentences(treebank, part) for part in ("train", "test"))
        cells = [accuracy(test, trees) for trees in baselines(test)]
        for config in SYSTEMS.values():
            listener = Speeds(len(learn))
            cells.append(accuracy(test, train(learn, config, listener=listener).trees(test)))
            speeds.append((treebank, statistics.median(listener.of_iterations), len(listener.of_iterations)))
        cells.append(accuracy(test, train(learn, SUPERVISED).trees(test)))
        rows.append((treebank, len(learn), len(test), cells))
        print(treebank, len(learn), len(test), *cells, *speeds[-len(SYSTEMS) :], flush=True)
    RESULT.write_text("\n".join([*accuracy_table(rows), *speed_table(speeds)]) + "\n")


def short_sentences(treebank: str, part: str) -> list[Sentence]:
    """Without punctuation; those with at most LONGEST words."""
    sentences = crossarc.read(TREEBANKS / treebank / f"{part}.conllu", trees=True)
    return [s for s in map(without_punctuation, sentences) if 0 < len(s) <= LONGEST]


def without_punctuation(sentence: Sentence) -> Sentence:
    """What depends on punctuation depends on its nearest ancestor that is none."""
    heads = sentence.heads
    kept = [0, *(m for m in range(1, len(heads)) if sentence.upos[m - 1] != "PUNCT")]
    place = {node: i for i, node in enumerate(kept)}
    new = [-1]
    for m in kept[1:]:
        h = int(heads[m])
        while h not in place:
            h = int(heads[h])
        new.append(place[h])
    words = [m - 1 for m in kept[1:]]
    stripped = Sentence.of([sentence.form[m] for m in words], upos=[sentence.upos[m] for m in words])
    return stripped.with_tree(new, ["dep"] * len(new))


def baselines(sentences: list[Sentence]) -> Iterator[list[Sentence]]:
    """Right-branching (each word's head is the word before), left-branching (after), random projective trees."""
    rng = np.random.default_rng(1)
    yield [s.with_tree(np.arange(len(s) + 1) - 1) for s in sentences]
    yield [s.with_tree([-1, *range(2, len(s) + 1), 0]) for s in sentences]
    yield [
        s.with_tree(sample_trees(np.zeros((len(s) + 1,) * 2), 1, rng=rng, single_root=True, projective=True)[0].heads)
        for s in sentences
    ]


def accuracy(gold: list[Sentence], found: Iterable[Sentence]) -> tuple[float, float]:
    """Shares of arcs that are found, and that are found in any direction; in percent."""
    directed = undirected = words = 0
    for right, tree in zip(gold, found, strict=True):
        arcs = {(int(h), m) for m, h in enumerate(tree.heads) if m}
        for m, h in enumerate(right.heads.tolist()):
            if m:
                words += 1
                directed += (h, m) in arcs
                undirected += (h, m) in arcs or (m, h) in arcs
    return 100 * directed / words, 100 * undirected / words


def accuracy_table(rows: list[tuple[str, int, int, list[tuple[float, float]]]]) -> list[str]:
    names = ["right", "left", "random", *(f"EM: {name}" for name in SYSTEMS), "from trees"]
    lines = [
        "# Trees from tagged sentences alone",
        "",
        f"Written by `python benchmarks/unsupervised.py`; {datetime.date.today().isoformat()}, at commit {commit()}.",
        "",
        f"Directed / undirected accuracy on test sentences of at most {LONGEST} words, punctuation removed, gold UPOS.",
        "EM with the harmonic start learns from the short sentences of the training set, without their trees. Its",
        "prior of 10 was chosen for the projective model with STOP, on five dev sets, by their trees; the other three",
        "models have the same prior, untuned, and may be better with another. Right: each word depends on the one",
        "before it; left: on the one after it; random: a projective tree, all alike. From trees: the projective model",
        "with STOP, over tags, counted from the trees of the same sentences: what such a model can reach.",
        "Non-projective is the model of McDonald & Satta (2007), §4.4; projective with STOP that of Klein & Manning",
        "(2004).",
        "",
        "| treebank | sentences: train, test | " + " | ".join(names) + " |",
        "| --- | --- |" + " ---: |" * len(names),
    ]
    lines += [
        f"| {treebank} | {learn:,}, {test:,} | " + " | ".join(map(pair, cells)) + " |"
        for treebank, learn, test, cells in rows
    ]
    means = [tuple(np.mean(column, axis=0)) for column in zip(*(cells for *_, cells in rows), strict=True)]
    return [*lines, "| mean | | " + " | ".join(map(pair, means)) + " |"]


def speed_table(speeds: list[tuple[str, float, int]]) -> list[str]:
    lines = [
        "",
        "## Speed of EM",
        "",
        "Sentences for a second of processor time (median of the iterations: expectations, maximisation, likelihood",
        "and the model made of them), and the number of iterations. The goal was more than 5,000.",
        "",
        "| treebank | " + " | ".join(SYSTEMS) + " |",
        "| --- |" + " ---: |" * len(SYSTEMS),
    ]
    for first in range(0, len(speeds), len(SYSTEMS)):
        group = speeds[first : first + len(SYSTEMS)]
        lines.append(f"| {group[0][0]} | " + " | ".join(f"{speed:,.0f} ({count})" for _, speed, count in group) + " |")
    return lines


def pair(cell: tuple[float, float]) -> str:
    return f"{cell[0]:.1f} / {cell[1]:.1f}"


if __name__ == "__main__":
    main()
