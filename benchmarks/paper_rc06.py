"""What rules of the kinds of Riedel and Clarke (2006) gain on Dutch; see papers.py."""

from __future__ import annotations

from crossarc.ilp.rule_file import read_rules
from crossarc.parsers import ParseOptions, SpanningTreeConfig
from paper_pages import Claim, Done, Paper, higher, number, table
from paper_runs import Run, Sample, Work, work_of

DUTCH = "Dutch-Alpino"
RULES = ParseOptions(rules=read_rules("riedel-clarke-2006"), exact=True, time_limit=20.0)
PARSES = (("", ParseOptions()), ("rules", RULES))
SYSTEMS = {
    "first order, joint labels": SpanningTreeConfig(order="1", labels="joint"),
    "first order": SpanningTreeConfig(order="1"),
    "default": SpanningTreeConfig(),
}
SCORES = {"las_words": "LAS", "uas_words": "UAS", "complete": "complete"}


def runs() -> list[Run]:
    return [Run(DUTCH, system, config, PARSES) for system, config in SYSTEMS.items()]


def work(sample: Sample) -> Work:
    return work_of(runs(), sample)


def tables(done: Done) -> list[str]:
    rows = []
    for system in SYSTEMS:
        for parse, name in (("", "without rules"), ("rules", "with rules")):
            own = done.one(DUTCH, system, parse)
            cells = [number(done.value(DUTCH, system, score, parse)) for score in SCORES]
            rows.append([f"{system}, {name}", *cells, number(own and own["seconds"], 1)])
    return [f"## {DUTCH}", "", *table(["", *SCORES.values(), "parsing s"], rows)]


def claims(done: Done) -> list[Claim]:
    text = "labelled accuracy is higher with the rules"
    return [
        higher(done, f"{system}: {text}", DUTCH, "las_words", (system, "rules"), (system, "")) for system in SYSTEMS
    ]


PAPER = Paper(
    "Riedel and Clarke (2006): rules for Dutch",
    "The paper has the Alpino treebank of CoNLL-X with its labels, so its figures are not beside ours; here are the "
    "labels of Universal Dependencies, gold tags, the test set, words without punctuation.",
    work,
    tables,
    claims,
)
