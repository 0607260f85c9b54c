"""Enhanced dependencies from trees: `python benchmarks/enhanced.py [TREEBANK ...]`.

Needs Crossarc and the folder ../shared/treebanks. For each treebank, an enhancer is trained on train.conllu, and so is
a parser, with gold tags; dev.conllu chooses its epoch. Scores are ELAS and EULAS of test.conllu (`--on dev`: of
dev.conllu) as the official scorer counts them, for gold trees and for those of the parser, copied to DEPS as they are
and enhanced; once with empty nodes as they are, once collapsed, as in the IWPT shared tasks.

`--system neural` takes another parser. Figures are kept in docs/results/enhanced.json as soon as a treebank is done
(one that is there is skipped unless `--again`); the table is docs/results/enhanced.md. With `--quick` (500 sentences, 2
epochs) it is only printed.
"""

from __future__ import annotations

import argparse
import datetime
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from crossarc import Sentence
from crossarc.enhancing import Enhancer
from crossarc.evaluation import evaluate
from crossarc.evaluation.empty_nodes import collapse_empty_nodes
from crossarc.evaluation.graphs import tree_as_graph
from crossarc.parsers import SYSTEMS
from crossarc.parsers import train as train_parser
from environment import PROJECT, commit
from graphs import read, without_graph
from kept import kept_figures

RESULTS = PROJECT / "docs" / "results"
FIGURES = RESULTS / "enhanced.json"

DEFAULT_TREEBANKS = ["English-EWT", "Dutch-Alpino", "Czech-mix"]
SCORES = ("elas", "eulas", "collapsed_elas")


def main() -> None:
    options = arguments()
    names = options.treebanks or DEFAULT_TREEBANKS
    work = {f"{name} ({options.system})": (figures, name, options) for name in names}
    done = kept_figures(None if options.quick else FIGURES, work, again=options.again, jobs=1)
    text = "\n".join(table(done)) + "\n"
    print(text)
    if not options.quick:
        RESULTS.joinpath("enhanced.md").write_text(text)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", nargs="*", metavar="TREEBANK", help="folders of the treebanks")
    parser.add_argument("--on", choices=["dev", "test"], default="test", help="what is parsed")
    parser.add_argument("--system", choices=list(SYSTEMS), default="spanning-tree", help="the parser")
    parser.add_argument("--again", action="store_true", help="also what has figures")
    parser.add_argument("--quick", action="store_true", help="500 sentences, 2 epochs; print, write nothing")
    return parser.parse_args()


def figures(treebank: str, options: argparse.Namespace) -> dict[str, Any]:
    """Train, parse, enhance and score."""
    train, dev, gold = (read(treebank, part) for part in ("train", "dev", options.on))
    config = SYSTEMS[options.system].config()
    if options.quick:
        train, dev, config = train[:500], dev[:100], replace(config, epochs=2)
    start = time.process_time()
    enhancer = Enhancer.train(train)
    seconds = time.process_time() - start
    bare = list(map(without_graph, gold))
    parsed = list(train_parser(train, config, dev=dev).trees(bare))
    enhancer.apply(parsed[:100])  # the first call loads the kernels
    start = time.process_time()
    enhanced = enhancer.apply(parsed)
    speed = sum(map(len, gold)) / (time.process_time() - start)
    return {
        "words": sum(map(len, gold)),
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "parsed": options.on,
        "sentences": len(train),
        "seconds": round(seconds, 1),
        "words_per_second": round(speed),
        "las": round(100 * evaluate(gold, parsed).all_words.las.f1, 2),
        "gold": {"copied": scores(gold, bare), "enhanced": scores(gold, enhancer.apply(bare))},
        "parsed_trees": {"copied": scores(gold, parsed), "enhanced": scores(gold, enhanced)},
        "by_enhancement": by_enhancement(gold, enhanced),
    }


def scores(gold: list[Sentence], system: Iterable[Sentence]) -> dict[str, float]:
    """ELAS and EULAS; a tree without a graph counts as one."""
    graphs = list(map(tree_as_graph, system))
    found = evaluate(gold, graphs).graph
    collapsed = evaluate(map(collapse_empty_nodes, gold), graphs).graph
    rates = {"elas": found.elas, "eulas": found.eulas, "collapsed_elas": collapsed.elas}
    return {name: round(100 * score.f1, 2) for name, score in rates.items()}


def by_enhancement(gold: list[Sentence], system: list[Sentence]) -> dict[str, list[float]]:
    """Precision, recall and F of each kind of arcs that there is."""
    found = evaluate(gold, system).graph.by_enhancement
    return {
        name: [round(100 * rate, 2) for rate in (score.precision, score.recall, score.f1)]
        for name, score in found.items()
        if score.gold or score.system
    }


def table(done: dict[str, Any]) -> list[str]:
    dates = sorted({found["date"] for found in done.values()})
    commits = sorted({found["commit"] for found in done.values()})
    lines = [
        "# Enhanced dependencies",
        "",
        f"Written by `python benchmarks/enhanced.py`; {' to '.join(dict.fromkeys([dates[0], dates[-1]]))}, at commit "
        f"{', '.join(commits)}. Gold tags, seed 1. F of DEPS as the official scorer counts it, of trees that are "
        "copied to DEPS and of what the enhancer makes of them: gold trees, and those of our parser. *Collapsed*: with "
        "a path through empty nodes in the place of each of them, as in the IWPT shared tasks. Seconds to train the "
        "enhancer, and words a second that it takes, by processor time, on a machine that others used too.",
        "",
        "| treebank (parser) | trees | copied: ELAS | EULAS | enhanced: ELAS | EULAS | collapsed ELAS |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, found in done.items():
        for key, trees in (("gold", "gold"), ("parsed_trees", f"parsed, LAS {found['las']:.2f}")):
            copied, enhanced = found[key]["copied"], found[key]["enhanced"]
            rates = (copied["elas"], copied["eulas"], *(enhanced[score] for score in SCORES))
            lines.append(f"| {name}, {found['parsed']} | {trees} | {' | '.join(f'{rate:.2f}' for rate in rates)} |")
    lines += ["", "By enhancement, of parsed trees (precision / recall / F):", ""]
    for name, found in done.items():
        kinds = (f"{kind} {' / '.join(f'{r:.1f}' for r in rates)}" for kind, rates in found["by_enhancement"].items())
        cost = f"trained in {found['seconds']} s on {found['sentences']:,} sentences"
        lines.append(f"- {name}: {'; '.join(kinds)}. The enhancer: {cost}, {found['words_per_second']:,} words/s.")
    return lines


if __name__ == "__main__":
    main()
