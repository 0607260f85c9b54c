"""crossarc draw"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import click

from crossarc.cli.common import FILES, ErrorLog, on_error_option
from crossarc.core import CrossarcError, InputError, Sentence
from crossarc.drawing.latex import latex_of
from crossarc.drawing.picture import Picture, paired_groups, pictures_of_group
from crossarc.drawing.svg import svg_of
from crossarc.drawing.text import text_of
from crossarc.io import read
from crossarc.io.streams import open_output, plain_name

_FORMATS = {".svg": "svg", ".tex": "latex", ".txt": "text"}
_MOST_IN_ONE_SVG = 200
_MOST_WORDS = 1000
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


@click.command("draw")
@click.argument("file", type=FILES)
@click.option("--compare", type=FILES, help="Draw the trees of this file too, in the same pictures: what differs.")
@click.option(
    "-s",
    "--sentence",
    "wanted",
    multiple=True,
    metavar="NUMBER|SENT_ID",
    help="Which sentence to draw: 3, 3-7 or its sent_id; can be given several times.  [default: all]",
)
@click.option("--graph", is_flag=True, help="Draw the graph in DEPS, with empty nodes, instead of the tree.")
@click.option("-o", "--output", type=FILES, default="-", help="Where to write; standard output by default.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(_FORMATS.values())),
    help="By default what the output's name says (.svg, .tex, .txt); text for standard output.",
)
@click.option(
    "--width",
    type=click.IntRange(1),
    help="Of text: sentences wider than this have one word on each line, and their arcs to the left.  [default: that "
    "of the terminal, or 100]",
)
@click.option("--standalone", is_flag=True, help="Of LaTeX: a document to compile, not a part of one.")
@on_error_option
def command(
    file: str,
    compare: str | None,
    wanted: tuple[str, ...],
    graph: bool,
    output: str,
    format_: str | None,
    width: int | None,
    standalone: bool,
    on_error: str,
) -> None:
    """Draw the trees of FILE: in the terminal, as SVG, or as LaTeX for the package tikz-dependency.

    Probabilities of arcs with their labels that crossarc parse --confidence wrote are shown, in SVG and LaTeX also as
    the opacity of arcs (text: dashed below 50 %); trees that crossarc parse -k wrote, with what is new against the best
    one. Words without a head have no arc.

    With --compare, arcs only in FILE are dashed and marked with −, arcs only in the other file are thick (text: double)
    and marked with +, and an arc with two labels shows both.
    """
    format_ = format_ or _format_of(output)
    if file == compare == "-":
        raise click.UsageError("standard input (-) can stand for one file only")
    if width is not None and format_ != "text":
        raise click.UsageError("--width is for text")
    if standalone and format_ != "latex":
        raise click.UsageError("--standalone is for LaTeX")
    errors = ErrorLog(on_error)
    drawn = _pictures(file, compare, wanted, graph, errors)
    with open_output(output) as stream:
        if format_ == "text":
            _write_text(
                drawn, stream, width, colour=output == "-" and sys.stdout.isatty() and "NO_COLOR" not in os.environ
            )
        elif format_ == "latex":
            stream.write(latex_of(list(drawn), standalone=standalone).encode())
        else:
            stream.write(_svg(drawn).encode())
    errors.report()


def _format_of(output: str) -> str:
    if output == "-":
        return "text"
    suffix = Path(plain_name(output)).suffix.lower()
    if suffix not in _FORMATS:
        raise click.UsageError(
            f"cannot tell the format from the name {output}: end it with .svg, .tex or .txt, or give --format"
        )
    return _FORMATS[suffix]


def _write_text(drawn: Iterator[Picture], stream: BinaryIO, width: int | None, *, colour: bool) -> None:
    width = width or shutil.get_terminal_size((100, 24)).columns
    for i, picture in enumerate(drawn):
        text = text_of(picture, width, colour=colour, heading=True)
        stream.write((f"\n{text}" if i else text).encode())


def _svg(drawn: Iterator[Picture]) -> str:
    some = list(islice(drawn, _MOST_IN_ONE_SVG + 1))
    if len(some) > _MOST_IN_ONE_SVG:
        raise CrossarcError(f"more than {_MOST_IN_ONE_SVG} trees are too many for one SVG: choose some with --sentence")
    return svg_of(some)


def _pictures(
    file: str, compare: str | None, wanted: tuple[str, ...], graph: bool, errors: ErrorLog
) -> Iterator[Picture]:
    """The pictures of the sentences that are wanted; nothing is read after the last of them."""
    sentences = read(file, on_error=errors.on_error)
    others = read(compare, on_error=errors.on_error) if compare else None
    numbers, ids = _numbers_and_ids(wanted)
    last = max((numbers.stop - 1 for numbers in numbers), default=0)
    missing = set(ids)
    number = 0
    for number, (group, other) in enumerate(paired_groups(sentences, others), 1):
        sent_id = group[0].sent_id
        if not wanted or sent_id in ids or any(number in some for some in numbers):
            if _is_too_large(group[0]):
                error = InputError(f"{len(group[0])} words are too many for a picture", group[0].place())
                if errors.on_error == "stop":
                    raise error
                errors.on_error(error)
            else:
                yield from pictures_of_group(group, other, graph=graph)
        missing.discard(sent_id or "")
        if wanted and not missing and number >= last:
            return
    if not number:
        raise CrossarcError(f"{file}: there is no sentence")
    if missing:
        raise CrossarcError(f"{file}: there is no sentence {min(missing)}")
    if number < last:
        raise CrossarcError(f"{file}: there is no sentence {last}, only {number}")


def _is_too_large(sentence: Sentence) -> bool:
    """Whether nobody could look at the picture: the time that it takes grows with the square of its size."""
    arcs = sum(deps.count("|") for deps in sentence.deps)
    return len(sentence) + arcs > _MOST_WORDS


def _numbers_and_ids(wanted: tuple[str, ...]) -> tuple[list[range], set[str]]:
    numbers, ids = [], set()
    for name in wanted:
        if match := _RANGE.fullmatch(name):
            first, last = int(match[1]), int(match[2] or match[1])
            if not 1 <= first <= last:
                raise click.UsageError(f"--sentence {name}: sentences are counted from 1")
            numbers.append(range(first, last + 1))
        else:
            ids.add(name)
    return numbers, ids
