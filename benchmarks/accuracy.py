"""How well the parsers parse: `python benchmarks/accuracy.py [TREEBANK ...] [--jobs 2]`.

Needs Crossarc and the folder ../shared/treebanks. For each treebank, parsers of order 1, order 2 and the default one
are trained on train.conllu with gold tags; dev.conllu chooses the epoch; test.conllu is parsed once. Where arcs cross
often, the
default parser is trained a second time without crossing arcs. `--curve` trains the default parser on the first 100,
300, 1000 and 3000 sentences of three treebanks instead.

Figures are kept in docs/results/accuracy.json as soon as a run is done (one that is there is skipped unless
`--again`), the models in .benchmarks/models/. The tables are docs/results/accuracy.md and
docs/results/learning-curve.md; UDPipe's figures come from docs/results/udpipe.json (see udpipe.py). Seconds are of
processor time, with compiled kernels.
"""

from __future__ import annotations

import argparse
import datetime
import json
import resource
import time
from pathlib import Path
from typing import Any, NamedTuple

import crossarc
from crossarc import Sentence
from crossarc.evaluation import evaluate
from crossarc.parsers import SpanningTreeConfig, train
from crossarc.trees import is_projective
from environment import PROJECT, commit
from kept import kept_figures

TREEBANKS = PROJECT.parent / "shared" / "treebanks"
MODELS = PROJECT / ".benchmarks" / "models"
RESULTS = PROJECT / "docs" / "results"
FIGURES = RESULTS / "accuracy.json"

DEFAULT_TREEBANKS = [
    "Turkish-IMST",
    "Hungarian-Szeged",
    "Danish-DDT",
    "Swedish-Talbanken",
    "Basque-BDT",
    "Slovenian-SSJ",
    "English-EWT",
    "Dutch-Alpino",
]
CROSSING = ["Basque-BDT", "Danish-DDT", "Dutch-Alpino"]
CURVES = ["Turkish-IMST", "Basque-BDT", "English-EWT"]
SIZES = [100, 300, 1000, 3000]

SYSTEMS = {
    "order 1": SpanningTreeConfig(order="1"),
    "order 2": SpanningTreeConfig(order="2"),
    "default": SpanningTreeConfig(),
    "default, projective": SpanningTreeConfig(projective=True),
}


class Run(NamedTuple):
    treebank: str
    system: str
    size: int | None = None  # sentences; None for all

    @property
    def name(self) -> str:
        return f"{self.treebank}, {self.system}" + (f", {self.size} sentences" if self.size else "")

    @property
    def model(self) -> Path:
        return MODELS / f"{self.name.replace(', ', '.').replace(' ', '-')}.crossarc"


def main() -> None:
    options = arguments()
    work = {run.name: (figures, run) for run in runs(options)}
    done = kept_figures(FIGURES, work, again=options.again, jobs=options.jobs)
    write_tables(done)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", nargs="*", metavar="TREEBANK", help="folders of ../shared/treebanks")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, help="only these")
    parser.add_argument("--curve", action="store_true", help="the learning curve")
    parser.add_argument("--again", action="store_true", help="also what has figures")
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side")
    return parser.parse_args()


def runs(options: argparse.Namespace) -> list[Run]:
    if options.curve:
        return [Run(t, "default", size) for t in options.treebanks or CURVES for size in SIZES]
    return [
        Run(treebank, system)
        for treebank in options.treebanks or DEFAULT_TREEBANKS
        for system in options.systems or SYSTEMS
        if "projective" not in system or treebank in CROSSING
    ]


def figures(run: Run) -> dict[str, Any]:
    """Train, parse the test set, score."""
    parts = {
        part: list(crossarc.read(TREEBANKS / run.treebank / f"{part}.conllu", trees=True))
        for part in ("train", "dev", "test")
    }
    config = SYSTEMS[run.system]
    train(parts["train"][:5], config)  # compiles what is not compiled yet
    start = time.process_time()
    parser = train(parts["train"][: run.size], config, dev=parts["dev"])
    seconds = time.process_time() - start
    MODELS.mkdir(parents=True, exist_ok=True)
    parser.save(run.model)
    parsed = list(parser.trees(parts["test"]))
    scores = evaluate(parts["test"], parsed).all_words
    crossing = [i for i, sentence in enumerate(parts["test"]) if not is_projective(sentence.heads)]
    assert parser.dev is not None
    return {
        "uas": round(100 * scores.uas.f1, 2),
        "las": round(100 * scores.las.f1, 2),
        "uas_crossing": dev_scores([parts["test"][i] for i in crossing], [parsed[i] for i in crossing]),
        "dev_uas": round(100 * parser.dev.uas, 2),
        "dev_las": round(100 * parser.dev.las, 2),
        "training_seconds": round(seconds, 1),
        "memory_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        "model_mb": round(run.model.stat().st_size / 1e6, 1),
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
    }


