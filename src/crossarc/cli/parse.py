"""crossarc parse"""

from __future__ import annotations

import contextlib
import os
import shlex
import time
from collections.abc import Iterable, Iterator
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
)
from crossarc.cli.hints import HintedError
from crossarc.cli.messages import log
from crossarc.cli.parse_options import ParsingCommand, parse_options, parsing_options
from crossarc.core import CrossarcError, InputError, Place
from crossarc.io import FORMATS, HEADERS, OutputFormat, output_format_of
from crossarc.io.blocks import read_blocks
from crossarc.io.streams import open_input, open_output, plain_name, size_of_input
from crossarc.io.text import read_text
from crossarc.pipeline.chunks import Chunk, ChunkResult, Input, Job, chunks_of, parse_chunks


@click.command("parse", cls=ParsingCommand)
@click.argument("files", type=FILES, nargs=-1)
@click.option("--text", metavar="TEXT", help="Parse this text instead of a file.")
@model_option
@input_option
@click.option(
    "-o",
    "--output",
    type=FILES,
    default="-",
    help="Where to write, standard output by default; in a directory (DIR/ makes one), each of FILES gets its own.",
)
@click.option(
    "--format",
    "write_as",
    type=click.Choice(["conllu", "conllx", "sdp", "jsonl", "tsv"]),
    help="What to write: treebanks (sdp: graphs alone), JSON Lines (an object for each sentence), or a table with a "
    "row for each word.  [default: as the output's name says, or conllu]",
)
@parsing_options
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
    if text is not None and read_as in FORMATS:
        raise click.UsageError(f"--text is raw text: not with --input {read_as}")
    write_as = write_as or output_format_of(output)
    sources = [_text_source(text, read_as, output)] if text is not None else _sources(files, read_as, output, write_as)
    if options["constraints"] in ("heads", "misc") and all(source.read_as in ("text", "lines") for source in sources):
        raise click.UsageError(f"--constraints {options['constraints']} has no effect here: raw text has neither")
    errors = ErrorLog(on_error)
    wanted = parse_options(**options)
    job = Job(model, write_as, wanted, retag)
    name = sources[0].path if len(sources) == 1 else f"{len(sources)} files"
    with progress_bar(name, _size(sources), output) as advance:
        results = parse_chunks(job, _chunks(sources), jobs)
        if wanted.rules is not None:
            results = _with_rules_checked(results, wanted.rules)
        _write(_reported(results, errors, advance), sources, HEADERS.get(write_as, ""))
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
    into_folder = output.endswith(("/", os.sep)) or Path(output).is_dir()
    sources: list[_Source] = []
    for file in files:
        _check_is_file(file)
        for path in files_in([file], text=True):
            target = str(_target(file, path, output, write_as)) if into_folder else output
            sources.append(_Source(path, input_format(path, read_as), target))
    if into_folder:
        _check_targets(sources)
    elif sum(source.path == "-" for source in sources) > 1:
        raise click.UsageError("standard input (-) can stand for one file only")
    return sources


def _check_is_file(file: str) -> None:
    """Refuse what is not there, and say what helps if it looks like a text."""
    if file == "-" or Path(file).exists():
        return
    problem = InputError("no such file or directory", Place(file))
    if " " in file or not Path(file).suffix:
        raise HintedError(str(problem), f"to parse a text instead of a file: crossarc parse --text {shlex.quote(file)}")
    raise problem


def _target(named: str, path: str, folder: str, write_as: OutputFormat) -> Path:
    """Where the trees of a file go within a folder: its own name, and below a folder that was named its place there."""
    if path == "-":
        raise click.UsageError("standard input (-) has no name, and so no place in a directory")
    own = Path(path).relative_to(named) if Path(named).is_dir() else Path(Path(path).name)
    return Path(folder) / own.with_name(f"{Path(plain_name(own.name)).stem}.{write_as}")


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
        rules.look_at(result.trees)
        without_tree = (error.place.sent_id for error in result.errors if isinstance(error, InputError))
        rules.look_at("".join(f"# sent_id = {sent_id}\n" for sent_id in without_tree))
        yield result
    for warning in rules.without_effect():
        log.warning("%s", warning)
