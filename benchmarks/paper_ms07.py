"""Table 1 of McDonald and Satta (2007) as measured, and its hard cells as small programs; see papers.py."""

from __future__ import annotations

import datetime
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from crossarc.trees import best_tree, log_partition, marginals
from environment import PROJECT, commit
from paper_pages import Claim, Done, Paper, number, table
from paper_runs import Figures, Sample, Work

PROBLEMS: dict[str, Callable[..., Any]] = {"argmax": best_tree, "Z": log_partition, "expectations": marginals}
PROVEN = {
    ("argmax", True): 3.0,
    ("argmax", False): 2.0,
    ("Z", True): 3.0,
    ("Z", False): 3.0,
    ("expectations", True): 3.0,
    ("expectations", False): 3.0,
}
LENGTHS = (50, 100, 200, 400, 800)
LABELS = 4
REPEATED = 5
HARD = {
    "arity (§5.1): Hamiltonian path": "test_hamiltonian_path_by_arity",
    "vertical Markovisation (§5.2): 3-D matching": "test_matching_by_labelled_pairs_of_arcs",
    "adjacent siblings (MP06, appendix): 3-D matching": "test_matching_by_adjacent_siblings",
}


def work(sample: Sample) -> Work:
    """``--sentences`` shortens the sentences, too: it is the longest length."""
    lengths = [n for n in LENGTHS if sample.sentences is None or n <= sample.sentences] or [20, 40]
    found: Work = {cell(*own): (measured, *own, lengths) for own in PROVEN}
    return found | {name: (solved, test) for name, test in HARD.items()}


def cell(problem: str, projective: bool) -> str:
    return f"{problem}, {'projective' if projective else 'non-projective'}"


def measured(problem: str, projective: bool, lengths: list[int]) -> Figures:
    """Median processor time of random labelled scores of growing length, and the order that fits it."""
    rng, seconds = np.random.default_rng(1), []
    for n in (10, *lengths):
        scores = rng.normal(size=(n + 1, n + 1, LABELS))
        times = []
        for _ in range(REPEATED):
            start = time.process_time()
            PROBLEMS[problem](scores, projective=projective)
            times.append(time.process_time() - start)
        seconds.append(statistics.median(times))
    longest = slice(-3, None) if len(lengths) > 2 else slice(1, None)  # what does not grow counts for short ones
    order = np.polyfit(np.log([10, *lengths][longest]), np.log(np.maximum(seconds[longest], 1e-7)), 1)[0]
    return {
        "seconds": dict(zip(map(str, lengths), seconds[1:], strict=True)),
        "order": round(float(order), 2),
        **stamp(),
    }


def solved(test: str) -> Figures:
    """How many instances of a reduction an integer program solves as enumeration does."""
    file = PROJECT / "tests" / "ilp" / "test_reductions.py"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "0",
        "-m",
        "slow",
        "-p",
        "no:cacheprovider",
        f"{file}::{test}",
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=PROJECT, env=os.environ)
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed)", result.stdout)}
    return {"solved": counts.get("passed", 0), "instances": sum(counts.values()), **stamp()}


def stamp() -> Figures:
    return {"date": datetime.date.today().isoformat(), "commit": commit()}


def tables(done: Done) -> list[str]:
    found = done.figures
    lengths = sorted({int(n) for own in found.values() for n in own.get("seconds", {})})
    rows = []
    for (problem, projective), proven in PROVEN.items():
        own = found.get(cell(problem, projective))
        times = [number(own and 1000 * own["seconds"][str(n)], 2) for n in lengths]
        order = r"n² \|L\|" if proven == 2.0 else r"n³ + n² \|L\|"
        rows.append([cell(problem, projective), f"O({order})", number(own and own["order"]), *times])
    head = ["", "proven", "fitted order", *(f"n = {n}: ms" for n in lengths)]
    hard = [[name, f"{own['solved']} of {own['instances']}"] for name in HARD if (own := found.get(name))]
    return [
        "## Table 1: time",
        "",
        f"Labelled scores ({LABELS} labels), random; the order of n is fitted to the three longest.",
        "",
        *table(head, rows),
        "",
        "## The hard cells",
        "",
        "What is proven to be hard is solved exactly by an integer program, on small instances of the reductions "
        "(`tests/ilp/test_reductions.py`), each compared with enumeration.",
        "",
        *table(["reduction", "solved"], hard),
    ]


def claims(done: Done) -> list[Claim]:
    found = []
    for (problem, projective), proven in PROVEN.items():
        own = done.figures.get(cell(problem, projective))
        text = f"{cell(problem, projective)}: the order of n is {proven:g} at most (fitted: within 0.3)"
        holds = None if own is None else own["order"] <= proven + 0.3
        found.append(Claim(text, "–" if own is None else f"{own['order']:.2f}", holds))
    return found


PAPER = Paper(
    "McDonald and Satta (2007), Table 1",
    "The paper proves orders and measures nothing; the times are of this machine, processor time of one thread.",
    work,
    tables,
    claims,
)
