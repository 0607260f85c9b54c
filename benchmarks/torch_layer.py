"""`crossarc.integrations.torch` against its peers: `python benchmarks/torch_layer.py`.

A step of training with a loss over all trees: log Z of a batch of 32 sentences, forward and backward. Makes an
environment with the peers, checks that each gives the same log Z and gradient as we do, times everything on one thread,
prints the ratios, and writes docs/results/torch-layer.md. `--quick` is short and noisy, and writes it under
.benchmarks/quick instead.
"""

from __future__ import annotations

from environment import ENVIRONMENTS, PROJECT, commit, run_inside

if __name__ == "__main__":
    run_inside(
        "torch-layer",
        required=[["torch==2.13.0"], ["--editable", "."]],
        optional=[["--no-deps", "torch-struct"], ["--no-deps", "supar"]],
    )

import argparse
import datetime
import sys
import time
from collections.abc import Iterator, Sequence

import numpy as np
import torch

import tree_peers as peers
from crossarc.integrations.torch import log_partition
from tree_peers import Scores
from trees import Result, Row, machine, measure, peer_table, prepare_torch, ratio_line, ratio_table

BATCH = 32

NOTES = """\
- Scores are dense N(0, 1), with gradients, in each contestant's own layout; the gradient of a step is thrown away
  before the next.
- Ours is timed in float32, a network's usual type (the kernels compute in float64); peers in float32 and in float64,
  of which the faster counts.
- Before a peer is timed, its log Z and its gradient must equal ours within 1e-4 (relative). There is float32,
  torch-struct adds 1e-5 to every exp(score) of non-projective trees, and supar rounds their log Z to float32.
- supar's tree modules are imported without its parsers. No peer's code is changed.
"""


def rows() -> Iterator[Row]:
    rng = np.random.default_rng(2007)
    for projective, goal in [(False, 3), (True, 3)]:
        for n in (20, 40):
            for single_root in (False, True):
                yield row(rng.normal(size=(BATCH, n + 1, n + 1)), goal, single_root, projective)


def row(batch: Scores, goal: float, single_root: bool, projective: bool) -> Row:
    def log_z(scores: torch.Tensor) -> torch.Tensor:
        return log_partition(scores, single_root=single_root, projective=projective)

    kind = "inside-outside" if projective else "matrix-tree"
    return Row(
        f"{kind}, {'single root' if single_root else 'several roots'}, n = {batch.shape[1] - 1}",
        goal,
        peers.gradient_of(log_z, torch.tensor(batch, dtype=torch.float32).requires_grad_(), "ours", peers.sums_of),
        {
            "torch-struct": lambda: peers.torch_struct_gradient(batch, single_root=single_root, projective=projective),
            "supar": lambda: peers.supar_gradient(batch, single_root=single_root, projective=projective),
        },
    )


def report(results: Sequence[Result]) -> str:
    lines = [
        "# Speed of `crossarc.integrations.torch`",
        "",
        f"Written by `python benchmarks/torch_layer.py` on {datetime.date.today()}, at commit {commit()}.",
        machine(["numpy", "numba", "torch", "torch-struct", "supar"]),
        "",
        f"log Z of a batch of {BATCH} sentences, forward and backward, as in a step of training. Processor time:",
        "medians of interleaved repetitions in one process on one thread.",
        "",
        *ratio_table(results),
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="short and noisy; writes under .benchmarks/quick")
    options = parser.parse_args()
    prepare_torch()
    results = []
    print(*ratio_table([]), sep="\n", flush=True)
    for work in rows():
        results.append(measure(work, 0.2 if options.quick else 1.0, time.process_time))
        print(ratio_line(results[-1]), flush=True)
    page = (ENVIRONMENTS / "quick" if options.quick else PROJECT / "docs") / "results" / "torch-layer.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(report(results), encoding="utf-8")
    print(f"\nWrote {page.relative_to(PROJECT)}.", file=sys.stderr)


if __name__ == "__main__":
    main()
