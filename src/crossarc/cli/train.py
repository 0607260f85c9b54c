"""crossarc train"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from crossarc.cli.common import FILES, read_sentences, read_trees, shows_progress, write_options
from crossarc.cli.hints import HintedError
from crossarc.cli.messages import log
from crossarc.core import Sentence
from crossarc.evaluation import evaluate
from crossarc.io.lock import only_writer
from crossarc.learning.shards import Workers
from crossarc.models import ModelError
from crossarc.parsers import Capability, EpochReport, Parser, TrainingListener, train
from crossarc.parsers.config import Config, Setting, settings
from crossarc.parsers.progress import ProgressLines, duration
from crossarc.parsers.pseudo_projective.encoding import ENCODINGS, Encoding
from crossarc.parsers.registry import DEFAULT, SYSTEMS, System
from crossarc.parsers.training import has_possible_tree
from crossarc.pipeline import TEXT_COMPONENTS, Annotated, Pipeline, train_components
from crossarc.text import raw_text

_TYPES: dict[type, Any] = {int: click.IntRange, float: click.FloatRange}
_PRESET_OF_LEARNER = {"crf": "ms2007"}
_NAMED = "crossarc.system"  # in the context: the system that the arguments name


class SystemCommand(click.Command):
    """Has the options of the system that is named (``--system``), beside its own."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        named = SYSTEMS.get(_value_of("--system", args) or "")
        context.meta[_NAMED] = named
        self.params = [param for param in self.params if not isinstance(param, _SystemOption)]
        self.params += _options_of(named or SYSTEMS[DEFAULT], _value_of("--preset", args), _value_of("--learner", args))
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
            with formatter.section(f"Systems (crossarc {self.name} --system SYSTEM --help shows their options)"):
                formatter.write_dl([(system.name, system.summary) for system in SYSTEMS.values()])


class _SystemOption(click.Option):
    """An option that stands for a field of a system's configuration."""

    def __init__(self, system: System, setting: Setting, default: Any) -> None:
        self.system, self.setting = system.name, setting
        flags = setting.flags or f"--{setting.name.replace('_', '-')}"
        default = _shown(setting, default)
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


def _shown(setting: Setting, default: Any) -> str:
    if default is None or (setting.default_text and default == setting.default):
        return setting.default_text or "none"
    if setting.type is bool:
        yes, _, no = setting.flags.partition("/")
        return (yes if default else no).removeprefix("--")
    return f"{default:g}" if setting.type is float else str(default)


def _value_of(option: str, args: list[str]) -> str | None:
    """The value of an option in the arguments, before they are understood."""
    for i, argument in enumerate(args):
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
        if argument == option and i + 1 < len(args):
            return args[i + 1]
    return None


def _base(system: System, preset: str | None, learner: str | None) -> Config:
    """The configuration that options change: that of a preset, which some learners come with."""
    preset = preset or _PRESET_OF_LEARNER.get(learner or "")
    return system.presets.get(preset or "") or system.config()


def _options_of(system: System, preset: str | None, learner: str | None) -> list[click.Parameter]:
    """The options of a system; their defaults are those of the preset, and of the learner."""
    options: list[click.Parameter] = []
    if system.presets:
        names = ", ".join(sorted(system.presets))
        help = f"The set-up of a paper ({names}); options beside it change it."
        options.append(_Preset(system, help))
    base = _base(system, preset, learner)
    for setting in settings(system.config):
        default = learner if setting.name == "learner" and learner else getattr(base, setting.name)
        options.append(_SystemOption(system, setting, default))
    return options


class _Preset(_SystemOption):
    """The set-up of a paper."""

    def __init__(self, system: System, help: str) -> None:
        self.system = system.name
        click.Option.__init__(self, ["--preset"], type=click.Choice(sorted(system.presets)), help=help, metavar="NAME")


system_option = click.option(
    "--system",
    type=click.Choice(list(SYSTEMS)),
    default=DEFAULT,
    show_default=True,
    metavar="SYSTEM",
    help="The way of parsing, one of those below.",
)


