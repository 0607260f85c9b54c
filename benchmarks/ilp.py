"""Table 1 of Martins, Smith and Xing (2009): `python benchmarks/ilp.py [TREEBANK ...] [--sentences 1000] [--jobs 2]`.

Needs Crossarc and the folder ../shared/treebanks. For each treebank, parsers with more and more parts are trained on
some sentences of train.conllu with gold tags (relaxed programs, `--epochs`); 200 sentences of dev.conllu choose the
epoch. Some sentences of test.conllu (`--test`) are parsed exactly and relaxed, on one core. Where not all are taken, it
is every second, third ... of the file.

`--rules` measures instead how fast the built-in model en-fast parses English-EWT dev under the rules of docs/ilp.md
(without those of single sentences), 5 seconds for a sentence at most; how long sentences of several lengths take, made
of sentences of dev one after the other, and how much memory (each in a process of its own: `--memory LENGTH`); and how
well time limits are kept under the rules, all clocks showing processor time: docs/results/ilp_rules.md.

Figures are kept in docs/results/ilp.json as soon as a run is done (one that is there is skipped unless `--again`). The
table is docs/results/ilp.md. Seconds are of processor time, with compiled kernels.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

import crossarc
from crossarc import Sentence
from crossarc.evaluation import evaluate
from crossarc.ilp import deadline
from crossarc.ilp.rule_file import RuleFile
from crossarc.parsers import IlpConfig, IlpParser, ParseOptions
from crossarc.parsers import train as train_parser
from crossarc.parsers.linear.integer_program import solve_sentence
from environment import PROJECT, commit
from kept import kept_figures
from pruned import Pruned

TREEBANKS = PROJECT.parent / "shared" / "treebanks"
RESULTS = PROJECT / "docs" / "results"
FIGURES = RESULTS / "ilp.json"

DEFAULT_TREEBANKS = ["Turkish-IMST", "Danish-DDT", "Slovenian-SSJ", "Swedish-Talbanken", "Portuguese-Bosque"]
SYSTEMS = {
    "arc-factored": "arc",
    "+ siblings, grandparents": "arc,sibling,grandparent,next-sibling,first-child",
    "+ valency": "arc,sibling,grandparent,next-sibling,first-child,valency",
    "+ non-projective (full)": "arc,sibling,grandparent,next-sibling,first-child,valency,nonprojective",
}
DEV = 200  # sentences
TIME_LIMIT = 20.0  # seconds for the exact tree of a sentence
LENGTHS = (30, 60, 120, 250)  # words
LIMITS = (0.2, 1.0, 5.0)  # seconds


class Run(NamedTuple):
    treebank: str
    system: str
    sentences: int
    test: int
    epochs: int

    @property
    def name(self) -> str:
        return f"{self.treebank}, {self.system}"


def main() -> None:
    options = arguments()
    if options.memory:
        print(peak_memory(options.memory))
        return
    if options.rules:
        RESULTS.joinpath("ilp_rules.md").write_text("\n".join(rules_table(options.test)) + "\n")
        return
    runs = [
        Run(treebank, system, options.sentences, options.test, options.epochs)
        for treebank in options.treebanks or DEFAULT_TREEBANKS
        for system in options.systems or SYSTEMS
    ]
    done = kept_figures(FIGURES, {run.name: (figures, run) for run in runs}, again=options.again, jobs=options.jobs)
    RESULTS.joinpath("ilp.md").write_text("\n".join(table(done)) + "\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", nargs="*", metavar="TREEBANK", help="folders of ../shared/treebanks")
    parser.add_argument("--rules", action="store_true", help="only parsing under rules; --test sentences of dev")
    parser.add_argument("--memory", type=int, metavar="LENGTH", help="only the peak memory of a sentence, in MB")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, help="only these")
    parser.add_argument("--sentences", type=int, default=1000, help="of train.conllu")
    parser.add_argument("--test", type=int, default=500, help="sentences of test.conllu")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--again", action="store_true", help="also what has figures")
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side")
    return parser.parse_args()


def figures(run: Run) -> dict[str, Any]:
    """Train, parse the test set exactly and relaxed, score."""
    config = IlpConfig(parts=SYSTEMS[run.system], epochs=run.epochs)
    train, dev, test = some(run, "train", run.sentences), some(run, "dev", DEV), some(run, "test", run.test)
    train_parser(train[:5], IlpConfig(parts=config.parts, epochs=1))  # compiles what is not compiled yet
    pruned = Pruned()
    start = time.process_time()
    parser = train_parser(train, config, dev=dev, listener=pruned)
    seconds = time.process_time() - start
    return {
        "train_sentences": len(train),
        "test_sentences": len(test),
        "epochs": run.epochs,
        "training_seconds": round(seconds, 1),
        "candidates": round(pruned.candidates, 2),
        "recall": round(100 * pruned.recall, 2),
        "exact": parsed(parser, test, exact=True),
        "relaxed": parsed(parser, test, exact=False),
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
    }


def some(run: Run, part: str, count: int) -> list[Sentence]:
    sentences = list(crossarc.read(TREEBANKS / run.treebank / f"{part}.conllu", trees=True))
    return sentences[:: max(len(sentences) // count, 1)][:count]


def parsed(parser: IlpParser, test: list[Sentence], *, exact: bool) -> dict[str, Any]:
    start = time.process_time()
    options: dict[str, Any] = {"kinds": parser.config.kinds, "exact": exact, "time_limit": TIME_LIMIT}
    solved = [solve_sentence(parser.linear, sentence, **options) for sentence in test]
    seconds = time.process_time() - start
    scores = evaluate(test, [found.sentence for found in solved]).all_words
    return {
        "uas": round(100 * scores.uas.f1, 2),
        "las": round(100 * scores.las.f1, 2),
        "seconds_per_sentence": round(seconds / len(test), 4),
        "status": dict(Counter(found.solution.status for found in solved)),
    }


def rules_table(count: int) -> list[str]:
    """Speed under the documented rules, and by length without rules."""
    parser = crossarc.load("en-fast").parser
    dev = some(Run("English-EWT", "", 0, 0, 0), "dev", count)
    written = re.search(r"## Rules.*?```\n(.*?)```", PROJECT.joinpath("docs", "ilp.md").read_text(), re.DOTALL)
    assert written is not None
    lines = [line for line in written[1].splitlines() if not line.startswith("s17:")]
    rules = ParseOptions(rules=RuleFile("\n".join(lines), "docs/ilp.md"))
    list(parser.parse([dev[0], dev[-1]], rules))  # compiles what is not compiled yet
    seconds_for(parser, dev, LENGTHS[0])
    start = time.process_time()
    found = list(parser.parse(dev, rules))
    seconds = time.process_time() - start
    statuses = Counter("no tree" if one.status is None else one.status.partition(" (")[0] for one in found)
    return [
        "# Rules",
        "",
        f"Written by `python benchmarks/ilp.py --rules` ({datetime.date.today().isoformat()}, commit {commit()}).",
        "",
        f"{len(dev)} sentences of English-EWT dev, the built-in model `en-fast`, the rules of [ilp.md](../ilp.md)",
        f"without those of single sentences: {len(dev) / seconds:.1f} sentences a second (processor time of one core);",
        f"{', '.join(f'{number} {status}' for status, number in statuses.most_common())}.",
        "",
        "Relaxed, without rules; the memory is that of the whole process at its peak, with the model:",
        "",
        "| words | seconds | MB |",
        "| ---: | ---: | ---: |",
        *(f"| {n} | {seconds_for(parser, dev, n):.2f} | {memory_of_process(n)} |" for n in LENGTHS),
        "",
        "Time limits under these rules, in processor time. The sentences are made of others, and the rules hardly fit;",
        "branch and bound keeps time by the wall's clock, and so ends early on a busy machine:",
        "",
        "| words | limit | relaxed: seconds, status | exact: seconds, status |",
        "| ---: | ---: | --- | --- |",
        *(limits_row(parser, long_sentence(dev, n), limit, rules) for n in LENGTHS[:3] for limit in LIMITS),
    ]


def memory_of_process(length: int) -> str:
    """The peak memory of a fresh process that parses a sentence of that length."""
    command = [sys.executable, __file__, "--memory", str(length)]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()


def peak_memory(length: int) -> int:
    """Of this process, in MB, when it has parsed a sentence of that length."""
    dev = some(Run("English-EWT", "", 0, 0, 0), "dev", 500)
    seconds_for(crossarc.load("en-fast").parser, dev, length)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def limits_row(parser: Any, sentence: Sentence, limit: float, rules: ParseOptions) -> str:
    """How long a sentence takes with a time limit, relaxed and exact."""
    cells = []
    for exact in (False, True):
        deadline.now = time.process_time  # what others do on the machine counts for nothing
        start = time.process_time()
        (found,) = parser.parse([sentence], replace(rules, exact=exact, time_limit=limit))
        seconds = time.process_time() - start
        cells.append(f"{seconds:.2f}, {'no tree' if found.status is None else found.status.partition(' (')[0]}")
    return f"| {len(sentence)} | {limit:g} | {' | '.join(cells)} |"


def seconds_for(parser: Any, dev: list[Sentence], length: int) -> float:
    """Processor time of a relaxed program for a long sentence, made of others; without rules."""
    sentence = long_sentence(dev, length)
    start = time.process_time()
    solve_sentence(parser, sentence, exact=False)
    return time.process_time() - start


def long_sentence(dev: list[Sentence], length: int) -> Sentence:
    """A sentence made of others, one after the other."""
    columns: dict[str, list[str]] = {name: [] for name in ("form", "lemma", "upos", "xpos", "feats")}
    for sentence in dev:
        for name, column in columns.items():
            column += getattr(sentence, name)
    form = columns.pop("form")[:length]
    return Sentence.of(form, **{name: column[:length] for name, column in columns.items()})


def table(done: dict[str, Any]) -> list[str]:
    dates = sorted({f["date"] for f in done.values()})
    commits = sorted({f["commit"] for f in done.values()})
    lines = [
        "# Integer programs",
        "",
        f"Written by `python benchmarks/ilp.py` ({', '.join(dates)}, commits {', '.join(commits)}).",
        "",
        "Evenly spaced sentences of the training and test sets, as many as the table says; 200 of dev chose the epoch.",
        "Gold tags, all words, seed 1. Seconds per sentence: processor time of one core, 20 at most for an exact tree.",
        "Integral: the relaxation is a tree, and so the best one.",
        "",
        "| treebank | sentences: train, test | epochs | parts | pruner: heads a word, recall | UAS exact | "
        "UAS relaxed | integral | s exact | s relaxed | training s |",
        "| --- | --- | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    treebanks = sorted({name.partition(", ")[0] for name in done})
    for treebank, system in itertools.product(treebanks, SYSTEMS):
        f = done.get(f"{treebank}, {system}")
        if f is None:
            continue
        exact, relaxed = f["exact"], f["relaxed"]
        integral = relaxed["status"].get("integral", 0) / f["test_sentences"]
        lines.append(
            f"| {treebank} | {f['train_sentences']}, {f['test_sentences']} | {f['epochs']} | {system} | "
            f"{f['candidates']}, {f['recall']} % | {exact['uas']:.2f} | "
            f"{relaxed['uas']:.2f} ({relaxed['uas'] - exact['uas']:+.2f}) | {100 * integral:.0f} % | "
            f"{exact['seconds_per_sentence']:.3f} | {relaxed['seconds_per_sentence']:.3f} | "
            f"{f['training_seconds']:.0f} |"
        )
    return lines


if __name__ == "__main__":
    main()
