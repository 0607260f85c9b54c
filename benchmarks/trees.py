"""`crossarc.trees` against its peers: `python benchmarks/trees.py`.

Makes an environment with the peers, checks that each gives the same answers as we do, times everything on one
thread, prints the ratios, and writes docs/results/trees.md and docs/trees-complexity.svg. `--quick` is short
and noisy, and writes both under .benchmarks/quick instead.
"""

from __future__ import annotations

from environment import ENVIRONMENTS, PROJECT, commit, run_inside

if __name__ == "__main__":
    # --no-deps: supar asks for transformers and stanza, spacy-experimental for spaCy with an old NumPy; what
    # is used of them here needs torch or NumPy alone.
    run_inside(
        "trees",
        required=[["torch==2.13.0"], ["--editable", "."], ["matplotlib"]],
        optional=[
            ["ufal.chu_liu_edmonds"],
            ["networkx"],
            ["--no-deps", "spacy-experimental"],
            ["--no-deps", "torch-struct"],
            ["--no-deps", "supar"],
        ],
    )

import argparse
import datetime
import importlib.metadata
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import timing
import tree_peers as peers
from crossarc import trees
from log_log_plot import Curve, save
from tree_peers import Contestant, Scores

PACKAGES = [
    "numpy",
    "numba",
    "torch",
    "ufal.chu_liu_edmonds",
    "spacy-experimental",
    "networkx",
    "torch-struct",
    "supar",
]

NOTES = """\
- Every contestant gets its input in its own layout and number type; bringing it there is not timed. The
  Python call is. Ours includes the check of the scores for NaN and +inf.
- Before a peer is timed, its answer must equal ours: within 1e-6 in float64, 1e-4 in float32 (relative).
- All problems here allow any number of children of the root (`multiroot=True` in torch-struct and supar), as
  the other peers do. Ours computes in float64 throughout; torch peers are timed in float32 and in float64.
- spacy-experimental computes in float32. Its `mst_decode` and the `chu_liu_edmonds` below it are both timed.
- torch-struct adds 1e-5 to every exp(score) in its Matrix-Tree sums, and supar rounds log Z to float32: there
  the tolerance is 1e-4 in float64 too. torch-struct's `argmax` is a 0/1 matrix; not turned into heads.
- supar's second order has no score for a first child; those scores are 0 in our input.
- networkx takes part in best trees at n = 10 and 40 only: it is hundreds of times slower than the others.
- torch-struct's projective CRF fails on torch 2.13 unless its input needs gradients, so it gets such input.
  supar's tree modules are imported without its parsers. No peer's code is changed.
"""


@dataclass(frozen=True)
class Row:
    """One line of the table: the same work done by us and by the peers."""

    work: str
    target: float
    ours: Contestant
    peers: dict[str, Callable[[], list[Contestant]]]


@dataclass(frozen=True)
class Result:
    row: Row
    seconds: float
    peer_seconds: dict[str, float]
    absent: dict[str, str]

    @property
    def best_peer(self) -> str | None:
        return min(self.peer_seconds, key=self.peer_seconds.__getitem__, default=None)

    @property
    def ratio(self) -> float:
        return self.peer_seconds[self.best_peer] / self.seconds if self.best_peer else float("nan")


# The work


def hard(rng: np.random.Generator, n: int) -> Scores:
    return rng.normal(size=(n + 1, n + 1))


def peaked(rng: np.random.Generator, n: int) -> Scores:
    """As a trained parser gives them: +6 on the arcs of a random tree."""
    scores = hard(rng, n)
    order = np.concatenate([[0], rng.permutation(n) + 1])
    for i in range(1, n + 1):
        scores[order[rng.integers(i)], order[i]] += 6
    return scores


