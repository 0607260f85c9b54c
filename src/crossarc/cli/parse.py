"""crossarc parse"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import click

from crossarc.cli.common import FILES, ErrorLog, on_error_option, progress, write_options
from crossarc.core import InputError
from crossarc.io import format_of
from crossarc.io.blocks import read_blocks
from crossarc.io.streams import open_input, open_output
from crossarc.io.text import read_text
from crossarc.models import describe_model
from crossarc.parsers import Capability, ParseOptions
from crossarc.parsers.base import ConstraintSource
from crossarc.parsers.constraint_file import MiscConstraints, read_constraints
from crossarc.parsers.registry import SYSTEMS
from crossarc.pipeline.chunks import ChunkResult, Input, Job, parse_chunks

Command = Callable[..., Any]

_MAX_LENGTH = 1000


class _ParseCommand(click.Command):
    """Shows the options that not every model has only with a model that has them."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        context.meta[_ARGUMENTS] = list(args)
        return super().parse_args(context, args)

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        model = _model_in(context.meta[_ARGUMENTS])
        special = [param for param in self.get_params(context) if isinstance(param, _CapabilityOption)]
        common = [param for param in self.get_params(context) if not isinstance(param, _CapabilityOption)]
        with formatter.section("Options"):
            write_options(formatter, context, common)
        if model is None:
            formatter.write_paragraph()
            formatter.write_text("crossarc parse -m MODEL --help shows what else MODEL can do.")
            return
        system = SYSTEMS[describe_model(model)["components"]["parser"]["system"]]
        with formatter.section(f"Options of {model}, a model of --system {system.name}"):
            write_options(formatter, context, [p for p in special if p.capability in system.parser.capabilities])


_ARGUMENTS = "crossarc.arguments"


def _model_in(args: list[str]) -> str | None:
    """The model that the arguments name, before they are understood."""
    for i, argument in enumerate(args):
        if argument.startswith("--model="):
            return argument.partition("=")[2]
        if argument in ("-m", "--model") and i + 1 < len(args):
            return args[i + 1]
    return None


