"""crossarc train"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click

from crossarc.cli.common import FILES, progress, read_trees
from crossarc.core import Sentence
from crossarc.io import read
from crossarc.parsers import (
    PRESETS,
    CovingtonConfig,
    EpochReport,
    GenerativeConfig,
    GraphConfig,
    IlpConfig,
    SpanningTreeConfig,
    TrainingListener,
    train,
    train_ilp,
    train_spanning_tree,
)
from crossarc.pipeline import PARTS, Annotated, Pipeline, train_parts

_DEFAULTS = SpanningTreeConfig()
_SYSTEMS: dict[str, Any] = {
    "spanning-tree": SpanningTreeConfig,
    "covington": CovingtonConfig,
    "generative": GenerativeConfig,
    "ilp": IlpConfig,
    "graph": GraphConfig,
}
_OF_ONLINE_LEARNING = {"exploration", "epochs", "seed", "hash_bits"}


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
    help="covington: the incremental parser of Nivre (2007), with --classifier, --exploration, --projective, "
    "--features, --epochs, --seed and --hash-bits. generative: the language model of McDonald & Satta (2007), from "
    "counts or --unsupervised, with the options below that name it. ilp: integer programs (Martins, Smith & Xing "
    "2009), with --parts, --solver, --epochs, --seed, --features and --hash-bits. graph: words with several heads, as "
    "in DEPS (McDonald & Pereira 2006), with --basic-tree, --projective, --features, --epochs, --seed and --hash-bits.",
)
@click.option(
    "--preset",
    type=click.Choice(sorted(PRESETS)),
    help="The set-up of a paper: McDonald, Crammer & Pereira (2005), McDonald et al. (2005) with single-best or "
    "factored MIRA, McDonald & Pereira (2006), McDonald & Satta (2007). Options beside it change it.",
)
@_option(
    "order",
    click.Choice(["1", "2", "high"]),
    "1: arcs only, exact search. 2: arcs and adjacent siblings, from the exact projective tree by best changes. "
    "high: siblings, grandparents and valencies too, by climbing with restarts.",
)
@click.option(
    "--projective/--nonprojective",
    default=None,
    help="Whether arcs must not cross; by default as in the treebank (generative: projective).",
)
@_option(
    "learner",
    click.Choice(["mira", "kbest-mira", "factored-mira", "perceptron", "crf"]),
    "How weights are learnt; kbest-mira, factored-mira and crf need order 1. crf: a log-linear model of all labelled "
    "trees, whose probabilities can be trusted; sets --preset ms2007.",
)
@click.option("-k", type=click.IntRange(1), default=None, help=f"Trees of kbest-mira.  [default: {_DEFAULTS.k}]")
@_option(
    "labels", click.Choice(["two-stage", "joint"]), "Labels are chosen for a finished tree, or together with the arcs."
)
@_option(
    "optimizer",
    click.Choice(["adagrad", "lbfgs"]),
    "Of --learner crf: steps along the gradient of each sentence, or of all at once (L-BFGS; --epochs are its "
    "iterations, and it takes 200 bytes for each weight: use --hash-bits 20).",
)
@_option("l2", click.FloatRange(0), "Of --learner crf: how strongly weights are drawn to 0.")
@_option("patience", click.IntRange(0), "End after so many epochs without a better one on dev; 0 is never.")
@click.option(
    "--parts",
    default=None,
    help=f"Parts of trees that --system ilp scores.  [default: {IlpConfig().parts}]",
)
@click.option(
    "--solver",
    type=click.Choice(["ad3", "highs"]),
    default=None,
    help="Of relaxed programs, with --system ilp: dual decomposition, or the linear program as it is, which takes "
    f"several times as long.  [default: {IlpConfig().solver}]",
)
@_option("epochs", click.IntRange(1), "How often all trees are learnt from.")
@_option("seed", int, "Of the random order of sentences, and of restarts.")
@_option("features", str, "A feature set of ours (default, mcd2005, mp2006), or a file of templates.")
@_option("hash-bits", click.IntRange(10, 28), "There are 2 to this power weights.")
@click.option(
    "--classifier",
    type=click.Choice(["linear", "svm"]),
    default=None,
    help="Of --system covington. svm: support vector machines with a quadratic kernel, as in the paper (needs "
    "scikit-learn: pip install 'crossarc[svm]'): a minute or two for 20,000 words, hours for 200,000, and slower "
    "parsing.  [default: linear]",
)
@click.option(
    "--exploration",
    type=click.FloatRange(0, 1),
    default=None,
    help="Of --system covington: how often training follows the parser's own choices, right or wrong, so that it "
    "learns to make the best of an error. 0: only gold trees, as in the paper.  "
    f"[default: {CovingtonConfig().exploration:g}]",
)
@click.option(
    "--basic-tree/--no-basic-tree",
    default=None,
    help="graph: whether extra heads are chosen by where they stand in the tree too; not so in the paper.  "
    "[default: basic-tree]",
)
@click.option(
    "--unsupervised",
    is_flag=True,
    default=None,
    help="generative: by expectation maximisation from tagged sentences; heads are not looked at. --epochs is the most "
    "iterations.",
)
@click.option(
    "--symbols",
    metavar="COLUMNS",
    help="generative: what words are to the model: upos, xpos, form, lemma, or a tag and a word, as upos+lemma.  "
    "[default: upos+form; unsupervised: upos]",
)
@click.option(
    "--condition",
    type=click.Choice(["head", "direction", "distance"]),
    help="generative: modifiers depend on their head alone, on the direction too, on direction and distance.  "
    "[default: distance; unsupervised: direction]",
)
@click.option(
    "--stop/--no-stop",
    default=None,
    help="generative: heads decide when they have enough modifiers (Klein & Manning 2004).  [default: stop]",
)
@click.option(
    "--start",
    type=click.Choice(["harmonic", "uniform", "random"]),
    help="unsupervised: near heads are likelier, all trees alike, random probabilities.  [default: harmonic]",
)
@click.option(
    "--restarts",
    type=click.IntRange(0),
    help="Further starts: of the search (order high)  [default: 3], or of EM (unsupervised)  [default: 0].",
)
@click.option("--prior", type=float, help="unsupervised: added to every expected count.  [default: 10]")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="With 2, labels are learnt beside heads; the model is the same.",
)
@click.option(
    "--with",
    "parts",
    metavar="PARTS",
    help="Learn these too, and keep them in the same file: segmenter, tagger, lemmatizer, or some of them, with commas "
    "between them. With a tagger, the parser is trained on automatic tags and lemmas (by cross-validation), not on the "
    "treebank's.",
)
@click.option("--resume", is_flag=True, help="Go on with an interrupted training (from MODEL.training).")
def command(
    treebank: str,
    model: str,
    dev: str | None,
    system: str,
    preset: str | None,
    jobs: int,
    parts: str | None,
    resume: bool,
    **options: Any,
) -> None:
    """Train a parser on the trees of TREEBANK.

    Without other options this gives the best parser we have for the treebank: crossing arcs if the treebank has them, a
    single root if it always has one. The model is that of the epoch with the best LAS on the dev set.

    Interrupting (Ctrl-C) after an epoch keeps the best model so far; the state of training is kept beside the model (in
    MODEL.training) until it has ended, for --resume (only with --system spanning-tree).
    """
    given = {name: value for name, value in options.items() if value is not None}
    config = _config(system, preset, given)
    blind = isinstance(config, GenerativeConfig) and config.unsupervised
    trees = list(progress(read(treebank), treebank) if blind else read_trees(treebank))
    held_out = list(read_trees(dev)) if dev else []
    listener = _Bar() if sys.stderr.isatty() else _Lines()
    annotated = _with_parts(parts, trees, held_out, getattr(config, "seed", 1), listener)
    trees, held_out = annotated.treebank, annotated.dev
    resumable: Any = {SpanningTreeConfig: train_spanning_tree, IlpConfig: train_ilp}.get(type(config))
    if resumable is not None:
        checkpoint = Path(f"{model}.training")
        parser = resumable(
            trees, config, dev=held_out, jobs=jobs, checkpoint=checkpoint, resume=resume, listener=listener
        )
        Pipeline(parser, *annotated[:3]).save(model)
    elif resume:
        raise click.UsageError(f"not with --system {system}: --resume")
    else:
        trained = train(trees, config, dev=held_out, listener=listener)
        Pipeline(trained, *annotated[:3]).save(model)
        if isinstance(config, GenerativeConfig) and trained.dev:  # there are no epochs to report it after
            click.echo(f"crossarc: dev UAS {100 * trained.dev.uas:.2f} LAS {100 * trained.dev.las:.2f}", err=True)


def _with_parts(
    parts: str | None, trees: list[Sentence], dev: list[Sentence], seed: int, listener: TrainingListener
) -> Annotated:
    """The parts that are asked for, and the trees as they annotate them."""
    wanted = parts.split(",") if parts else []
    unknown = [part for part in wanted if part not in PARTS]
    if unknown:
        raise click.UsageError(f"--with {', '.join(unknown)}: there are {', '.join(PARTS)}")
    if wanted:
        click.echo(f"crossarc: learning {', '.join(wanted)}", err=True)
    annotated = train_parts(trees, wanted, dev=dev, seed=seed, listener=listener)
    if annotated.tagger is not None and dev:
        columns = ["upos", "xpos", "feats"] + ["lemma"] * (annotated.lemmatizer is not None)
        shares = (f"{column} {100 * _right(dev, annotated.dev, column):.2f}" for column in columns)
        click.echo(f"crossarc: dev {' '.join(shares)}", err=True)
    return annotated


def _right(gold: list[Sentence], own: list[Sentence], column: str) -> float:
    """The share of words that have the right value in a column."""
    pairs = [
        pair for two in zip(gold, own, strict=True) for pair in zip(*(getattr(s, column) for s in two), strict=True)
    ]
    right: int = sum(a == b for a, b in pairs)
    return right / len(pairs)


def _config(system: str, preset: str | None, given: dict[str, Any]) -> Any:
    """The configuration of a system, from the options that are its fields."""
    kind = _SYSTEMS[system]
    known = {field.name for field in fields(kind)}
    where = f"--system {system}"
    if given.get("classifier") == "svm":
        known, where = known - _OF_ONLINE_LEARNING, f"{where} --classifier svm"
    unknown = [name for name in given if name not in known]
    if preset and system != "spanning-tree":
        unknown.append("preset")
    if unknown:
        options = ", ".join("-k" if name == "k" else f"--{name.replace('_', '-')}" for name in unknown)
        raise click.UsageError(f"not with {where}: {options}")
    blind_only = [f"--{name}" for name in ("start", "prior") if name in given and not given.get("unsupervised")]
    if blind_only:
        raise click.UsageError(f"only with --unsupervised: {', '.join(blind_only)}")
    if given.get("learner") == "crf" and not preset:
        preset = "ms2007"
    return replace(PRESETS[preset] if preset else kind(), **given)


class _Lines(TrainingListener):
    """A line for each epoch."""

    def left_out(self, sentences: int, reason: str) -> None:
        click.echo(f"crossarc: {sentences} sentences are not learnt from: {reason}", err=True)

    def unrepresented(self, arcs: int, how: str) -> None:
        click.echo(f"crossarc: {arcs} arcs {how}", err=True)

    def pruned(self, candidates: float, recall: float) -> None:
        click.echo(_of_pruner(candidates, recall), err=True)

    def likelihood(self, start: int, iteration: int, log_likelihood: float, sentences_per_second: float) -> None:
        click.echo(_of_em(start, iteration, log_likelihood, sentences_per_second), err=True)

    def report(self, report: EpochReport) -> None:
        click.echo(_line(report), err=True)


class _Bar(_Lines):
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

    def likelihood(self, start: int, iteration: int, log_likelihood: float, sentences_per_second: float) -> None:
        self._tqdm.write(_of_em(start, iteration, log_likelihood, sentences_per_second), file=sys.stderr)

    def report(self, report: EpochReport) -> None:
        if report.stage in self._bars:  # L-BFGS has no progress within an iteration
            self._bars.pop(report.stage).close()
        self._tqdm.write(_line(report), file=sys.stderr)


def _of_pruner(candidates: float, recall: float) -> str:
    return f"crossarc: pruner: {candidates:.1f} heads a word on dev, the right one among them for {100 * recall:.2f} %"


def _of_em(start: int, iteration: int, log_likelihood: float, sentences_per_second: float) -> str:
    return (
        f"crossarc: start {start}, iteration {iteration}: log-likelihood with prior {log_likelihood:.3f}, "
        f"{sentences_per_second:,.0f} sentences/s"
    )


def _line(report: EpochReport) -> str:
    scores = f"  dev UAS {100 * report.dev.uas:.2f} LAS {100 * report.dev.las:.2f}" if report.dev else ""
    if report.dev_graph is not None:
        scores += f" graph F {100 * report.dev_graph:.2f}"
    loss = "" if report.loss is None else f"loss {report.loss:.3f}, "
    return f"crossarc: {report.stage} {report.epoch}: {loss}{report.words_per_second:,.0f} words/s{scores}"
