"""Tables 1 to 3 of McDonald and Pereira (2006); see papers.py."""

from __future__ import annotations

from dataclasses import replace

from crossarc.parsers import PRESETS, SYSTEMS, GraphConfig
from paper_pages import Claim, Done, Paper, beside, higher, number, table
from paper_runs import Run, Sample, Work, work_of

ENGLISH, DANISH = "English-EWT", "Danish-DDT"
CROSSING = ["Czech-mix", DANISH]
_SECOND = PRESETS["mp2006"]
TREES = {
    "1st order, projective": replace(_SECOND, order="1", projective=True),
    "2nd order, projective": replace(_SECOND, projective=True),
    "1st order, non-projective": replace(_SECOND, order="1"),
    "2nd order, non-projective": _SECOND,
}
GRAPHS = {
    "2nd order, several heads (§3)": SYSTEMS["graph"].presets["mp2006"],
    "2nd order, several heads (ours)": GraphConfig(),
}
THEIR_ENGLISH = {"1st order, projective": (90.7, 36.7), "2nd order, projective": (91.5, 42.1)}
THEIR_CZECH = dict(zip(TREES, [(83.0, 30.6), (84.2, 33.1), (84.1, 32.2), (85.2, 35.9)], strict=True))
THEIR_DANISH = {
    "2nd order, projective": (86.4, 81.7, 83.9),
    "2nd order, non-projective": (86.9, 82.2, 84.4),
    "2nd order, several heads (§3)": (86.2, 84.9, 85.6),
}


def runs() -> list[Run]:
    english = [Run(ENGLISH, system, TREES[system], projective=True) for system in THEIR_ENGLISH]
    trees = [Run(t, system, config, graphs=t == DANISH) for t in CROSSING for system, config in TREES.items()]
    return [*english, *trees, *(Run(DANISH, system, config, graphs=True) for system, config in GRAPHS.items())]


def work(sample: Sample) -> Work:
    return work_of(runs(), sample)


def tables(done: Done) -> list[str]:
    head = ["", "accuracy", "complete", "parsing s"]
    lines = ["## Table 1: English", "", *table(head, rows(done, ENGLISH, "uas_words", THEIR_ENGLISH)), ""]
    for treebank in CROSSING:
        theirs = THEIR_CZECH if treebank.startswith("Czech") else dict.fromkeys(TREES, ())
        lines += [f"## Table 2: {treebank}", "", *table(head, rows(done, treebank, "uas", theirs)), ""]
    graphs = []
    for system in [*THEIR_DANISH, "2nd order, several heads (ours)"]:
        found = (done.one(DANISH, system) or {}).get("graph", [None] * 3)
        theirs = THEIR_DANISH.get(system, (None,) * 3)
        graphs.append([system, *(beside(own, their) for own, their in zip(found, theirs, strict=True))])
    head = ["", "precision", "recall", "F"]
    return [*lines, "## Table 3: several heads, Danish", "", *table(head, graphs)]


def rows(done: Done, treebank: str, score: str, theirs: dict[str, tuple[float, ...]]) -> list[list[str]]:
    found = []
    for system, their in theirs.items():
        own = [done.value(treebank, system, name) for name in (score, "complete")]
        cells = [beside(one, other) for one, other in zip(own, their or (None, None), strict=True)]
        parse = done.one(treebank, system)
        found.append([system, *cells, number(parse and parse["seconds"], 1)])
    return found


def claims(done: Done) -> list[Claim]:
    first, second, free, best = ((name, "") for name in TREES)
    found = [
        higher(done, "second order is better than first order", ENGLISH, "uas", second, first),
        higher(done, "more trees are complete", ENGLISH, "complete", second, first),
    ]
    for t in CROSSING:
        found += [
            higher(done, "second order is better than first order, projective", t, "uas", second, first),
            higher(done, "second order is better than first order, non-projective", t, "uas", best, free),
            higher(done, "non-projective is better than projective, second order", t, "uas", best, second),
            higher(done, "more trees are complete by the second order, non-projective", t, "complete", best, free),
            as_fast(done, t, best[0], second[0]),
        ]
    return [*found, *graph_claims(done)]


def as_fast(done: Done, treebank: str, approximate: str, exact: str) -> Claim:
    """The changes of heads take little time beside the exact projective tree that they start from."""
    text = f"{treebank}: the approximate parser takes hardly longer (at most 1.25 times) than the projective one"
    one, other = done.one(treebank, approximate), done.one(treebank, exact)
    if one is None or other is None:
        return Claim(text, "–", None)
    ratio = one["seconds"] / max(other["seconds"], 1e-9)
    return Claim(text, f"{one['seconds']:.1f} s against {other['seconds']:.1f} s", ratio <= 1.25)


def graph_claims(done: Done) -> list[Claim]:
    one, other = (done.one(DANISH, name) for name in ("2nd order, several heads (§3)", "2nd order, non-projective"))
    texts = [
        f"{DANISH}: with several heads, recall is higher by 2 at least",
        f"{DANISH}: precision falls by 1 at most",
        f"{DANISH}: F is higher",
    ]
    if one is None or other is None:
        return [Claim(text, "–", None) for text in texts]
    gains = [own - tree for own, tree in zip(one["graph"], other["graph"], strict=True)]
    holds = gains[1] >= 2, gains[0] >= -1, gains[2] > 0
    shown = [(gains[1], 1), (gains[0], 0), (gains[2], 2)]
    return [
        Claim(text, f"{one['graph'][i]:.2f} against {other['graph'][i]:.2f} ({gain:+.2f})", own)
        for text, (gain, i), own in zip(texts, shown, holds, strict=True)
    ]


PAPER = Paper(
    "McDonald and Pereira (2006), Tables 1 to 3",
    "The treebanks are of Universal Dependencies (Danish: the original annotation, another division) with gold tags, "
    "and far smaller than the Prague and Penn treebanks; English has only the sentences without crossing arcs, and its "
    "accuracy leaves punctuation out.",
    work,
    tables,
    claims,
)