def rows() -> Iterator[Row]:
    """The table of the speed goals, top to bottom."""
    rng = np.random.default_rng(2007)
    for kind, target in [(hard, 8), (peaked, 4)]:
        sentences = [kind(rng, int(n)) for n in rng.integers(5, 61, size=256)]
        yield many_best_trees(f"`best_trees`, 256 sentences of 5-60 words, {kind.__name__}", target, sentences)
    for n, target in [(10, 1), (40, 4), (80, 12), (160, 20)]:
        yield single_best_trees(n, target, [hard(rng, n) for _ in range(16)])
    for n, target in [(10, 5), (20, 3), (40, 1.5), (80, 1)]:
        yield sums(n, target, rng.normal(size=(32, n + 1, n + 1)))
    for n, target in [(20, 80), (40, 25)]:
        yield projective_best(n, target, rng.normal(size=(32, n + 1, n + 1)))
    for n, target in [(20, 15), (40, 6)]:
        yield projective_sums(n, target, rng.normal(size=(32, n + 1, n + 1)))
    yield second_order_best(20, 50, rng.normal(size=(32, 21, 21)), rng.normal(size=(32, 21, 21, 21)))
    yield k_best(20, 500, hard(rng, 20), 10)


def many_best_trees(work: str, target: float, sentences: list[Scores]) -> Row:
    ours = Contestant("ours", lambda: trees.best_trees(sentences), _tree_scores)
    return Row(work, target, ours, _best_tree_peers(sentences))


def single_best_trees(n: int, target: float, sentences: list[Scores]) -> Row:
    """One call after the other, over several matrices, since how hard one is depends on its cycles."""
    work = f"`best_tree`, {len(sentences)} single calls, hard, n = {n}"
    ours = Contestant("ours", lambda: [trees.best_tree(s) for s in sentences], _tree_scores)
    others = _best_tree_peers(sentences)
    if n <= 40:
        others["networkx"] = lambda: peers.networkx_best(sentences)
    return Row(work, target, ours, others)


def _best_tree_peers(sentences: list[Scores]) -> dict[str, Callable[[], list[Contestant]]]:
    return {
        "ufal.chu_liu_edmonds": lambda: peers.ufal_best(sentences),
        "spacy-experimental": lambda: peers.spacy_best(sentences),
    }


def sums(n: int, target: float, batch: Scores) -> Row:
    sentences = list(batch)

    def answer(
        sums: tuple[NDArray[np.float64], list[NDArray[np.float64]]],
    ) -> NDArray[np.float64]:
        return np.concatenate([np.ravel(sums[0]), np.stack(sums[1])[..., 1:].ravel()])

    return Row(
        f"log-partition + marginals, batch of {len(batch)}, n = {n}",
        target,
        Contestant("ours", lambda: trees.log_partitions_and_marginals(sentences), answer),
        {
            "torch-struct": lambda: peers.torch_struct_sums(batch),
            "supar": lambda: peers.supar_sums(batch),
        },
    )


def projective_best(n: int, target: float, batch: Scores) -> Row:
    sentences = list(batch)
    return Row(
        f"Eisner best tree, batch of {len(batch)}, n = {n}",
        target,
        Contestant("ours", lambda: trees.best_trees(sentences, projective=True), _tree_scores),
        {
            "torch-struct": lambda: peers.torch_struct_projective_best(batch),
            "supar": lambda: peers.supar_projective_best(batch),
        },
    )


def projective_sums(n: int, target: float, batch: Scores) -> Row:
    sentences = list(batch)
    return Row(
        f"projective marginals (log space), batch of {len(batch)}, n = {n}",
        target,
        Contestant(
            "ours",
            lambda: trees.marginals_batch(sentences, projective=True),
            lambda marginals: np.stack(marginals)[..., 1:].ravel(),
        ),
        {
            "torch-struct": lambda: peers.torch_struct_projective_sums(batch),
            "supar": lambda: peers.supar_projective_sums(batch),
        },
    )


def second_order_best(n: int, target: float, batch: Scores, siblings: NDArray[np.float64]) -> Row:
    each = np.arange(n + 1)
    siblings[:, each, each, :] = 0  # the peer has no score for a first child

    def score(i: int, heads: NDArray[np.int64]) -> float:
        return _second_order_score(batch[i], siblings[i], heads)

    return Row(
        f"second-order Eisner best tree, batch of {len(batch)}, n = {n}",
        target,
        Contestant("ours", lambda: trees.best_second_order_trees(batch, siblings), _tree_scores),
        {"supar": lambda: peers.supar_second_order_best(batch, siblings, score)},
    )


def k_best(n: int, target: float, scores: Scores, k: int) -> Row:
    return Row(
        f"{k} best trees, n = {n}",
        target,
        Contestant("ours", lambda: trees.k_best_trees(scores, k), _tree_scores),
        {"networkx": lambda: peers.networkx_k_best(scores, k)},
    )


