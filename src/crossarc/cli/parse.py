"""crossarc parse"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import click

from crossarc.cli.common import (
    FILES,
    Advance,
    ErrorLog,
    files_in,
    input_format,
    input_option,
    model_option,
    on_error_option,
    progress_bar,
    write_options,
)
from crossarc.cli.messages import log
from crossarc.core import CrossarcError, InputError
from crossarc.io import OutputFormat, output_format_of, tsv
from crossarc.io.blocks import read_blocks
from crossarc.io.streams import open_input, open_output, size_of_input
from crossarc.io.text import read_text
from crossarc.models import describe_model
from crossarc.parsers import Capability, ParseOptions
from crossarc.parsers.base import ConstraintSource
from crossarc.parsers.constraint_file import MiscConstraints, read_constraints
from crossarc.parsers.registry import SYSTEMS
from crossarc.pipeline.chunks import Chunk, ChunkResult, Input, Job, chunks_of, parse_chunks

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
@click.argument("files", type=FILES, nargs=-1)
@click.option("--text", metavar="TEXT", help="Parse this text instead of a file.")
@model_option
@input_option
@click.option(
    "-o",
    "--output",
    type=FILES,
    default="-",
    help="Where to write, standard output by default; with a directory, each of FILES gets a file of its own there.",
)
@click.option(
    "--format",
    "write_as",
    type=click.Choice(["conllu", "conllx", "jsonl", "tsv"]),
    help="What to write: treebanks, JSON Lines (an object for each sentence), or a table with a row for each word.  "
    "[default: as the output's name says, or conllu]",
)
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
    help="Write the K best trees of each sentence, the most probable first, with their ranks, scores and probabilities "
    "in comments.",
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
    Capability.DISTRIBUTION,
    "--labelled",
    is_flag=True,
    help="Trees that differ in a label are different trees: the best, the K best and the min-risk trees, their "
    "probabilities and --threshold are then of labelled ones.",
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
    help="Of integer programs: take the best tree found in this time for a sentence; a line says so.  [default: 5]",
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes that parse side by side.")
@on_error_option
def command(
    files: tuple[str, ...],
    text: str | None,
    model: str,
    read_as: Input | None,
    output: str,
    write_as: OutputFormat | None,
    retag: bool,
    constraints: str | None,
    rules: str | None,
    max_degree: str | None,
    jobs: int,
    on_error: str,
    **options: Any,
) -> None:
    """Parse FILES, or a TEXT: raw text or treebanks in, CoNLL-U out.

    In a treebank, HEAD and DEPREL are filled in, and tags and lemmas that are missing if the model has a tagger and
    a lemmatizer; all else stays as it is. Of a directory, all .conllu, .conll, .conllx and .txt files are parsed.
    """
    if bool(files) == (text is not None):
        raise click.UsageError("give either FILES or --text TEXT")
    if text is not None and read_as in ("conllu", "conllx"):
        raise click.UsageError(f"--text is raw text: not with --input {read_as}")
    write_as = write_as or output_format_of(output)
    sources = [_text_source(text, read_as, output)] if text is not None else _sources(files, read_as, output, write_as)
    errors = ErrorLog(on_error)
    rule_file = _rule_source(rules)
    wanted = ParseOptions(
        constraints=_constraint_source(constraints),
        rules=rule_file,
        max_degree=None if max_degree in (None, "none") else int(max_degree),
        **options,
    )
    job = Job(model, write_as, wanted, retag)
    name = sources[0].path if len(sources) == 1 else f"{len(sources)} files"
    with progress_bar(name, _size(sources), output) as advance:
        results = parse_chunks(job, _chunks(sources), jobs)
        if rule_file is not None and write_as in ("conllu", "conllx"):
            results = _with_rules_checked(results, rule_file)
        header = tsv.HEADER if write_as == "tsv" else ""
        _write(_reported(results, errors, advance), sources, header)
    errors.report()


class _Source(NamedTuple):
    """A file to parse."""

    path: str
    read_as: Input
    output: str  # where its trees are written
    text: str | None = None  # instead of what is in the file


def _text_source(text: str, read_as: Input | None, output: str) -> _Source:
    return _Source("<text>", read_as or "text", output, text)


def _sources(files: Iterable[str], read_as: Input | None, output: str, write_as: OutputFormat) -> list[_Source]:
    """The files to parse, and where their trees go."""
    into_folder = output.endswith("/") or Path(output).is_dir()
    sources: list[_Source] = []
    for file in files:
        for path in files_in([file], text=True):
            target = str(_target(file, path, output, write_as)) if into_folder else output
            sources.append(_Source(path, input_format(path, read_as), target))
    if into_folder:
        _check_targets(sources)
    elif sum(source.path == "-" for source in sources) > 1:
        raise click.UsageError("standard input (-) can stand for one file only")
    return sources


def _target(named: str, path: str, folder: str, write_as: OutputFormat) -> Path:
    """Where the trees of a file go within a folder: its own name, and below a folder that was named its place there."""
    if path == "-":
        raise click.UsageError("standard input (-) has no name, and so no place in a directory")
    own = Path(path).relative_to(named) if Path(named).is_dir() else Path(Path(path).name)
    stem = own.name.removesuffix(".gz").removesuffix(".xz")
    return Path(folder) / own.with_name(f"{Path(stem).stem}.{write_as}")


def _check_targets(sources: Iterable[_Source]) -> None:
    """Refuse to write two files to one, or a file over its own input; make the folders."""
    taken: dict[str, str] = {}
    for source in sources:
        other = taken.setdefault(source.output, source.path)
        if other != source.path:
            raise CrossarcError(f"{source.output}: would hold the trees of both {other} and {source.path}")
        Path(source.output).parent.mkdir(parents=True, exist_ok=True)


def _size(sources: Iterable[_Source]) -> int | None:
    """How many bytes there are to parse, if that is known."""
    sizes = [size_of_input(s.path) if s.text is None else len(s.text.encode()) for s in sources]
    return None if None in sizes else sum(size for size in sizes if size)


def _chunks(sources: Iterable[_Source]) -> Iterator[Chunk]:
    """What is parsed together."""
    for number, source in enumerate(sources):
        own = BytesIO((source.text or "").encode())
        with contextlib.nullcontext(own) if source.text is not None else open_input(source.path) as stream:
            if source.read_as in ("text", "lines"):
                text_blocks = read_text(stream, source.path, lines=source.read_as == "lines")
                yield from chunks_of(text_blocks, source.read_as, number)
            else:
                yield from chunks_of(read_blocks(stream, source.path), source.read_as, number)


def _write(results: Iterable[ChunkResult], sources: list[_Source], header: str) -> None:
    """Write what was parsed to the output of each file; those that follow each other may share one."""
    for output, some in groupby(results, key=lambda result: sources[result.file].output):
        with open_output(output) as stream:
            stream.write(header.encode())
            for result in some:
                stream.write(result.text.encode())


def _reported(results: Iterable[ChunkResult], errors: ErrorLog, advance: Advance) -> Iterator[ChunkResult]:
    """The results, once what was wrong with them is told."""
    sentences = words = 0
    start = time.monotonic()
    for result in results:
        for note in result.notes:
            log.info("%s", note)
        yield result
        for error in result.errors:
            if errors.on_error == "stop":
                raise error
            assert isinstance(error, InputError)
            errors.on_error(error)
        advance(result.size, result.sentences)
        sentences, words = sentences + result.sentences, words + result.words
    seconds = time.monotonic() - start
    log.debug("%d sentences, %d words in %.1f s (%.0f words a second)", sentences, words, seconds, words / seconds)


def _with_rules_checked(results: Iterable[ChunkResult], rules: Any) -> Iterator[ChunkResult]:
    """The results; in the end, warnings about rules that name what no sentence has."""
    for result in results:
        rules.look_at(result.text)
        yield result
    for warning in rules.without_effect():
        log.warning("%s", warning)


def _constraint_source(constraints: str | None) -> ConstraintSource | None:
    if constraints is None:
        return None
    return MiscConstraints() if constraints == "misc" else read_constraints(constraints)


def _rule_source(rules: str | None) -> Any:
    if rules is None:
        return None
    from crossarc.ilp.rule_file import read_rules  # brings the solver with it

    return read_rules(rules)
