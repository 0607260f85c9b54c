"""What commands share: options, progress bars, tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from crossarc.core import InputError, Sentence
from crossarc.io import read

if TYPE_CHECKING:
    from crossarc.parsers import Capability
    from crossarc.pipeline import Pipeline

__all__ = [
    "FILES",
    "ErrorLog",
    "json_option",
    "load_with",
    "on_error_option",
    "print_json",
    "print_table",
    "progress",
    "read_trees",
    "write_options",
]

T = TypeVar("T")

FILES = click.Path(allow_dash=True)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
on_error_option = click.option(
    "--on-error",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="What to do with a broken sentence: stop with exit code 2, or leave it out and report it.",
)


class ErrorLog:
    """Counts and reports the sentences that ``--on-error skip`` leaves out."""

    def __init__(self, on_error: str) -> None:
        self.on_error: Any = self._skip if on_error == "skip" else "stop"
        self.skipped = 0

    def _skip(self, error: InputError) -> None:
        self.skipped += 1
        click.echo(f"crossarc: left out: {error}", err=True)

    def report(self) -> None:
        if self.skipped:
            sentences = "sentence" if self.skipped == 1 else "sentences"
            click.echo(f"crossarc: {self.skipped} broken {sentences} left out", err=True)


def progress(items: Iterable[T], description: str) -> Iterable[T]:
    """A progress bar over sentences on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        return items
    from tqdm import tqdm

    bar: Iterable[T] = tqdm(items, desc=description, unit=" sentences", leave=False)
    return bar


def load_with(capability: Capability, path: str) -> Pipeline:
    """A model whose parser can do something."""
    from crossarc.parsers import UnsupportedOption
    from crossarc.pipeline import load

    model = load(path)
    if capability not in model.parser.capabilities:
        raise UnsupportedOption(f"{path}: models of --system {model.parser.system} have no {capability}")
    return model


def write_options(formatter: click.HelpFormatter, context: click.Context, params: Iterable[click.Parameter]) -> None:
    """The options of a section of a help text."""
    records = (param.get_help_record(context) for param in params if isinstance(param, click.Option))
    formatter.write_dl([record for record in records if record])


def read_trees(path: str) -> Iterable[Sentence]:
    """The trees of a file, with a progress bar."""
    return progress(read(path, trees=True), path)


def print_json(data: Any) -> None:
    click.echo(json.dumps(data, ensure_ascii=False, indent=2))


def print_table(
    rows: Sequence[Sequence[object]],
    *,
    header: Sequence[str],
    title: str | None = None,
    format_number: Callable[[float], str] = "{:.2f}".format,
) -> None:
    """Columns as wide as they must be: the first to the left, the others to the right."""
    cells = [[format_number(cell) if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    if title:
        click.secho(f"\n{title}", bold=True)
    for row in [list(header), *cells]:
        first, *others = (
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        click.echo("  ".join([first, *others]).rstrip())