class _CapabilityOption(click.Option):
    """An option for models that can do something."""

    def __init__(self, *arguments: Any, capability: Capability, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.capability = capability


def _option(capability: Capability, *names: str, **about: Any) -> Callable[[Command], Command]:
    return click.option(*names, cls=_CapabilityOption, capability=capability, **about)


@click.command("parse", cls=_ParseCommand)
@click.argument("file", type=FILES, required=False)
@click.option("--text", metavar="TEXT", help="Parse this text instead of a file.")
@click.option(
    "-m",
    "--model",
    default="en",
    show_default=True,
    type=click.Path(),
    help="A model made by crossarc train, or the name of a built-in one (crossarc models).",
)
@click.option(
    "--input",
    "read_as",
    type=click.Choice(["conllu", "conllx", "text", "lines"]),
    help="What FILE is. text: raw text, with blank lines between paragraphs; lines: every line is a paragraph.  "
    "[default: text if it is named .txt, otherwise a treebank]",
)
@click.option("-o", "--output", type=FILES, default="-", help="Where to write; standard output by default.")
@click.option(
    "--retag", is_flag=True, help="Replace given tags and lemmas; by default only missing ones are filled in."
)
@click.option(
    "--constraints",
    metavar="misc|FILE",
    help="Take Head=3, NotHead=5, Rel=nsubj or NotRel=obj from the words' MISC, or from a file of lines "
    "SENT_ID<tab>WORD<tab>Head=3; trees honour them.",
)
@click.option(
    "--max-length",
    type=click.IntRange(1),
    default=_MAX_LENGTH,
    show_default=True,
    help="Longer sentences are written as they came, with a note. One of n words takes about 200 n² bytes.",
)
@_option(
    Capability.K_BEST,
    "-k",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Write the K best trees of each sentence, with their ranks, scores and probabilities in comments.",
)
@_option(
    Capability.PROBABILITIES,
    "--confidence",
    is_flag=True,
    help="Write the probabilities of each arc, and of arc and label, to MISC (ArcProb=0.9712|RelProb=0.9503); if the "
    "model knows them, log p of the tree, the entropy of all trees and the margin to the second best to comments.",
)
@_option(
    Capability.DISTRIBUTION,
    "--decode",
    type=click.Choice(["best", "min-risk", "marginal-threshold"]),
    default="best",
    show_default=True,
    help="min-risk: the tree with most arcs expected to be right. marginal-threshold: of that, only arcs with at least "
    "the probability --threshold; other words are left without a head.",
)
@_option(
    Capability.DISTRIBUTION,
    "--threshold",
    type=click.FloatRange(0, 1),
    default=ParseOptions.threshold,
    show_default=True,
    help="The least probability of an arc (--decode marginal-threshold).",
)
@_option(
    Capability.MAX_DEGREE,
    "--max-degree",
    type=click.Choice(["0", "1", "2", "none"]),
    help="The largest degree of non-projectivity (Nivre 2007); small ones are faster.  [default: none]",
)
@_option(
    Capability.RULES,
    "--rules",
    type=click.Path(),
    help="Rules that trees must follow, one on each line, such as: at most 1 nsubj per head. Trees are then found by "
    "integer programs.",
)
@_option(
    Capability.RULES,
    "--exact/--relaxed",
    default=None,
    help="Of integer programs: the best tree there is, or the one nearest to the solution of the linear relaxation. "
    "Comments say which trees are the best.  [default: relaxed]",
)
@_option(
    Capability.RULES,
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Of integer programs: take the best tree found in this time for a sentence.",
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes that parse side by side.")
@on_error_option
def command(
    file: str | None,
    text: str | None,
    model: str,
    read_as: Input | None,
    output: str,
    retag: bool,
    constraints: str | None,
    rules: str | None,
    max_degree: str | None,
    jobs: int,
    on_error: str,
    **options: Any,
) -> None:
    """Parse the sentences of FILE, or a TEXT: raw text or a treebank in, CoNLL-U out.

    In a treebank, HEAD and DEPREL are filled in, and tags and lemmas that are missing if the model has a tagger and
    a lemmatiser; all else stays as it is.
    """
    if (file is None) == (text is None):
        raise click.UsageError("give either a FILE or --text TEXT")
    if text is not None and read_as in ("conllu", "conllx"):
        raise click.UsageError(f"--text is raw text: not with --input {read_as}")
    name = "<text>" if file is None else file
    read_as = read_as or ("text" if text is not None or _is_text(name) else format_of(name))
    errors = ErrorLog(on_error)
    wanted = ParseOptions(
        constraints=_constraint_source(constraints),
        rules=_rule_source(rules),
        max_degree=None if max_degree in (None, "none") else int(max_degree),
        **options,
    )
    job = Job(model, read_as, format_of(output), wanted, retag)
    with open_output(output) as stream:
        for result in parse_chunks(job, progress(_blocks(name, text, read_as), name), jobs):
            stream.write(result.text.encode())
            _report(result, errors)
    errors.report()


def _constraint_source(constraints: str | None) -> ConstraintSource | None:
    if constraints is None:
        return None
    return MiscConstraints() if constraints == "misc" else read_constraints(constraints)


def _rule_source(rules: str | None) -> Any:
    if rules is None:
        return None
    from crossarc.ilp.rule_file import read_rules  # brings the solver with it

    return read_rules(rules)


def _blocks(name: str, text: str | None, read_as: Input) -> Iterator[Any]:
    """What is parsed together."""
    with contextlib.nullcontext(BytesIO((text or "").encode())) if text is not None else open_input(name) as stream:
        if read_as in ("text", "lines"):
            yield from read_text(stream, name, lines=read_as == "lines")
        else:
            yield from read_blocks(stream, name)


def _is_text(file: str) -> bool:
    return file.removesuffix(".gz").removesuffix(".xz").endswith(".txt")


def _report(result: ChunkResult, errors: ErrorLog) -> None:
    for note in result.notes:
        click.echo(f"crossarc: {note}", err=True)
    for error in result.errors:
        if errors.on_error == "stop":
            raise error
        assert isinstance(error, InputError)
        errors.on_error(error)