def _tree_scores(found: Sequence[trees.Tree]) -> NDArray[np.float64]:
    return np.array([tree.score for tree in found])


def _second_order_score(arcs: Scores, siblings: NDArray[np.float64], heads: NDArray[np.int64]) -> float:
    total = 0.0
    for m in range(1, len(heads)):
        h = heads[m]
        step = 1 if h < m else -1
        closer = [s for s in range(h + step, m, step) if heads[s] == h]
        total += arcs[h, m] + siblings[h, closer[-1] if closer else h, m]
    return total


# Measuring


def measure(row: Row, seconds: float, time_of: timing.Time = time.perf_counter) -> Result:
    expected = row.ours.answer(row.ours.call())
    calls: dict[str, Callable[[], object]] = {}
    absent: dict[str, str] = {}
    for package, contestants in row.peers.items():
        try:
            for peer in contestants():
                _check_agreement(peer, expected)
                calls[peer.name] = peer.call
        except (ImportError, ArithmeticError, RuntimeError) as error:
            absent[package] = str(error).splitlines()[0]
    ours, theirs = timing.medians(row.ours.call, calls, seconds=seconds, time_of=time_of)
    return Result(row, ours, theirs, absent)


def _check_agreement(peer: Contestant, expected: NDArray[np.float64]) -> None:
    answer = peer.answer(peer.call())
    difference = float(np.max(np.abs(answer - expected) / np.maximum(1, np.abs(expected))))
    if not difference <= peer.tolerance:
        raise ArithmeticError(f"{peer.name} gives another answer: {difference:.1e} away from ours")


def curves(seconds: float, largest: int) -> list[Curve]:
    """Time of one call against n, beside the time to read the matrix once."""
    rng = np.random.default_rng(2006)
    quadratic = [n for n in (10, 20, 40, 80, 160, 320, 640, 1000) if n <= largest]
    cubic = [n for n in quadratic if n <= 320]
    functions: list[tuple[str, Sequence[int], int | None, Callable[[Scores], object]]] = [
        ("reading the matrix once (NumPy's max)", quadratic, None, np.max),
        ("best_tree", quadratic, 2, trees.best_tree),
        ("best_tree, projective", cubic, 3, lambda s: trees.best_tree(s, projective=True)),
        ("log_partition", cubic, 3, trees.log_partition),
        ("marginals", cubic, 3, trees.marginals),
        ("log_partition, projective", cubic, 3, lambda s: trees.log_partition(s, projective=True)),
        ("marginals, projective", cubic, 3, lambda s: trees.marginals(s, projective=True)),
    ]
    matrices = {n: [hard(rng, n) for _ in range(4)] for n in quadratic}

    def time_of(function: Callable[[Scores], object], n: int) -> float:
        def call() -> list[object]:
            return [function(scores) for scores in matrices[n]]

        call()
        return timing.median(call, seconds=seconds) / len(matrices[n])

    return [
        Curve(name, sizes, [time_of(function, n) for n in sizes], promised)
        for name, sizes, promised, function in functions
    ]


# Reporting


def ratio_table(results: Sequence[Result]) -> Iterator[str]:
    yield "| work | ours | best peer | its time | times as fast | goal | met |"
    yield "| --- | ---: | --- | ---: | ---: | ---: | --- |"
    for result in results:
        yield ratio_line(result)


def ratio_line(result: Result) -> str:
    row, peer = result.row, result.best_peer
    if peer is None:
        return f"| {row.work} | {_time(result.seconds)} | none could run | | | {row.target:g} × | ? |"
    met = "yes" if result.ratio >= row.target else "**no**"
    if result.absent:
        met += f" (without {', '.join(result.absent)})"
    times = f"{_time(result.seconds)} | {peer} | {_time(result.peer_seconds[peer])}"
    return f"| {row.work} | {times} | {result.ratio:.1f} × | {row.target:g} × | {met} |"


def peer_table(results: Sequence[Result]) -> Iterator[str]:
    yield "| work | peer | time | ours is faster |"
    yield "| --- | --- | ---: | ---: |"
    for result in results:
        for peer, seconds in sorted(result.peer_seconds.items(), key=lambda item: item[1]):
            yield f"| {result.row.work} | {peer} | {_time(seconds)} | {seconds / result.seconds:.1f} × |"
        for name, reason in result.absent.items():
            yield f"| {result.row.work} | {name} | not measured: {reason} | |"


