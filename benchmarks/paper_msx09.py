"""Table 1 of Martins, Smith and Xing (2009); see papers.py."""

from __future__ import annotations

from dataclasses import replace

from crossarc.parsers import PRESETS, IlpConfig, ParseOptions, SpanningTreeConfig
from paper_pages import Claim, Done, Paper, beside, higher, number, table
from paper_runs import Run, Sample, Work, work_of

TREEBANKS = {
    "Danish-DDT": (90.60, 91.30, 91.54, 89.80, 91.06, 90.98, 91.18, 91.04),
    "Dutch-Alpino": (84.11, 84.19, 84.79, 83.55, 84.65, 84.93, 85.57, 85.41),
    "Portuguese-Bosque": (91.40, 91.81, 92.11, 90.66, 92.11, 92.01, 91.42, 91.44),
    "Slovenian-SSJ": (83.67, 85.09, 85.13, 83.93, 85.13, 85.45, 85.61, 85.41),
    "Swedish-Talbanken": (89.05, 90.54, 90.50, 89.09, 90.50, 90.34, 90.60, 90.52),
    "Turkish-IMST": (75.30, 75.68, 76.36, 75.16, 76.20, 76.08, 76.34, 76.32),
    "English-EWT": (90.85, None, None, 90.15, 91.13, 91.12, 91.16, 91.14),
}
_SECOND_ORDER = "arc,sibling,grandparent,next-sibling,first-child"
PARTS = {
    "arc-factored": "arc",
    "+ siblings, grandparents": _SECOND_ORDER,
    "+ valency": f"{_SECOND_ORDER},valency",
    "+ projectivity (full)": f"{_SECOND_ORDER},valency,nonprojective",
}
FULL = "+ projectivity (full)"
TIME_LIMIT = 20.0  # seconds for the exact tree of a sentence
PARSES = (
    ("exact", ParseOptions(exact=True, time_limit=TIME_LIMIT)),
    ("relaxed", ParseOptions(exact=False, time_limit=TIME_LIMIT)),
)
STACKED = (("stack", "covington"),)
MP06, NM08, MDSX08 = "[MP06]", "[NM08]", "[MDSX08]"
COLUMNS = [(MP06, ""), (NM08, ""), (MDSX08, ""), *((name, "exact") for name in PARTS), (FULL, "relaxed")]


def runs() -> list[Run]:
    found = []
    for treebank in TREEBANKS:
        found.append(Run(treebank, MP06, PRESETS["mp2006"]))
        found.append(Run(treebank, NM08, replace(PRESETS["mp2006"], order="1"), wrapped=STACKED))
        found.append(Run(treebank, MDSX08, SpanningTreeConfig(order="2"), wrapped=STACKED))
        found += [Run(treebank, name, IlpConfig(parts=parts), PARSES) for name, parts in PARTS.items()]
    return found


def work(sample: Sample) -> Work:
    return work_of(runs(), sample)


def tables(done: Done) -> list[str]:
    rows = [
        [t, *(beside(done.value(t, *at(own)), their) for own, their in zip(COLUMNS, theirs, strict=True))]
        for t, theirs in TREEBANKS.items()
    ]
    head = ["", *(system if parse != "relaxed" else "full, relaxed" for system, parse in COLUMNS)]
    lines = [
        "## Table 1: accuracy",
        "",
        "Words without punctuation. Then of the full model:",
        "",
        *table(head, rows),
        "",
    ]
    head = ["", "exact: s a sentence", "relaxed: s a sentence", "relaxations that are trees", "pruner: heads, recall"]
    return [*lines, *table(head, [speed_row(done, treebank) for treebank in TREEBANKS])]


def at(column: tuple[str, str]) -> tuple[str, str, str]:
    return column[0], "uas_words", column[1]


def speed_row(done: Done, treebank: str) -> list[str]:
    run = done.run(treebank, FULL)
    if run is None:
        return [treebank, *["–"] * 4]
    exact, relaxed = (run["parses"][name] for name in ("exact", "relaxed"))
    sentences = run["test_sentences"]
    integral = 100 * relaxed["statuses"].get("integral", 0) / sentences
    seconds = (number(own["seconds"] / sentences, 3) for own in (exact, relaxed))
    return [treebank, *seconds, f"{integral:.0f} %", "{}, {} %".format(*run["pruner"])]


def claims(done: Done) -> list[Claim]:
    found = []
    arcs, parts, full = ("arc-factored", "exact"), ("+ siblings, grandparents", "exact"), (FULL, "exact")
    for t in TREEBANKS:
        found += [
            higher(done, "siblings and grandparents are better than arcs alone", t, "uas_words", parts, arcs),
            higher(done, "the full model is better than arcs alone", t, "uas_words", full, arcs),
            higher(done, "the full model is better than [MP06]", t, "uas_words", full, (MP06, "")),
            higher(done, "relaxed loses 0.2 at most against exact", t, "uas_words", (FULL, "relaxed"), full, -0.2),
            higher(done, "a stacked parser [MDSX08] is better than [MP06]", t, "uas_words", (MDSX08, ""), (MP06, "")),
            pruned(done, t),
        ]
    return found


def pruned(done: Done, treebank: str) -> Claim:
    run, text = done.run(treebank, FULL), f"{treebank}: the pruner leaves the right head of more than 98 % of all words"
    return Claim(text, "–", None) if run is None else Claim(text, f"{run['pruner'][1]:.2f} %", run["pruner"][1] > 98)


PAPER = Paper(
    "Martins, Smith and Xing (2009), Table 1",
    "The treebanks are of Universal Dependencies (Danish: the original annotation; the paper has those of CoNLL-X and "
    "2008), with gold tags; [NM08] is a first-order, [MDSX08] a second-order spanning-tree parser that our incremental "
    "parser guides; an exact tree has 20 s.",
    work,
    tables,
    claims,
)
