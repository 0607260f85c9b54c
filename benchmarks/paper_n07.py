"""Tables 1 to 4 of Nivre (2007); see papers.py."""

from __future__ import annotations

import datetime
from dataclasses import replace

import crossarc
from crossarc.evaluation import treebank_statistics
from crossarc.parsers import PRESETS, SYSTEMS, CovingtonConfig, ParseOptions
from environment import commit
from paper_pages import Claim, Done, Paper, beside, higher, number, table
from paper_runs import Figures, Run, Sample, Work, work_of

TREEBANKS = {
    "Danish-DDT": "Danish",
    "Dutch-Alpino": "Dutch",
    "German-mix": "German",
    "Portuguese-Bosque": "Portuguese",
    "Slovenian-SSJ": "Slovene",
}
WITH_SVM = ["Danish-DDT", "Slovenian-SSJ"]
DEGREES = {"non-projective": None, "max degree 2": 2, "max degree 1": 1}
PARSES = tuple((name, ParseOptions(max_degree=d)) for name, d in DEGREES.items())
LINEAR, SVM = CovingtonConfig(projective=False), replace(SYSTEMS["covington"].presets["n07"], projective=False)
THEIR_DATA = {
    "Danish": (94, 5.2, 18.2, 1.0, 15.6),
    "Dutch": (195, 13.3, 14.6, 5.4, 36.4),
    "German": (700, 39.2, 17.8, 2.3, 27.8),
    "Portuguese": (207, 9.1, 22.8, 1.3, 18.9),
    "Slovene": (29, 1.5, 18.7, 1.9, 22.2),
}
THEIR_ACCURACY = {
    "non-projective": (88.13, 86.79, 89.78, 90.59, 76.52),
    "max degree 2": (88.08, 86.15, 89.74, 90.58, 76.48),
    "max degree 1": (88.00, 85.12, 89.49, 90.48, 76.40),
    "projective": (87.05, 79.30, 86.98, 89.38, 74.80),
}
THEIR_TIME = {  # % less than the non-projective parser
    "max degree 2": (7.29, 45.46, 26.79, 18.99, 36.39),
    "max degree 1": (18.72, 55.28, 46.52, 34.04, 47.05),
    "projective": (50.53, 79.32, 69.90, 62.55, 79.00),
}
RELATED = {
    "McDonald et al. (MP06)": (84.79, 79.19, 87.34, 86.82, 73.44),
    "Nivre et al. (pseudo-projective)": (84.77, 78.59, 85.82, 87.60, 70.30),
    "linear": (84.85, 77.91, 85.90, 87.12, 70.86),
}


def runs() -> list[Run]:
    found = []
    for treebank in TREEBANKS:
        found += of_classifier(treebank, "linear", LINEAR)
        found += [Run(treebank, f"linear, trained for degree {d}", CovingtonConfig(max_degree=d)) for d in (1, 2)]
        found.append(Run(treebank, "McDonald et al. (MP06)", PRESETS["mp2006"]))
        wrapped = (("pseudo_projective", "head"),)
        found.append(Run(treebank, "Nivre et al. (pseudo-projective)", CovingtonConfig(), wrapped=wrapped))
        if treebank in WITH_SVM:
            found += of_classifier(treebank, "svm", SVM)
    return found


def of_classifier(treebank: str, name: str, config: CovingtonConfig) -> list[Run]:
    """A parser of all links that parses with each degree, and one of projective links."""
    projective = replace(config, projective=True)
    return [Run(treebank, name, config, PARSES), Run(treebank, f"{name}, projective", projective)]


def work(sample: Sample) -> Work:
    data: Work = {f"{treebank}: data": (statistics, treebank, sample) for treebank in TREEBANKS}
    return data | work_of(runs(), sample)


def statistics(treebank: str, sample: Sample) -> Figures:
    trees = list(crossarc.read(sample.folder / treebank / "train.conllu", trees=True))[: sample.sentences]
    found = treebank_statistics(trees).as_dict()
    return {"statistics": found, "date": datetime.date.today().isoformat(), "commit": commit()}


def way(classifier: str, degree: str) -> tuple[str, str]:
    """The system, and how it parses, for a row of the tables."""
    return (f"{classifier}, projective", "") if degree == "projective" else (classifier, degree)


