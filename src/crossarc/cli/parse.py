"""crossarc parse"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import click

from crossarc.cli.common import FILES, ErrorLog, on_error_option, progress
from crossarc.core import CrossarcError, InputError
from crossarc.ilp.rule_file import read_rules
from crossarc.io import format_of
from crossarc.io.blocks import read_blocks
from crossarc.io.streams import open_input, open_output
from crossarc.io.text import read_text
from crossarc.parsers import CovingtonParser, IlpParser, SpanningTreeParser, parser_class
from crossarc.parsers.constraint_file import read_wishes
from crossarc.parsers.spanning_tree.probabilities import Decode
from crossarc.pipeline.work import Done, Input, Task, run


@click.command("parse")
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
@click.option(
    "--retag", is_flag=True, help="Replace given tags and lemmas; by default only missing ones are filled in."
)
@click.option("-o", "--output", type=FILES, default="-", help="Where to write; standard output by default.")
@click.option(
    "-k",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Write the K best trees of each sentence, with their ranks, scores and probabilities in comments.",
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
    default=Task.max_length,
    show_default=True,
    help="Longer sentences are written as they came, with a note. One of n words takes about 200 n² bytes.",
)
@click.option(
    "--max-degree",
    type=click.Choice(["0", "1", "2", "none"]),
    help="Only with a model of --system covington: the largest degree of non-projectivity (Nivre 2007); small ones are "
    "faster.  [default: none]",
)
@click.option(
    "--decode",
    type=click.Choice(["best", "min-risk", "marginal-threshold"]),
    default="best",
    show_default=True,
    help="min-risk: the tree with most arcs expected to be right. marginal-threshold: of that, only arcs with at least "
    "the probability --threshold; other words are left without a head.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=Task.threshold,
    show_default=True,
    help="The least probability of an arc (--decode marginal-threshold).",
)
@click.option(
    "--confidence",
    is_flag=True,
    help="Write the probabilities of each arc, and of arc and label, to MISC (ArcProb=0.9712|RelProb=0.9503), and "
    "log p of the tree, the entropy of all trees and the margin to the second best tree to comments (the incremental "
    "parser: only MISC).",
)
@click.option(
    "--rules",
    type=click.Path(),
    help="Rules that trees must follow, one on each line, such as: at most 1 nsubj per head. Trees are then found by "
    "integer programs, with any graph-based model.",
)
@click.option(
    "--exact/--relaxed",
    default=None,
    help="Of integer programs (models of --system ilp, or --rules): the best tree there is, or the one nearest to the "
    "solution of the linear relaxation. Comments say which trees are the best.  [default: relaxed]",
)
@click.option(
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
    retag: bool,
    output: str,
    k: int,
    constraints: str | None,
    max_length: int,
    max_degree: str | None,
    decode: Decode,
    threshold: float,
    confidence: bool,
    rules: str | None,
    exact: bool | None,
    time_limit: float | None,
    jobs: int,
    on_error: str,
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
    wishes = read_wishes(constraints) if constraints not in (None, "misc") else None
    system = parser_class(model)
    programs = system is IlpParser or rules is not None
    if (k > 1 or decode != "best") and system is not SpanningTreeParser:
        raise CrossarcError("-k and --decode are for models of --system spanning-tree")
    if confidence and not (system is SpanningTreeParser or (system is CovingtonParser and constraints is None)):
        raise CrossarcError(
            "--confidence is for models of --system spanning-tree, or, without --constraints, --system covington"
        )
    if k > 1 and (confidence or decode != "best"):
        raise CrossarcError("-k writes the probability of each tree: it goes without --confidence and --decode")
    if rules is not None and system not in (IlpParser, SpanningTreeParser):
        raise CrossarcError("--rules are for models of --system spanning-tree or ilp")
    if programs and (k > 1 or confidence or decode != "best"):
        raise CrossarcError("an integer program makes one tree: no -k, --confidence or --decode")
    if not programs and (exact is not None or time_limit is not None):
        raise CrossarcError("--exact, --relaxed and --time-limit are for models of --system ilp, or with --rules")
    if rules is not None:
        read_rules(rules)  # what is wrong with it is said before anything is parsed
    if max_degree is not None and system is not CovingtonParser:
        raise CrossarcError("--max-degree is for models of --system covington")
    degree = None if max_degree in (None, "none") else int(max_degree)
    task = Task(
        model,
        read_as,
        format_of(output),
        k,
        constraints is not None,
        wishes,
        max_length,
        degree,
        decode,
        threshold,
        confidence,
        bool(exact),
        time_limit,
        rules,
        retag,
    )
    with open_output(output) as stream:
        for done in run(task, progress(_blocks(name, text, read_as), name), jobs):
            stream.write(done.text.encode())
            _report(done, errors)
    errors.report()


def _blocks(name: str, text: str | None, read_as: Input) -> Iterator[Any]:
    """What is parsed together."""
    with contextlib.nullcontext(BytesIO((text or "").encode())) if text is not None else open_input(name) as stream:
        if read_as in ("text", "lines"):
            yield from read_text(stream, name, lines=read_as == "lines")
        else:
            yield from read_blocks(stream, name)


def _is_text(file: str) -> bool:
    return file.removesuffix(".gz").removesuffix(".xz").endswith(".txt")


def _report(done: Done, errors: ErrorLog) -> None:
    for note in done.notes:
        click.echo(f"crossarc: {note}", err=True)
    for error in done.errors:
        if errors.on_error == "stop":
            raise error
        assert isinstance(error, InputError)
        errors.on_error(error)
