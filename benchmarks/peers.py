"""Crossarc beside spaCy and UDPipe 1, from text to trees: `python benchmarks/peers.py`; writes docs/results/peers.md.

Peers learn from the same training files of ../shared/treebanks: `--train PEER TREEBANK` takes up to half an hour, and
keeps the model in .benchmarks/models; a peer without a model is left out. Everything is scored on test by the official
scorer, from raw text and from the gold words, and all that have learnt from a treebank are timed in turns in the same
run. Figures are kept in docs/results/peers.json; `python benchmarks/peers.py TREEBANK` measures one treebank anew. What
cannot be measured here is quoted, and marked so.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import importlib.metadata
import json
import statistics
import time
from collections.abc import Callable, Set
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from environment import ENVIRONMENTS, PROJECT, commit, run_inside

TREEBANKS = PROJECT.parent / "shared" / "treebanks"
MODELS = ENVIRONMENTS / "models"
RESULTS = PROJECT / "docs" / "results" / "peers.json"
PAGE = RESULTS.with_suffix(".md")
PEERS = {"spaCy": "spacy", "UDPipe 1": "ufal.udpipe"}  # and their packages
MODULES = {"spaCy": "peer_spacy", "UDPipe 1": "peer_udpipe"}
ROUNDS = 3
SEGMENTS = ("Tokens", "Sentences", "Words")
COLUMNS = (*SEGMENTS, "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS")
NOT_FOUND = {"spaCy": {"Lemmas"}}  # its lemmas come from tables of a package of their own

Scores = dict[str, float]
Results = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Contest:
    """A treebank, our models (names or files), and who has learnt from the same data."""

    treebank: str
    ours: dict[str, str]
    peers: tuple[str, ...]


PACKAGED = "packages/crossarc-{0}/src/crossarc_{1}/{0}.crossarc"
CONTESTS = (
    Contest(
        "English-EWT",
        {"en-fast": "en-fast", "en": "en", "en-minilm": PACKAGED.format("en-minilm", "en_minilm")},
        ("spaCy", "UDPipe 1"),
    ),
    Contest("Dutch-Alpino", {"nl": PACKAGED.format("nl", "nl")}, ("UDPipe 1",)),
    Contest("Portuguese-Bosque", {"pt": PACKAGED.format("pt", "pt")}, ("UDPipe 1",)),
)


def main() -> None:
    known = [contest.treebank for contest in CONTESTS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", nargs="*", metavar="TREEBANK", help=f"by default {', '.join(known)}")
    parser.add_argument("--train", nargs=2, metavar=("PEER", "TREEBANK"), help="train a model, and measure nothing")
    options = parser.parse_args()
    if unknown := set(options.treebanks) - set(known):
        parser.error(f"unknown: {', '.join(unknown)}")
    run_inside("peers", [["-e", "."]], [[package] for package in PEERS.values()])
    if options.train:
        train(*options.train)
        return
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for contest in CONTESTS:
        if contest.treebank in (options.treebanks or known):
            results[contest.treebank] = measured(contest)
            RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    PAGE.write_text(page(results), encoding="utf-8")


def page(results: Results) -> str:
    tables = (line for treebank, result in results.items() for line in (*table(treebank, result), ""))
    lines = ["# Beside other parsers", "", "Written by `python benchmarks/peers.py`.", "", *tables]
    measured = {name for result in results.values() for name in result["systems"]}
    return "\n".join([*lines, *(conditions(measured) if results else ()), QUOTED])


def model_of(peer: str, treebank: str) -> Path:
    return MODELS / PEERS[peer] / treebank


def train(peer: str, treebank: str) -> None:
    folder = TREEBANKS / treebank
    module = importlib.import_module(MODULES[peer])
    module.train(folder / "train.conllu", folder / "dev.conllu", model_of(peer, treebank))


def measured(contest: Contest) -> dict[str, Any]:
    """Scores from raw text and from gold words, and words a second of each in turns."""
    models = {peer: model_of(peer, contest.treebank) for peer in contest.peers}
    systems = contest.ours | {peer: str(path) for peer, path in models.items() if path.exists()}
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as workers:

        def in_a_process(measure: Callable[[str, str, str], Any], name: str) -> Any:
            return workers.submit(measure, contest.treebank, name, systems[name]).result()

        scores = {name: in_a_process(scores_of, name) for name in systems}
        rounds = [{name: in_a_process(words_a_second, name) for name in systems} for _ in range(ROUNDS)]
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "systems": {
            name: {"scores": scores[name], "words_a_second": round(statistics.median(own[name] for own in rounds))}
            for name in systems
        },
    }


def table(treebank: str, result: dict[str, Any]) -> list[str]:
    lines = [
        f"## {treebank}",
        "",
        f"Measured on {result['date']}, at commit {result['commit']}.",
        "",
        f"| | from | {' | '.join(COLUMNS)} | words a second |",
        f"| --- | --- |{' ---: |' * (len(COLUMNS) + 1)}",
    ]
    for name, own in result["systems"].items():
        label = name if name in PEERS else f"`{name}`"
        for start, scores in own["scores"].items():
            cells = [f"{scores[column]:.2f}" if column in scores else "" for column in COLUMNS]
            speed = f"{own['words_a_second']:,}" if start == "raw text" else ""
            lines.append(f"| {label} | {start} | {' | '.join(cells)} | {speed} |")
    return lines


def pipeline_of(name: str, where: str) -> Any:
    if name in PEERS:
        return importlib.import_module(MODULES[name]).Pipeline(Path(where))
    return importlib.import_module("crossarc").load(PROJECT / where if where.endswith(".crossarc") else where)


def scores_of(treebank: str, name: str, where: str) -> dict[str, Scores]:
    import crossarc
    from crossarc.evaluation import evaluate
    from crossarc.pipeline import scores_of as scores_of_ours
    from crossarc.text import raw_text

    gold = list(crossarc.read(TREEBANKS / treebank / "test.conllu"))
    pipeline = pipeline_of(name, where)
    if name not in PEERS:
        return scores_of_ours(pipeline, gold)

    def shares(system: list[crossarc.Sentence], columns: tuple[str, ...]) -> Scores:
        official = evaluate(gold, system).official
        return {
            column: round(100 * official[column].f1, 2) for column in columns if column not in NOT_FOUND.get(name, ())
        }

    words = [
        crossarc.Sentence(own.columns, sentence.comments, sentence.inserts)
        for own, sentence in zip(pipeline.from_words(gold), gold, strict=True)
    ]
    return {
        "raw text": shares(pipeline.from_text(raw_text(gold)), COLUMNS),
        "gold words": shares(words, COLUMNS[len(SEGMENTS) :]),
    }


def words_a_second(treebank: str, name: str, where: str) -> float:
    """From raw text to trees, in a process that has parsed the raw text of test and now meets that of dev."""
    import crossarc
    from crossarc.io.conllu import format_sentence
    from crossarc.text import raw_text

    dev, test = (list(crossarc.read(TREEBANKS / treebank / f"{part}.conllu")) for part in ("dev", "test"))
    pipeline = pipeline_of(name, where)
    parse: Callable[[str], object]
    if name == "spaCy":
        parse = pipeline.documents
    elif name == "UDPipe 1":
        parse = pipeline.conllu
    else:

        def parse(text: str) -> str:
            return "".join(map(format_sentence, pipeline(text)))

    text = raw_text(dev)
    parse(raw_text(test))
    start = time.process_time()
    parse(text)
    return sum(map(len, dev)) / (time.process_time() - start)


def conditions(measured: Set[str]) -> list[str]:
    spacy, udpipe = (importlib.import_module(MODULES[peer]) for peer in PEERS)
    versions = {peer: importlib.metadata.version(package) for peer, package in PEERS.items()}
    settings = ", ".join(f"{part} `{options}`" for part, options in udpipe.SETTINGS.items())
    of_peers = {
        "spaCy": f"""\