@click.command("train", cls=SystemCommand)
@click.argument("treebanks", metavar="TREEBANK...", type=FILES, nargs=-1, required=True)
@click.option("-m", "--model", required=True, type=click.Path(dir_okay=False), help="Where to write the model.")
@click.option("--dev", type=FILES, multiple=True, help="Trees to choose the best epoch on; repeatable.")
@system_option
@click.option(
    "--with",
    "components",
    metavar="NAMES",
    help="Train these too, for the same file: some of segmenter,tagger,lemmatizer,enhancer. With a tagger, the parser "
    "learns from automatic tags (by cross-validation). An enhancer fills DEPS (parse --enhanced).",
)
@click.option(
    "--pseudo-projective",
    type=click.Choice(ENCODINGS),
    metavar="CODE",
    help="A projective parser whose labels say which arcs cross: head, path, head+path.",
)
@click.option("--stack", metavar="SYSTEM|MODEL", help="A guide whose trees are features of the parser.")
@click.option(
    "--leave-out", type=click.Choice(["non-projective"]), metavar="non-projective", help="Sentences not to learn from."
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    metavar="N",
    help="Processes that share the shards of --shards, --optimizer lbfgs, --unsupervised; otherwise, 2 learn labels "
    "and heads at once. The model is the same.  [default: 1]",
)
@click.option(
    "--ray",
    metavar="ADDRESS",
    help="Share them on a Ray cluster; auto: this one.",
)
@click.option("--resume", is_flag=True, help="Go on where MODEL.training was interrupted.")
def command(
    treebanks: tuple[str, ...],
    model: str,
    dev: tuple[str, ...],
    system: str,
    components: str | None,
    pseudo_projective: Encoding | None,
    stack: str | None,
    leave_out: str | None,
    jobs: int | None,
    ray: str | None,
    resume: bool,
    preset: str | None = None,
    **options: Any,
) -> None:
    """Train a parser on the trees of one TREEBANK or several.

    Without other options this gives the best parser we have for the treebank: crossing arcs if the treebank has them, a
    single root if it always has one. The model is that of the epoch with the best LAS on the dev set.

    Interrupting (Ctrl-C) after an epoch keeps the best model so far; the state of training is kept beside the model (in
    MODEL.training) until it has ended, for --resume.
    """
    chosen = SYSTEMS[system]
    given = {name: value for name, value in options.items() if value is not None}
    config = config_of(chosen, preset, given, dev=bool(dev))
    workers = _workers(config, jobs, ray)
    if workers is None and (jobs or 1) > 1:
        if getattr(config, "labels", "two-stage") != "two-stage":
            raise click.UsageError("--jobs has no effect here: only with --labels two-stage")
        if Capability.PARALLEL_TRAINING not in chosen.parser.capabilities:
            raise click.UsageError(f"not with --system {system}: --jobs")
    if pseudo_projective and options.get("projective") is False:
        raise click.UsageError("--pseudo-projective trains a projective parser: not with --nonprojective")
    names = _component_names(components)
    config = config.beside(names)
    click.get_current_context().with_resource(only_writer(Path(model)))
    start = time.monotonic()
    trees = [tree for path in treebanks for tree in read_sentences(path, trees=not config.partial_trees)]
    held_out = [tree for path in dev for tree in read_trees(path)]
    listener = _Bar(config) if shows_progress() else _Lines(config)
    if leave_out:
        trees = _projective(trees, listener)
    checkpoint = Path(f"{model}.training")
    with _saying_how_to_go_on(checkpoint, listener, resumed=resume):
        annotated = _annotated(names, trees, held_out, config, listener)
        parser = train(
            annotated.treebank,
            config,
            dev=annotated.dev,
            listener=listener,
            checkpoint=checkpoint,
            resume=resume,
            jobs=jobs or 1,
            workers=workers,
            pseudo_projective=pseudo_projective,
            stack=stack,
        )
        about = {"treebank": _description(treebanks, trees)}
        Pipeline(parser, **annotated.components, about=about).save(model)
    _summarise(model, _dev_scores(parser, annotated, held_out), listener, time.monotonic() - start)
    if listener.interrupted_after is not None:
        log.info("interrupted: the model is that of epoch %d; the same command with --resume goes on", listener.epoch)
        sys.exit(130)
    checkpoint.unlink(missing_ok=True)


@contextlib.contextmanager
def _saying_how_to_go_on(checkpoint: Path, listener: _Lines, *, resumed: bool) -> Iterator[None]:
    """Say what is kept of a training that is interrupted, or whose result cannot be written."""
    try:
        yield
    except KeyboardInterrupt:
        listener.close()
        goes_on = f"the same command with --resume goes on from {checkpoint}"
        log.info("interrupted: %s", goes_on if checkpoint.exists() else "no epoch was finished, and nothing is kept")
        sys.exit(130)
    except ModelError as error:
        if not checkpoint.exists() or resumed:
            raise
        raise HintedError(str(error), f"once there is room, --resume goes on from {checkpoint}") from None
    finally:
        listener.close()


def _workers(config: Config, jobs: int | None, ray: str | None) -> Workers | None:
    """Who holds the shards, if not this process."""
    if ray is not None and not config.sharded:
        raise click.UsageError("--ray shares shards: only with --shards, --optimizer lbfgs or --unsupervised")
    if not config.sharded or (ray is None and (jobs or 1) == 1):
        return None
    from crossarc.cluster import LocalWorkers, RayWorkers

    return LocalWorkers(jobs or 1) if ray is None else RayWorkers(ray, jobs)


