"""crossarc parse"""

from __future__ import annotations

import click

from crossarc.cli.common import FILES, ErrorLog, on_error_option, progress
from crossarc.io import read, write
from crossarc.parsers import SpanningTreeParser


@click.command("parse")
@click.argument("file", type=FILES)
@click.option("-m", "--model", required=True, type=click.Path(), help="A model made by crossarc train.")
@click.option("-o", "--output", type=FILES, default="-", help="Where to write; standard output by default.")
@on_error_option
def command(file: str, model: str, output: str, on_error: str) -> None:
    """Parse the sentences of FILE: HEAD and DEPREL are filled in, all else stays as it is."""
    errors = ErrorLog(on_error)
    parser = SpanningTreeParser.load(model)
    sentences = progress(read(file, on_error=errors.on_error), file)
    write(parser.parse(sentences), output)
    errors.report()