- **spaCy** {versions["spaCy"]}: the design of its small English pipelines (tok2vec, tagger, parser), trained for
  {spacy.STEPS:,} steps, seed {spacy.SEED}, the best on dev kept. A morphologizer learns beside them, for
  UPOS and features; it is left out when time is taken, and so are lemmas, which its pipelines look up in tables. Its
  tokens from raw text are those of its English rules, which were not made for this treebank: compare trees from the
  gold words.
""",
        "UDPipe 1": f"""\
- **UDPipe 1** (ufal.udpipe {versions["UDPipe 1"]}): {settings}; otherwise its own defaults, with which training takes
  more than an hour. Its authors' models, trained for longer, with vectors learnt from the same data and settings
  searched for, are better (below).
""",
    }
    text = f"""\
## How it was measured

F1 on test by the official scorer (CoNLL 2018). Words a second of one thread by processor time, from raw text: medians
of {ROUNDS} rounds, in which each system in turn, in a new process, parses the text of test, so that it is warm, and
is then timed with that of dev. Crossarc and UDPipe write CoNLL-U, spaCy leaves its documents in memory. Nobody has a
pretrained encoder or pretrained vectors, but for `en-minilm`, which begins with MiniLM, and `en`, which begins with
MiniLM's vectors of pieces of words.

