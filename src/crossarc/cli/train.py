"""crossarc train"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from crossarc.cli.common import FILES, progress, read_trees, write_options
from crossarc.core import CrossarcError, Sentence
from crossarc.io import read
from crossarc.parsers import Capability, EpochReport, TrainingListener, train
from crossarc.parsers.config import Config, Setting, settings
from crossarc.parsers.registry import DEFAULT, SYSTEMS, System
from crossarc.pipeline import TEXT_COMPONENTS, Annotated, Pipeline, train_components

_TYPES: dict[type, Any] = {int: click.IntRange, float: click.FloatRange}
_NAMED = "crossarc.system"  # in the context: the system that the arguments name


class _TrainCommand(click.Command):
    """Has the options of the system that is named, beside those of all systems."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        named = _system_in(args)
        context.meta[_NAMED] = named
        self.params = [param for param in self.params if not isinstance(param, _SystemOption)]
        self.params += _options_of(named or SYSTEMS[DEFAULT])
        return super().parse_args(context, args)

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Those of all systems; of a system, those only if it is named."""
        named, params = context.meta[_NAMED], self.get_params(context)
        with formatter.section("Options"):
            write_options(formatter, context, [param for param in params if not isinstance(param, _SystemOption)])
        if named is not None:
            with formatter.section(f"Options of --system {named.name}"):
                write_options(formatter, context, [param for param in params if isinstance(param, _SystemOption)])
        else:
            with formatter.section("Systems (crossarc train --system SYSTEM --help shows their options)"):
                formatter.write_dl([(system.name, system.summary) for system in SYSTEMS.values()])


class _SystemOption(click.Option):
    """An option that stands for a field of a system's configuration."""

    def __init__(self, system: System, setting: Setting) -> None:
        self.system, self.setting = system.name, setting
        flags = setting.flags or f"--{setting.name.replace('_', '-')}"
        default = setting.default_text or _shown(setting)
        kind: Any = click.Choice(setting.choices) if setting.choices else setting.type
        if not setting.choices and setting.type in _TYPES and setting.low is not None:
            kind = _TYPES[setting.type](setting.low, setting.high)
        text = f"{setting.help}  [default: {default}]"
        if setting.type is bool:
            super().__init__([flags, setting.name], default=None, help=text)
        else:
            super().__init__([flags, setting.name], type=kind, default=None, help=text, metavar=_metavar(setting))


def _metavar(setting: Setting) -> str | None:
    return None if setting.choices else {int: "N", float: "X", str: "TEXT"}[setting.type]


def _shown(setting: Setting) -> str:
    if setting.type is bool:
        yes, _, no = setting.flags.partition("/")
        return (yes if setting.default else no).removeprefix("--")
    return f"{setting.default:g}" if setting.type is float else str(setting.default)


def _system_in(args: list[str]) -> System | None:
    """The system that the arguments name, before they are understood."""
    for i, argument in enumerate(args):
        name = argument.partition("=")[2] if argument.startswith("--system=") else ""
        if argument == "--system" and i + 1 < len(args):
            name = args[i + 1]
        if name in SYSTEMS:
            return SYSTEMS[name]
    return None


def _options_of(system: System) -> list[click.Parameter]:
    options: list[click.Parameter] = []
    if system.presets:
        names = ", ".join(sorted(system.presets))
        help = f"The set-up of a paper ({names}); options beside it change it."
        options.append(_Preset(system, help))
    return [*options, *(_SystemOption(system, setting) for setting in settings(system.config))]


class _Preset(_SystemOption):
    """The set-up of a paper."""

    def __init__(self, system: System, help: str) -> None:
        self.system = system.name
        click.Option.__init__(self, ["--preset"], type=click.Choice(sorted(system.presets)), help=help, metavar="NAME")


@click.command("train", cls=_TrainCommand)
@click.argument("treebank", type=FILES)
@click.option("-m", "--model", required=True, type=click.Path(dir_okay=False), help="Where to write the model.")
@click.option("--dev", type=FILES, help="Trees to choose the best epoch on.")
@click.option(
    "--system",
    type=click.Choice(list(SYSTEMS)),
    default=DEFAULT,
    show_default=True,
    metavar="SYSTEM",
    help="The way of parsing, one of those below.",
)
@click.option(
    "--with",
    "components",
    metavar="NAMES",
    help="Learn these too, and keep them in the same file: segmenter, tagger, lemmatizer, or some of them, with commas "
    "between them. With a tagger, the parser learns from automatic tags (by cross-validation).",
)
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
    components: str | None,
    jobs: int,
    resume: bool,
    preset: str | None = None,
    **options: Any,
) -> None:
    """Train a parser on the trees of TREEBANK.

    Without other options this gives the best parser we have for the treebank: crossing arcs if the treebank has them, a
    single root if it always has one. The model is that of the epoch with the best LAS on the dev set.

    Interrupting (Ctrl-C) after an epoch keeps the best model so far; the state of training is kept beside the model (in
    MODEL.training) until it has ended, for --resume.
    """
    chosen = SYSTEMS[system]
    config = _config(chosen, preset, {name: value for name, value in options.items() if value is not None})
    if jobs > 1 and Capability.PARALLEL_TRAINING not in chosen.parser.capabilities:
        raise click.UsageError(f"not with --system {system}: --jobs")
    names = _component_names(components)
    _check_writable(Path(model))
    start = time.monotonic()
    unsupervised = getattr(config, "unsupervised", False)
    trees = list(progress(read(treebank), treebank) if unsupervised else read_trees(treebank))
    held_out = list(read_trees(dev)) if dev else []
    listener = _Bar() if sys.stderr.isatty() else _Lines()
    annotated = _annotated(names, trees, held_out, getattr(config, "seed", 1), listener)
    checkpoint = Path(f"{model}.training")
    parser = train(
        annotated.treebank,
        config,
        dev=annotated.dev,
        listener=listener,
        checkpoint=checkpoint,
        resume=resume,
        jobs=jobs,
    )
    Pipeline(parser, **annotated.components).save(model)
    _summarise(model, parser.dev, time.monotonic() - start)
    if listener.kept is not None:
        click.echo(f"crossarc: interrupted: the model is that of epoch {listener.kept}; --resume goes on", err=True)
        sys.exit(130)
    checkpoint.unlink(missing_ok=True)


