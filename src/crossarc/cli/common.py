"""What commands share: options, input, progress bars, tables."""

from __future__ import annotations

import contextlib
import json
import logging
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from crossarc.cli.messages import log
from crossarc.core import CrossarcError, InputError, Sentence
from crossarc.io import FileFormat, Format, OnError, file_format_of, format_of, read, sentences_of
from crossarc.io.blocks import Block, read_blocks
from crossarc.io.streams import open_input, plain_name, size_of_input
from crossarc.io.text import read_text

if TYPE_CHECKING:
    from crossarc.parsers import Capability
    from crossarc.pipeline import Pipeline
    from crossarc.pipeline.chunks import Input

__all__ = [
    "FILES",
    "ErrorLog",
    "files_in",
    "input_format",
    "input_option",
    "json_option",
    "load_with",
    "model_option",
    "on_error_option",
    "print_json",
    "print_table",
    "progress_bar",
    "read_for",
    "read_sentences",
    "read_trees",
    "write_options",
]

Advance = Callable[[int, int], None]  # so many more bytes of the input, and sentences

FILES = click.Path(allow_dash=True)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
model_option = click.option(
    "-m",
    "--model",
    default="en",
    show_default=True,
    type=click.Path(),
    help="A model made by crossarc train, or the name of one that is installed (crossarc models).",
)
on_error_option = click.option(
    "--on-error",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="What to do with a broken sentence: stop with exit code 2, or leave it out and report it.",
)
input_option = click.option(
    "--input",
    "read_as",
    type=click.Choice(["conllu", "conllx", "sdp", "text", "lines"]),
    help="What the input is. text: raw text, with blank lines between paragraphs; lines: every line is a paragraph.  "
    "[default: text if it is named .txt, otherwise a treebank]",
)

_TREEBANKS = (".conllu", ".conll", ".conllx")


class ErrorLog:
    """Counts and reports the sentences that ``--on-error skip`` leaves out."""

    def __init__(self, on_error: str) -> None:
        self.on_error: Any = self._skip if on_error == "skip" else "stop"
        self.skipped = 0

    def _skip(self, error: InputError) -> None:
        self.skipped += 1
        log.info("left out: %s", error)

    def report(self) -> None:
        if self.skipped:
            log.info("%d broken %s left out", self.skipped, "sentence" if self.skipped == 1 else "sentences")


# ---- input -----------------------------------------------------------------------------------------------------------


def input_format(path: str, read_as: Input | None = None) -> Input:
    """How a file is read: as it is said, or else as its name says."""
    return read_as or ("text" if plain_name(path).endswith(".txt") else format_of(path))


def files_in(paths: Iterable[str], *, text: bool = False) -> list[str]:
    """The files themselves, and of folders (and folders in them) the treebanks, or (``text``) raw text too, by name."""
    wanted = (*_TREEBANKS, ".txt") if text else _TREEBANKS
    found: list[str] = []
    for path in paths:
        if not Path(path).is_dir():
            found.append(path)
            continue
        inside = sorted(str(file) for file in Path(path).rglob("*") if file.is_file())
        some = [file for file in inside if plain_name(file).endswith(wanted)]
        if not some:
            raise CrossarcError(f"{path}: no {', '.join(wanted[:-1])} or {wanted[-1]} files in this directory")
        found += some
    return found


def read_sentences(
    path: str, *, format: FileFormat | None = None, trees: bool = False, on_error: OnError = "stop", output: str = ""
) -> Iterator[Sentence]:
    """The sentences of a treebank file, with a progress bar; ``output`` is what is written meanwhile."""
    format = format or file_format_of(path)
    if format == "parquet":
        yield from read(path, format=format, trees=trees, on_error=on_error)
        return
    with open_input(path) as stream, progress_bar(path, size_of_input(path), output) as advance:
        blocks = _counted(read_blocks(stream, path), advance)
        yield from sentences_of(blocks, format, trees=trees, on_error=on_error)


def read_trees(path: str) -> Iterator[Sentence]:
    """The trees of a file, with a progress bar."""
    return read_sentences(path, trees=True)


