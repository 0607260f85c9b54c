"""crossarc train"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click

from crossarc.cli.common import FILES, read_trees
from crossarc.parsers import (
    PRESETS,
    CovingtonConfig,
    EpochReport,
    IlpConfig,
    SpanningTreeConfig,
    Watcher,
    train,
    train_ilp,
    train_spanning_tree,
)

_DEFAULTS = SpanningTreeConfig()
_SYSTEMS: dict[str, Any] = {"spanning-tree": SpanningTreeConfig, "covington": CovingtonConfig, "ilp": IlpConfig}


def _option(name: str, type: Any, help: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """An option that stands for a field of the configuration; a preset may have set another default."""
    default = getattr(_DEFAULTS, name.replace("-", "_"))
    return click.option(f"--{name}", type=type, default=None, help=f"{help}  [default: {default}]")


@click.command("train")
@click.argument("treebank", type=FILES)
@click.option("-m", "--model", required=True, type=click.Path(dir_okay=False), help="Where to write the model.")
@click.option("--dev", type=FILES, help="Trees to choose the best epoch on.")
@click.option(
    "--system",
    type=click.Choice(list(_SYSTEMS)),
    default="spanning-tree",
    show_default=True,
    help="covington: the incremental parser of Nivre (2007), with --projective, --epochs, --seed and --hash-bits. "
    "ilp: integer programs (Martins, Smith & Xing 2009), with --parts, --epochs, --seed, --features and --hash-bits.",
)
@click.option(
    "--preset",
    type=click.Choice(sorted(PRESETS)),
    help="The set-up of a paper: McDonald, Crammer & Pereira (2005), McDonald et al. (2005) with single-best or "
    "factored MIRA, McDonald & Pereira (2006). Options beside it change it.",
)
@_option(
    "order",
    click.Choice(["1", "2", "high"]),
    "1: arcs only, exact search. 2: arcs and adjacent siblings, from the exact projective tree by best changes. "
    "high: siblings, grandparents and valencies too, by climbing with restarts.",
)
@click.option(
    "--projective/--nonprojective", default=None, help="Whether arcs must not cross; by default as in the treebank."
)
@_option(
    "learner",
    click.Choice(["mira", "kbest-mira", "factored-mira", "perceptron"]),
    "How weights are learnt; kbest-mira and factored-mira need order 1.",
)
@click.option("-k", type=click.IntRange(1), default=None, help=f"Trees of kbest-mira.  [default: {_DEFAULTS.k}]")
@_option(
    "labels", click.Choice(["two-stage", "joint"]), "Labels are chosen for a finished tree, or together with the arcs."
)
@click.option(
    "--parts",
    default=None,
    help=f"Parts of trees that --system ilp scores.  [default: {IlpConfig().parts}]",
)
@_option("epochs", click.IntRange(1), "How often all trees are learnt from.")
@_option("seed", int, "Of the random order of sentences, and of restarts.")
@_option("features", str, "A feature set of ours (default, mcd2005, mp2006), or a file of templates.")
@_option("hash-bits", click.IntRange(10, 28), "There are 2 to this power weights.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="With 2, labels are learnt beside heads; the model is the same.",
)
@click.option("--resume", is_flag=True, help="Go on with an interrupted training (from MODEL.training).")
def command(
    treebank: str,
    model: str,
    dev: str | None,
    system: str,
    preset: str | None,
    jobs: int,
    resume: bool,
    **options: Any,
) -> None:
    """Train a parser on the trees of TREEBANK.

    Without other options this gives the best parser we have for the treebank: crossing arcs if the treebank has them, a
    single root if it always has one. The model is that of the epoch with the best LAS on the dev set.

    Interrupting (Ctrl-C) after an epoch keeps the best model so far; the state of training is kept beside the model (in
    MODEL.training) until it has ended, for --resume (not with --system covington).
    """
    given = {name: value for name, value in options.items() if value is not None}
    config = _config(system, preset, given)
    trees = list(read_trees(treebank))
    held_out = list(read_trees(dev)) if dev else []
    watcher = _Bar() if sys.stderr.isatty() else _Lines()
    resumable: Any = {SpanningTreeConfig: train_spanning_tree, IlpConfig: train_ilp}.get(type(config))
    if resumable is not None:
        checkpoint = Path(f"{model}.training")
        parser = resumable(
            trees, config, dev=held_out, jobs=jobs, checkpoint=checkpoint, resume=resume, watcher=watcher
        )
        parser.save(model)
    elif resume:
        raise click.UsageError(f"not with --system {system}: --resume")
    else:
        train(trees, config, dev=held_out, watcher=watcher).save(model)


def _config(system: str, preset: str | None, given: dict[str, Any]) -> Any:
    """The configuration of a system, from the options that are its fields."""
    kind = _SYSTEMS[system]
    known = {field.name for field in fields(kind)}
    unknown = [name for name in given if name not in known]
    if preset and system != "spanning-tree":
        unknown.append("preset")
    if unknown:
        options = ", ".join("-k" if name == "k" else f"--{name.replace('_', '-')}" for name in unknown)
        raise click.UsageError(f"not with --system {system}: {options}")
    return replace(PRESETS[preset] if preset else kind(), **given)


class _Lines(Watcher):
    """A line for each epoch."""

    def pruned(self, candidates: float, recall: float) -> None:
        click.echo(_of_pruner(candidates, recall), err=True)

    def report(self, report: EpochReport) -> None:
        click.echo(_line(report), err=True)


class _Bar(Watcher):
    """A progress bar within the epoch, and the lines."""

    def __init__(self) -> None:
        from tqdm import tqdm

        self._tqdm = tqdm
        self._bars: dict[str, Any] = {}

    def epoch(self, stage: str, epoch: int, words: int) -> None:
        self._bars[stage] = self._tqdm(total=words, desc=f"{stage} {epoch}", unit=" words", leave=False)

    def learnt(self, stage: str, words: int) -> None:
        self._bars[stage].update(words)

    def pruned(self, candidates: float, recall: float) -> None:
        self._tqdm.write(_of_pruner(candidates, recall), file=sys.stderr)

    def report(self, report: EpochReport) -> None:
        self._bars.pop(report.stage).close()
        self._tqdm.write(_line(report), file=sys.stderr)


def _of_pruner(candidates: float, recall: float) -> str:
    return f"crossarc: pruner: {candidates:.1f} heads a word on dev, the right one among them for {100 * recall:.2f} %"


def _line(report: EpochReport) -> str:
    scores = f"  dev UAS {100 * report.dev.uas:.2f} LAS {100 * report.dev.las:.2f}" if report.dev else ""
    return (
        f"crossarc: {report.stage} {report.epoch}: loss {report.loss:.3f}, "
        f"{report.words_per_second:,.0f} words/s{scores}"
    )
