"""crossarc convert"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import cast

import click

from crossarc.cli.common import FILES, ErrorLog, on_error_option, read_sentences
from crossarc.cli.messages import log
from crossarc.core import Sentence
from crossarc.evaluation.empty_nodes import collapse_empty_nodes as without_empty_nodes
from crossarc.io import FileFormat, file_format_of, write
from crossarc.io.conllx import lost_in_conllx
from crossarc.io.sdp import lost_in_sdp

_NAMES = {"conllx": "CoNLL-X", "sdp": "SDP"}
_LOST: dict[str, Callable[[Sentence], Counter[str]]] = {"conllx": lost_in_conllx, "sdp": lost_in_sdp}

FORMAT = click.Choice(["conllu", "conllx", "sdp", "parquet"])


@click.command("convert")
@click.argument("file", type=FILES)
@click.option("-o", "--output", type=FILES, default="-", help="Where to write; standard output by default.")
@click.option("--from", "source", type=FORMAT, help="Format of FILE; by default what its name says.")
@click.option("--to", "target", type=FORMAT, help="Format of the output; by default what its name says.")
@click.option(
    "--collapse-empty-nodes",
    is_flag=True,
    help="Make an arc of each path through empty nodes, with all its labels (conj>nsubj), as the IWPT tasks did.",
)
@click.option("--crlf", is_flag=True, help="End lines with CR LF, as Windows does; with LF by default.")
@on_error_option
def command(
    file: str,
    output: str,
    source: str | None,
    target: str | None,
    collapse_empty_nodes: bool,
    crlf: bool,
    on_error: str,
) -> None:
    """Convert between CoNLL-U, CoNLL-X, SDP (semantic dependency graphs) and Parquet, a table of sentences.

    CoNLL-X to CoNLL-U loses nothing: PHEAD and PDEPREL go to MISC, and come back from there. CoNLL-X has no place for
    comments, multiword tokens, empty nodes, DEPS, MISC and spaces; what is lost on the way there is counted on stderr.
    SDP to CoNLL-U loses nothing either: the graph goes to DEPS, frames to MISC. SDP has a place for DEPS, but not for
    trees. Parquet has a place for everything (extra: pip install '.[arrow]').
    """
    errors = ErrorLog(on_error)
    lost: Counter[str] = Counter()
    to = cast(FileFormat, target or file_format_of(output))
    if crlf and to == "parquet":
        raise click.UsageError("a Parquet file has no lines: not with --crlf")
    sentences: Iterable[Sentence] = read_sentences(
        file, format=cast(FileFormat | None, source), on_error=errors.on_error, output=output
    )
    if collapse_empty_nodes:
        sentences = map(without_empty_nodes, sentences)
    if to in _LOST:
        sentences = _counting_losses(sentences, _LOST[to], lost)
    write(sentences, output, format=to, newline="\r\n" if crlf else "\n")
    errors.report()
    if +lost:
        what = ", ".join(f"{count} {kind}" for kind, count in lost.items() if count)
        log.info("%s has no place for: %s", _NAMES[to], what)


def _counting_losses(
    sentences: Iterable[Sentence], losses: Callable[[Sentence], Counter[str]], lost: Counter[str]
) -> Iterator[Sentence]:
    for sentence in sentences:
        lost.update(losses(sentence))
        yield sentence