def dev_scores(gold: list[Sentence], parsed: list[Sentence]) -> float | None:
    """UAS of the sentences with an arc that crosses others."""
    return round(100 * evaluate(gold, parsed).all_words.uas.f1, 2) if gold else None


def write_tables(done: dict[str, Any]) -> None:
    udpipe = json.loads((RESULTS / "udpipe.json").read_text())
    treebanks = sorted({name.split(",")[0] for name in done})
    RESULTS.joinpath("accuracy.md").write_text("\n".join(accuracy_table(done, udpipe, treebanks)) + "\n")
    RESULTS.joinpath("learning-curve.md").write_text("\n".join(curve_table(done, treebanks)) + "\n")


def accuracy_table(done: dict[str, Any], udpipe: dict[str, Any], treebanks: list[str]) -> list[str]:
    lines = [
        "# Accuracy of the spanning-tree parser",
        "",
        f"Written by `python benchmarks/accuracy.py`; {stamp(done)}.",
        "",
        "Test sets, gold tags, all words (punctuation included), seed 1; the epoch was chosen on dev.",
        "UDPipe: `ufal.udpipe`, swap, its own defaults (`benchmarks/udpipe.py`).",
        "",
        "| treebank | UDPipe | order 1 | order 2 | default (high) | default on dev | training s: 1, 2, high | GB |",
        "| --- | --- | --- | --- | --- | --- | --- | ---: |",
    ]
    for treebank in treebanks:
        found = [done.get(f"{treebank}, {system}") for system in ("order 1", "order 2", "default")]
        if not any(found):
            continue
        default = found[2]
        lines.append(
            f"| {treebank} | {pair(udpipe.get(treebank))} | {' | '.join(map(pair, found))} | "
            f"{default['dev_uas']:.2f} / {default['dev_las']:.2f}"
            if default
            else "–"
        )
        seconds = ", ".join(f"{f['training_seconds']:.0f}" if f else "–" for f in found)
        memory = max(f["memory_gb"] for f in found if f)
        lines[-1] += f" | {seconds} | {memory:.2f} |"
    lines += [
        "",
        "## Crossing arcs",
        "",
        "UAS on the test sentences that have a crossing arc, by the default parser and by one that may not cross arcs.",
        "",
        "| treebank | projective | non-projective | gain |",
        "| --- | ---: | ---: | ---: |",
    ]
    for treebank in treebanks:
        projective, free = done.get(f"{treebank}, default, projective"), done.get(f"{treebank}, default")
        if projective and free:
            low, high = projective["uas_crossing"], free["uas_crossing"]
            lines.append(f"| {treebank} | {low:.2f} | {high:.2f} | {high - low:+.2f} |")
    return lines


def curve_table(done: dict[str, Any], treebanks: list[str]) -> list[str]:
    lines = [
        "# Learning curve of the default parser",
        "",
        f"Written by `python benchmarks/accuracy.py --curve`; {stamp(done)}.",
        "",
        "Test UAS / LAS after training on the first sentences of the training set, and seconds of training.",
        "",
        "| treebank | " + " | ".join(f"{size} sentences" for size in SIZES) + " | all |",
        "| --- |" + " --- |" * (len(SIZES) + 1),
    ]
    for treebank in treebanks:
        found = [done.get(f"{treebank}, default, {size} sentences") for size in SIZES]
        if all(found):
            found.append(done.get(f"{treebank}, default"))
            cells = [f"{pair(f)} ({f['training_seconds']:.0f} s)" for f in found if f]
            lines.append(f"| {treebank} | {' | '.join(cells)} |")
    return lines


def stamp(done: dict[str, Any]) -> str:
    dates, commits = sorted({f["date"] for f in done.values()}), sorted({f["commit"] for f in done.values()})
    return f"{' to '.join(dict.fromkeys([dates[0], dates[-1]]))}, at commit {', '.join(commits)}"


def pair(figures: dict[str, Any] | None) -> str:
    return f"{figures['uas']:.2f} / {figures['las']:.2f}" if figures else "–"


if __name__ == "__main__":
    main()
