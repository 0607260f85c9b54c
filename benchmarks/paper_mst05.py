"""Tables 1 and 2 of McDonald, Pereira, Ribarov and Hajič (2005); see papers.py."""

from __future__ import annotations

from crossarc.parsers import PRESETS, CovingtonConfig
from paper_pages import Claim, Done, Paper, beside, higher, number, table
from paper_runs import Run, Sample, Work, work_of

CROSSING = ["Czech-mix", "Danish-DDT"]
ENGLISH = "English-EWT"
SYSTEMS = {
    "N&N2005": CovingtonConfig(),
    "McD2005": PRESETS["mcd2005"],
    "Single-best MIRA": PRESETS["mst2005-single"],
    "Factored MIRA": PRESETS["mst2005-factored"],
}
SCORES = ("uas", "complete", "uas_b", "complete_b")
THEIR_CZECH = {
    "N&N2005": (80.0, 31.8, None, None),
    "McD2005": (83.3, 31.3, 74.8, 0.0),
    "Single-best MIRA": (84.1, 32.2, 81.0, 14.9),
    "Factored MIRA": (84.4, 32.3, 81.5, 14.3),
}
THEIR_ENGLISH = {"McD2005": (90.9, 37.5), "Single-best MIRA": (90.2, 33.2), "Factored MIRA": (90.2, 32.3)}
PROJECTIVE = " (projective sentences)"


def runs() -> list[Run]:
    wrapped = {"N&N2005": (("pseudo_projective", "head"),)}
    tables = [Run(t, s, config, wrapped=wrapped.get(s, ())) for t in CROSSING for s, config in SYSTEMS.items()]
    english = [
        Run(ENGLISH, system + (PROJECTIVE if projective else ""), SYSTEMS[system], projective=projective)
        for projective in (True, False)
        for system in THEIR_ENGLISH
    ]
    return tables + english


def work(sample: Sample) -> Work:
    return work_of(runs(), sample)


def tables(done: Done) -> list[str]:
    lines = ["## Table 1: crossing arcs", "", "A: all sentences; B: those with a crossing arc.", ""]
    for treebank in CROSSING:
        theirs = THEIR_CZECH if treebank.startswith("Czech") else {}
        lines += [f"### {treebank}", ""]
        head = ["", "A: accuracy", "A: complete", "B: accuracy", "B: complete", "training s", "parsing s"]
        lines += [*table(head, [row(done, treebank, s, SCORES, theirs.get(s, ())) for s in SYSTEMS]), ""]
    lines += ["## Table 2: English", "", "Sentences without crossing arcs alone, as in the paper; then all.", ""]
    head = ["", "accuracy", "complete", "training s", "parsing s"]
    of_projective = [
        row(done, ENGLISH, s + PROJECTIVE, ("uas_words", "complete"), THEIR_ENGLISH[s]) for s in THEIR_ENGLISH
    ]
    of_all = [row(done, ENGLISH, system, ("uas_words", "complete"), ()) for system in THEIR_ENGLISH]
    return [*lines, *table(head, of_projective + of_all)]


def row(done: Done, treebank: str, system: str, scores: tuple[str, ...], theirs: tuple[float | None, ...]) -> list[str]:
    cells = [done.value(treebank, system, score) for score in scores]
    padded = [*theirs, *[None] * len(cells)]
    run, parse = done.run(treebank, system), done.one(treebank, system)
    times = [number(run and run["training_seconds"], 0), number(parse and parse["seconds"], 1)]
    return [system, *(beside(own, their) for own, their in zip(cells, padded, strict=False)), *times]


def claims(done: Done) -> list[Claim]:
    found = []
    single, factored, projective = (("Single-best MIRA", ""), ("Factored MIRA", ""), ("McD2005", ""))
    for t in CROSSING:
        found += [
            higher(
                done,
                "non-projective parsing (factored) is better than projective parsing",
                t,
                "uas",
                factored,
                projective,
            ),
            higher(done, "so is single-best MIRA", t, "uas", single, projective),
            higher(done, "where arcs cross (B), the gain is larger: at least 2", t, "uas_b", factored, projective, 2.0),
            higher(done, "where arcs cross, more trees are complete", t, "complete_b", factored, projective),
            higher(done, "factored MIRA is better than single-best MIRA", t, "uas", factored, single),
            higher(done, "both are better than the pseudo-projective parser", t, "uas", single, ("N&N2005", "")),
            slower(done, "factored MIRA takes longer to train than single-best MIRA", t, factored[0], single[0]),
        ]
    own = [(name + PROJECTIVE, "") for name in ("McD2005", "Single-best MIRA", "Factored MIRA")]
    for other in own[1:]:
        text = f"on projective trees, Eisner's algorithm is better than {other[0].removesuffix(PROJECTIVE)}"
        found.append(higher(done, text, ENGLISH, "uas", own[0], other))
    return found


def slower(done: Done, text: str, treebank: str, slow: str, fast: str) -> Claim:
    one, other = done.run(treebank, slow), done.run(treebank, fast)
    if one is None or other is None:
        return Claim(f"{treebank}: {text}", "–", None)
    seconds = one["training_seconds"], other["training_seconds"]
    return Claim(f"{treebank}: {text}", f"{seconds[0]:.0f} s against {seconds[1]:.0f} s", seconds[0] > seconds[1])


PAPER = Paper(
    "McDonald, Pereira, Ribarov and Hajič (2005), Tables 1 and 2",
    "The treebanks are of Universal Dependencies (Danish: the original annotation) with gold tags, and far smaller "
    "than the Prague and Penn treebanks; N&N2005 is our incremental parser with pseudo-projective labels (head); "
    "accuracy counts punctuation, but for English.",
    work,
    tables,
    claims,
)