def read_for(pipeline: Pipeline, path: str, read_as: Input | None) -> Iterator[Sentence]:
    """The sentences of a treebank, or those that a model makes of raw text, with a progress bar."""
    kind = input_format(path, read_as)
    if kind not in ("text", "lines"):
        yield from read_sentences(path, format=cast(Format, kind))
        return
    with open_input(path) as stream, progress_bar(path, size_of_input(path)) as advance:
        for block in read_text(stream, path, lines=kind == "lines"):
            sentences = pipeline.segment(
                block.content, lines=kind == "lines", paragraph=block.paragraph, path=block.path
            )
            size, told = len(block.content.encode()), 0
            for number, sentence in enumerate(sentences, 1):
                yield sentence
                so_far = size * number // len(sentences)
                advance(so_far - told, 1)
                told = so_far
            advance(size - told, 0)  # of text without a sentence


def _counted(blocks: Iterable[Block], advance: Advance) -> Iterator[Block]:
    for block in blocks:
        yield block
        advance(len(block.content) + 2, 1)


def load_with(capability: Capability, path: str) -> Pipeline:
    """A model whose parser can do something."""
    from crossarc.parsers import UnsupportedOption
    from crossarc.pipeline import load

    start = time.monotonic()
    model = load(path)
    log.debug("%s: loaded in %.1f s", path, time.monotonic() - start)
    if capability not in model.parser.capabilities:
        raise UnsupportedOption(f"{path}: models of --system {model.parser.system} have no {capability}")
    return model


# ---- output ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def progress_bar(description: str, size: int | None, output: str = "") -> Iterator[Advance]:
    """A progress bar on a terminal: of ``size`` bytes, with the time that is left, if the size is known.

    There is none with ``-q``, and none when ``output``, which is written meanwhile, goes to the terminal too.
    """
    if not shows_progress(output):
        yield lambda size, sentences: None
        return
    from tqdm import tqdm

    left = "{desc}: {percentage:3.0f} %|{bar}|{postfix} [{elapsed}, {remaining} left]"
    shown = left if size else "{desc}: {n_fmt}B{postfix} [{elapsed}]"
    count = 0
    with tqdm(total=size or None, desc=description, unit_scale=True, leave=False, bar_format=shown) as bar:

        def advance(size: int, sentences: int) -> None:
            nonlocal count
            count += sentences
            bar.set_postfix_str(f"{count:,} {'sentence' if count == 1 else 'sentences'}", refresh=False)
            bar.update(min(size, bar.total - bar.n) if bar.total else size)

        yield advance


def shows_progress(output: str = "") -> bool:
    """Whether a progress bar is seen, and does no harm."""
    written_there = output == "-" and sys.stdout.isatty()
    return sys.stderr.isatty() and not written_there and log.isEnabledFor(logging.INFO)


def write_options(formatter: click.HelpFormatter, context: click.Context, params: Iterable[click.Parameter]) -> None:
    """The options of a section of a help text."""
    records = (param.get_help_record(context) for param in params if isinstance(param, click.Option))
    formatter.write_dl([record for record in records if record])


def print_json(data: Any) -> None:
    """Print JSON that every program reads: it has no infinity, which becomes "inf", and no NaN, which becomes null."""
    click.echo(json.dumps(_plain(data), ensure_ascii=False, indent=2, allow_nan=False))


def _plain(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None if math.isnan(data) else str(data)
    return data


def print_table(
    rows: Sequence[Sequence[object]],
    *,
    header: Sequence[str],
    title: str | None = None,
    format_number: Callable[[float], str] = "{:.2f}".format,
    left: Sequence[str] = (),
) -> None:
    """Columns as wide as they must be: the first, and those in ``left``, to the left, the others to the right."""
    cells = [[format_number(cell) if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    to_left = [i == 0 or name in left for i, name in enumerate(header)]
    if title:
        click.secho(f"\n{title}", bold=True)
    for row in [list(header), *cells]:
        aligned = (
            cell.ljust(width) if side else cell.rjust(width)
            for cell, width, side in zip(row, widths, to_left, strict=True)
        )
        click.echo("  ".join(aligned).rstrip())
