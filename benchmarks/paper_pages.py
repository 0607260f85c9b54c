"""How the pages of papers are written: tables with the paper's figures beside ours, and a list of claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import mean
from typing import Any, NamedTuple

from paper_runs import Figures, p_value

SURE = 0.05


class Paper(NamedTuple):
    """What papers.py needs of a paper."""

    title: str
    differs: str  # from the paper: treebank, split, tags, in one line
    work: Callable[..., Any]
    tables: Callable[[Done], list[str]]
    claims: Callable[[Done], list[Claim]]


class Claim(NamedTuple):
    """Something that a paper says, and what we find."""

    text: str
    ours: str
    holds: bool | None  # None: there are no figures yet
    p: float | None = None  # of the difference that it is about; None: nothing to test


class Done:
    """The figures that there are."""

    def __init__(self, figures: dict[str, Figures]) -> None:
        self.figures = figures

    def one(self, treebank: str, system: str, parse: str = "") -> Figures | None:
        """The first seed's."""
        found = self.figures.get(f"{treebank}, {system}")
        return None if found is None else found["parses"][parse]

    def run(self, treebank: str, system: str) -> Figures | None:
        return self.figures.get(f"{treebank}, {system}")

    def value(self, treebank: str, system: str, score: str, parse: str = "") -> float | None:
        """The mean of all seeds."""
        start = f"{treebank}, {system}"
        seeds = [own for name, own in self.figures.items() if name == start or name.startswith(f"{start}, seed ")]
        values = [own["parses"][parse][score] for own in seeds]
        return None if not values or None in values else mean(values)

    def seeds(self, treebank: str, system: str) -> int:
        start = f"{treebank}, {system}"
        return sum(name == start or name.startswith(f"{start}, seed ") for name in self.figures)

    def p(self, treebank: str, first: tuple[str, str], second: tuple[str, str]) -> float | None:
        """Of two parsers (system, way of parsing), by McNemar's test over all words; of the first seed."""
        one, other = self.one(treebank, *first), self.one(treebank, *second)
        return None if one is None or other is None else p_value(one, other)


def higher(
    done: Done, text: str, treebank: str, score: str, high: tuple[str, str], low: tuple[str, str], least: float = 0.0
) -> Claim:
    """The claim that a parser is better than another by at least so much."""
    first, second = done.value(treebank, high[0], score, high[1]), done.value(treebank, low[0], score, low[1])
    if first is None or second is None:
        return Claim(f"{treebank}: {text}", "–", None)
    ours = f"{first:.2f} against {second:.2f} ({first - second:+.2f})"
    tested = score.startswith("uas") and score != "uas_b"
    return Claim(f"{treebank}: {text}", ours, first - second > least, done.p(treebank, high, low) if tested else None)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table whose first column is of names, all others of figures."""
    lines = [f"| {' | '.join(head)} |", "| --- |" + " ---: |" * (len(head) - 1)]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows)]


def number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def beside(value: float | None, theirs: float | None) -> str:
    """Ours, and the paper's in brackets."""
    return number(value) if theirs is None else f"{number(value)} ({theirs:g})"


def page(name: str, paper: Paper, done: Done, sample: str) -> str:
    """The whole page."""
    dates = sorted({own["date"] for own in done.figures.values()})
    commits = sorted({own["commit"] for own in done.figures.values()})
    days = " to ".join(dict.fromkeys([dates[0], dates[-1]]))
    lines = [
        f"# {paper.title}",
        "",
        f"Written by `python benchmarks/papers.py {name}`{sample}; {days}, "
        f"at commit {', '.join(commits)}. In brackets: the paper's figures. {paper.differs}",
        "",
        *paper.tables(done),
        "",
        "## What the paper says, and whether it holds here",
        "",
        "p: McNemar's test over the words of the test set, seed 1.",
        "",
        "| claim | ours | holds | p |",
        "| --- | --- | --- | ---: |",
        *map(claim_row, paper.claims(done)),
    ]
    return "\n".join(lines) + "\n"


def claim_row(claim: Claim) -> str:
    holds = {None: "not measured", True: "yes", False: "no"}[claim.holds]
    if claim.p is None:
        return f"| {claim.text} | {claim.ours} | {holds} | |"
    sure = "" if claim.p < SURE else ", not significant"
    return f"| {claim.text} | {claim.ours} | {holds}{sure} | {claim.p:.2g} |"