def _component_names(components: str | None) -> list[str]:
    names = components.split(",") if components else []
    unknown = [name for name in names if name not in TEXT_COMPONENTS]
    if unknown:
        raise click.UsageError(f"--with {', '.join(unknown)}: there are {', '.join(TEXT_COMPONENTS)}")
    return names


def _check_writable(model: Path) -> None:
    """Find out before any work whether the model can be written."""
    draft = model.with_name(f".{model.name}.part")
    try:
        draft.touch()
        draft.unlink()
    except OSError as error:
        raise CrossarcError(f"{model}: {(error.strerror or str(error)).lower()}") from None


def _summarise(model: str, dev: Any, seconds: float) -> None:
    scores = f"dev UAS {100 * dev.uas:.2f} LAS {100 * dev.las:.2f}, " if dev else ""
    size = Path(model).stat().st_size / 1e6
    click.echo(f"crossarc: {model}: {scores}{size:.1f} MB, trained in {seconds:.0f} s", err=True)


def _annotated(
    names: list[str], trees: list[Sentence], dev: list[Sentence], seed: int, listener: TrainingListener
) -> Annotated:
    """The components that are asked for, and the trees as they annotate them."""
    if not names:
        return Annotated({}, trees, dev)
    click.echo(f"crossarc: learning {', '.join(names)}", err=True)
    annotated = train_components(trees, names, dev=dev, seed=seed, listener=listener)
    if "tagger" in names and dev:
        columns = ["upos", "xpos", "feats"] + ["lemma"] * ("lemmatizer" in names)
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


def _config(system: System, preset: str | None, given: dict[str, Any]) -> Config:
    """The configuration of a system, from the options that are its fields."""
    if given.get("learner") == "crf" and not preset:
        preset = "ms2007"
    config = replace(system.presets[preset] if preset else system.config(), **given)
    for setting in settings(system.config):
        for name, values in setting.only.items():
            if setting.name in given and getattr(config, name) not in values:
                option = setting.flags or f"--{setting.name.replace('_', '-')}"
                needed = " or ".join(_option_text(name, value) for value in values)
                raise click.UsageError(f"{option} has no effect here: only with {needed}")
    return config


def _option_text(name: str, value: object) -> str:
    option = f"--{name.replace('_', '-')}"
    return option if value is True else f"{option} {value}"


class _Lines(TrainingListener):
    """A line for each epoch."""

    kept: int | None = None  # the epoch whose model is kept, if training was interrupted

    def interrupted(self, stage: str, epoch: int) -> None:
        self.kept = epoch

    def sentences_left_out(self, sentences: int, reason: str) -> None:
        self._say(f"{sentences} sentences are not learnt from: {reason}")

    def arcs_left_out(self, arcs: int, how: str) -> None:
        self._say(f"{arcs} arcs {how}")

    def pruned(self, candidates: float, recall: float) -> None:
        self._say(f"pruner: {candidates:.1f} heads a word on dev, the right one among them for {100 * recall:.2f} %")

    def end_epoch(self, report: EpochReport) -> None:
        self._say(_line(report))

    def _say(self, text: str) -> None:
        click.echo(f"crossarc: {text}", err=True)


class _Bar(_Lines):
    """A progress bar within the epoch, and the lines."""

    def __init__(self) -> None:
        from tqdm import tqdm

        self._tqdm = tqdm
        self._bars: dict[str, Any] = {}

    def begin_epoch(self, stage: str, epoch: int, words: int) -> None:
        self._bars[stage] = self._tqdm(total=words, desc=f"{stage} {epoch}", unit=" words", leave=False)

    def progress(self, stage: str, words: int) -> None:
        self._bars[stage].update(words)

    def end_epoch(self, report: EpochReport) -> None:
        if report.stage in self._bars:  # L-BFGS has no progress within an iteration
            self._bars.pop(report.stage).close()
        super().end_epoch(report)

    def _say(self, text: str) -> None:
        self._tqdm.write(f"crossarc: {text}", file=sys.stderr)


def _line(report: EpochReport) -> str:
    scores = f"  dev UAS {100 * report.dev.uas:.2f} LAS {100 * report.dev.las:.2f}" if report.dev else ""
    if report.dev_graph is not None:
        scores += f" graph F {100 * report.dev_graph:.2f}"
    if report.log_likelihood is not None:
        scores += f"  log-likelihood with prior {report.log_likelihood:.3f}"
    loss = "" if report.loss is None else f"loss {report.loss:.3f}, "
    return f"{report.stage} {report.epoch}: {loss}{report.words_per_second:,.0f} words/s{scores}"