def curve_table(found: Sequence[Curve]) -> Iterator[str]:
    """Time at each size, the fitted exponent, and the distance from reading the matrix once."""
    sizes = found[0].sizes
    reading = dict(zip(found[0].sizes, found[0].seconds, strict=True))
    yield f"| one call, hard | {' | '.join(f'n = {n}' for n in sizes)} | order | promised | × reading once |"
    yield f"| --- |{' ---: |' * (len(sizes) + 3)}"
    for curve in found:
        times = [_time(s) for s in curve.seconds] + [""] * (len(sizes) - len(curve.sizes))
        promised = f"n^{curve.promised}" if curve.promised else ""
        distance = curve.seconds[-1] / reading[curve.sizes[-1]]
        cells = [
            curve.name,
            *times,
            f"n^{curve.slope():.2f}",
            promised,
            f"{distance:.0f} (n = {curve.sizes[-1]})",
        ]
        yield f"| {' | '.join(cells)} |"


def report(results: Sequence[Result], found: Sequence[Curve], figure: str) -> str:
    lines = [
        "# Speed of `crossarc.trees`",
        "",
        f"Written by `python benchmarks/trees.py` on {datetime.date.today()}, at commit {commit()}.",
        machine(PACKAGES),
        "",
        "Medians of interleaved repetitions in one process on one thread. *Hard* scores are dense N(0, 1);",
        "*peaked* ones have +6 on the arcs of a random tree, as a trained parser gives.",
        "",
        *ratio_table(results),
        "",
        "## Time against the length of the sentence",
        "",
        f"![time against n on logarithmic axes]({figure})",
        "",
        "The order is fitted from n = 80 on. The last column is the distance from the limit: how many times",
        "NumPy could read the matrix (take its maximum) in the time of the call, at the largest n measured.",
        "",
        *curve_table(found),
        "",
        "## How it is measured",
        "",
        *NOTES.splitlines(),
        "",
        "## Every peer",
        "",
        *peer_table(results),
        "",
    ]
    return "\n".join(lines)


def machine(packages: Sequence[str]) -> str:
    versions = ", ".join(f"{name} {_version(name)}" for name in packages)
    system = f"{platform.system()} {platform.machine()} with {os.cpu_count()} cores"
    return f"{system}; Python {platform.python_version()}, {versions}."


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "(absent)"


def _time(seconds: float) -> str:
    for unit, size in [("s", 1.0), ("ms", 1e-3)]:
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def prepare_torch() -> None:
    """One thread; and no validation of arguments, which would only slow the peers down."""
    import torch

    torch.set_num_threads(1)
    torch.distributions.Distribution.set_default_validate_args(False)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="short and noisy; writes under .benchmarks/quick")
    parser.add_argument("--only", metavar="TEXT", help="only the rows whose work contains TEXT; writes nothing")
    options = parser.parse_args(arguments)
    seconds = 0.2 if options.quick else 3.0

    prepare_torch()
    results = []
    print(*ratio_table([]), sep="\n", flush=True)
    for row in rows():
        if not options.only or options.only in row.work:
            results.append(measure(row, seconds))
            print(ratio_line(results[-1]), flush=True)
    print("", *peer_table(results), sep="\n", flush=True)
    if options.only:
        return

    found = curves(seconds / 4, largest=320 if options.quick else 1000)
    print("", *curve_table(found), sep="\n")
    docs = ENVIRONMENTS / "quick" if options.quick else PROJECT / "docs"
    write(docs, results, found)


def write(docs: Path, results: Sequence[Result], found: Sequence[Curve]) -> None:
    page, figure = docs / "results" / "trees.md", docs / "trees-complexity.svg"
    save(figure, "crossarc.trees: one call on one thread, dense N(0, 1) scores", found)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(report(results, found, "../trees-complexity.svg"), encoding="utf-8")
    print(f"\nWrote {page.relative_to(PROJECT)} and {figure.relative_to(PROJECT)}.", file=sys.stderr)


if __name__ == "__main__":
    main()