def _projective(trees: Sequence[Sentence], listener: TrainingListener) -> list[Sentence]:
    """Those that are left without --leave-out non-projective."""
    found = [tree for tree in trees if has_possible_tree(tree, projective=True)]
    listener.sentences_left_out(len(trees) - len(found), "their trees are not projective")
    return found


def _description(treebanks: Sequence[str], trees: Sequence[Sentence]) -> str:
    """What the model file says of the treebank."""
    names = ", ".join(Path(path).name for path in treebanks)
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in names)
    return f"{shown}: {len(trees):,} sentences, {sum(map(len, trees)):,} words"


def _component_names(components: str | None) -> list[str]:
    names = components.split(",") if components else []
    unknown = [name for name in names if name not in TEXT_COMPONENTS]
    if unknown:
        raise click.UsageError(f"--with {', '.join(unknown)}: there are {', '.join(TEXT_COMPONENTS)}")
    return names


def _summarise(model: str, scores: dict[str, float], listener: _Lines, seconds: float) -> None:
    """Say what training has come to."""
    if listener.epoch:
        log.info("the model is that of epoch %d of %d", listener.epoch, listener.last_epoch)
    if scores:
        log.info("dev: %s", "  ".join(f"{name} {100 * score:.2f}" for name, score in scores.items()))
    size = Path(model).stat().st_size / 1e6
    log.info("%s: %.1f MB, trained in %s", model, size, duration(seconds))


def _dev_scores(parser: Parser, annotated: Annotated, dev: list[Sentence]) -> dict[str, float]:
    """How good all components are on the dev set, each with the input that it had in training."""
    scores: dict[str, float] = {}
    if not dev:
        return scores
    if "segmenter" in annotated.components:
        segmented = annotated.components["segmenter"].apply(raw_text(dev))
        some_trees = [sentence.with_columns(head=["0"] * len(sentence)) for sentence in segmented]
        found = evaluate(dev, some_trees).official
        scores |= {name: found[name].f1 for name in ("Tokens", "Sentences", "Words")}
    tagged = annotated.dev if parser.tagger is None else parser.tagger.apply(dev)
    if "tagger" in annotated.components or parser.tagger is not None:
        columns = {"UPOS": "upos", "XPOS": "xpos", "UFeats": "feats"}
        if "lemmatizer" in annotated.components:
            columns["Lemmas"] = "lemma"
            tagged = annotated.components["lemmatizer"].apply(tagged)
        scores |= {name: _right(dev, tagged, column) for name, column in columns.items()}
    return scores | ({} if parser.dev is None else {"UAS": parser.dev.uas, "LAS": parser.dev.las})


def _annotated(
    names: list[str], trees: list[Sentence], dev: list[Sentence], config: Config, listener: TrainingListener
) -> Annotated:
    """The components that are asked for, and the trees as they annotate them."""
    if not names:
        return Annotated({}, trees, dev)
    log.info("learning %s", ", ".join(names))
    seed = getattr(config, "seed", 1)
    return train_components(trees, names, dev=dev, seed=seed, listener=listener, parser_tags=config.finds_tags)


def _right(gold: list[Sentence], own: list[Sentence], column: str) -> float:
    """The share of words that have the right value in a column."""
    pairs = [
        pair for two in zip(gold, own, strict=True) for pair in zip(*(getattr(s, column) for s in two), strict=True)
    ]
    right: int = sum(a == b for a, b in pairs)
    return right / len(pairs)


def config_of(system: System, preset: str | None, given: dict[str, Any], *, dev: bool) -> Config:
    """The configuration of a system, from the options that are its fields; ``dev``: whether there is a dev set."""
    config = replace(_base(system, preset, given.get("learner")), **given)
    idle = config.without_effect() | ({} if dev else {"patience": "a dev set (crossarc train --dev)"})
    for setting in settings(system.config):
        if setting.name in given and setting.name in idle:
            option = setting.flags or f"--{setting.name.replace('_', '-')}"
            raise click.UsageError(f"{option} has no effect here: only with {idle[setting.name]}")
    return config


class _Lines(ProgressLines):
    """A line for each epoch; notes which one is kept."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.epoch = self.last_epoch = 0  # whose model is kept; how many there were
        self.interrupted_after: int | None = None  # the epoch whose model is kept, if training was interrupted

    def interrupted(self, stage: str, epoch: int) -> None:
        self.interrupted_after = epoch

    def kept(self, stage: str, epoch: int, last_epoch: int) -> None:
        self.epoch, self.last_epoch = epoch, last_epoch

    def say(self, text: str) -> None:
        log.info("%s", text)

    def close(self) -> None:
        """Nothing more is coming."""


class _Bar(_Lines):
    """A progress bar within the epoch, and the lines."""

    def __init__(self, config: Config) -> None:
        from tqdm import tqdm

        super().__init__(config)
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

    def close(self) -> None:
        for bar in self._bars.values():
            bar.close()