def tables(done: Done) -> list[str]:
    lines = ["## Table 1: training sets", "", *data_table(done), ""]
    lines += [
        "## Table 2: accuracy",
        "",
        "Words without punctuation; in brackets the paper's. Then % fewer errors.",
        "",
    ]
    lines += [*accuracy_table(done, "linear", list(TREEBANKS)), "", "Support vector machines:", ""]
    lines += [*accuracy_table(done, "svm", WITH_SVM), "", "Trained for a degree, too (footnote 3):", ""]
    rows = [
        [f"degree {d}", *(number(done.value(t, f"linear, trained for degree {d}", "uas_words")) for t in TREEBANKS)]
        for d in (1, 2)
    ]
    lines += [*table(["", *TREEBANKS], rows), "", "## Table 3: time", "", "Seconds for the test set, then % less.", ""]
    lines += [*time_table(done), "", "## Table 4: labelled accuracy", ""]
    related = [
        [
            system,
            *(
                beside(done.value(t, system, "las_words", "non-projective" if system == "linear" else ""), their)
                for t, their in zip(TREEBANKS, theirs, strict=True)
            ),
        ]
        for system, theirs in RELATED.items()
    ]
    return [*lines, *table(["", *TREEBANKS], related)]


def data_table(done: Done) -> list[str]:
    rows = []
    for treebank, language in TREEBANKS.items():
        own = done.figures.get(f"{treebank}: data")
        if own is not None:
            s = own["statistics"]
            ours = (s["words"] / 1000, s["sentences"] / 1000, s["words_per_sentence"])
            ours += (s["nonprojective_arcs_percent"], s["nonprojective_sentences_percent"])
            pairs = zip(ours, THEIR_DATA[language], strict=True)
            rows.append([treebank, *(f"{one:.1f} ({other:g})" for one, other in pairs)])
    return table(["", "Tok (×1000)", "Sen (×1000)", "T/S", "NPT %", "NPS %"], rows)


def accuracy_table(done: Done, classifier: str, treebanks: list[str]) -> list[str]:
    rows = []
    for degree, theirs in THEIR_ACCURACY.items():
        cells = []
        for treebank, their in zip(TREEBANKS, theirs, strict=True):
            if treebank in treebanks:
                system, parse = way(classifier, degree)
                own = done.value(treebank, system, "uas_words", parse)
                base = done.value(treebank, f"{classifier}, projective", "uas_words")
                fewer = (
                    "" if own is None or base is None or own == base else f" {100 * (own - base) / (100 - base):+.1f} %"
                )
                cells.append(beside(own, their) + fewer)
        rows.append([degree, *cells])
    return table(["", *treebanks], rows)


def time_table(done: Done) -> list[str]:
    rows = []
    for degree in THEIR_ACCURACY:
        cells = []
        for i, treebank in enumerate(TREEBANKS):
            own, free = done.one(treebank, *way("linear", degree)), done.one(treebank, "linear", "non-projective")
            if own is None or free is None:
                cells.append("–")
            else:
                less = 100 * (1 - own["seconds"] / max(free["seconds"], 1e-9))
                theirs = f", {less:.0f} % ({THEIR_TIME[degree][i]:.0f} %)" if degree in THEIR_TIME else ""
                cells.append(f"{own['seconds']:.2f}{theirs}")
        rows.append([degree, *cells])
    return table(["", *TREEBANKS], rows)


def claims(done: Done) -> list[Claim]:
    found = []
    for classifier, treebanks in (("linear", list(TREEBANKS)), ("svm", WITH_SVM)):
        base, free = way(classifier, "projective"), way(classifier, "non-projective")
        for t in treebanks:
            found.append(
                higher(done, f"{classifier}: non-projective is better than projective", t, "uas_words", free, base)
            )
            one = way(classifier, "max degree 1")
            found.append(higher(done, f"{classifier}: degree 1 is better than projective", t, "uas_words", one, base))
            found.append(marginal(done, f"{classifier}: degrees 1 and 2 lose little (0.5 at most)", t, classifier))
            found.append(faster(done, f"{classifier}: the lower the degree, the less time", t, classifier))
    return found


def marginal(done: Done, text: str, treebank: str, classifier: str) -> Claim:
    values = [done.value(treebank, classifier, "uas_words", degree) for degree in DEGREES]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return Claim(f"{treebank}: {text}", "–", None)
    return Claim(f"{treebank}: {text}", ", ".join(map(number, known)), known[0] - min(known[1:]) <= 0.5)


def faster(done: Done, text: str, treebank: str, classifier: str) -> Claim:
    parses = [done.one(treebank, *way(classifier, degree)) for degree in THEIR_ACCURACY]
    seconds = [own["seconds"] for own in parses if own is not None]
    if len(seconds) < len(parses):
        return Claim(f"{treebank}: {text}", "–", None)
    return Claim(
        f"{treebank}: {text}", ", ".join(f"{s:.2f} s" for s in seconds), seconds == sorted(seconds, reverse=True)
    )


PAPER = Paper(
    "Nivre (2007), Tables 1 to 4",
    "The treebanks are of Universal Dependencies (Danish: the original annotation; the paper has those of CoNLL-X), "
    "with gold tags and their own test sets; German is trained out of its domain.",
    work,
    tables,
    claims,
)