"""
    return [*(text + "".join(of_peers[peer] for peer in PEERS if peer in measured)).splitlines(), ""]


QUOTED = """\
## Quoted

What others have published of English-EWT, test, UAS / LAS. Releases of the treebank differ, and so do machines: scores
are near enough to compare, words a second tell the order of magnitude. (Our models from raw text: [text.md](text.md).)

| | from raw text | from gold words | words a second on a CPU |
| --- | ---: | ---: | ---: |
| UDPipe 1.2, models of its authors [1] | 80.5 / 77.5 | 84.5 / 81.2 | 1,101 [2] |
| Stanza 1.0 [3] | 86.2 / 83.6 | | 878 [2] |
| Stanza 1.5 [4] | 88.9 / 86.8 | | |
| UDPipe 2 [4] | 91.6 / 89.9 | 94.1 / 92.4 | dozens [4] |
| spaCy 3.2, `en_udv25_englishewt_trf` [5] | 91.9 / 89.4 | | 684 for `en_core_web_trf` [2] |

From gold words **and gold tags**, MaltParser (`stacklazy`, with lemmas and features) has UAS 87.8 and LAS 85.6 [6],
where our linear parser has the figures in [accuracy.md](accuracy.md). It has no package for Python, and no tagger, so
that it is not measured here.

UDPipe 1.2, models of its authors, on other treebanks [1], from raw text and from gold words: Dutch-Alpino UAS 82.3,
LAS 78.2 and UAS 83.1, LAS 78.9; Portuguese-Bosque UAS 85.3, LAS 82.2 and UAS 86.4, LAS 83.2.

1. README of the UD 2.3 models for UDPipe (181115), <https://hdl.handle.net/11234/1-2898>
2. spaCy, *Facts & Figures*, <https://spacy.io/usage/facts-figures>: 10,000 comments on Reddit; UDPipe's UD 2.5 model
3. Qi et al. 2020, *Stanza: A Python Natural Language Processing Toolkit for Many Human Languages*: UD 2.5
4. as issues 18 and 19 of this project have them from the tables of the makers
5. <https://huggingface.co/explosion/en_udv25_englishewt_trf>: UD 2.5, XLM-RoBERTa, by spaCy's own evaluation
6. as issue 4 of this project has it, from the treebank of this release
"""


if __name__ == "__main__":
    main()
