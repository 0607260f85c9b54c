"""crossarc corpus"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from crossarc.cli.common import Advance, json_option, model_option, print_json, progress_bar
from crossarc.cli.hints import HintingGroup
from crossarc.cli.messages import log, verbosity_options
from crossarc.cli.parse_options import ParsingCommand, parse_options, parsing_options

if TYPE_CHECKING:
    from crossarc.cluster import CorpusStatus
    from crossarc.cluster.corpus import Plan
    from crossarc.cluster.journal import Record


@click.group("corpus", cls=HintingGroup, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Parse more text than one machine can: many files, any number of processes and machines, disk to disk.

    What is done stays done: after a crash, the same command goes on where it stopped.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@command.command("parse", cls=ParsingCommand, short_help="Parse files and folders to a folder.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", type=click.Path(), required=True, help="A folder that all workers see.")
@model_option
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Processes side by side; with --ray, tasks.  [default: 1; with --ray, one for each core]",
)
@click.option(
    "--ray",
    metavar="ADDRESS",
    help="Work on the Ray cluster at this address (auto: the one that this machine belongs to).",
)
@click.option(
    "--rank",
    type=click.IntRange(0),
    help="Of --of processes that are started side by side, by Slurm or "
    "anything else: the number of this one, from 0 on. It does its share of the shards.",
)
@click.option("--of", type=click.IntRange(1), help="How many such processes there are.")
@click.option(
    "--input",
    "read_as",
    type=click.Choice(["conllu", "conllx", "text", "lines", "jsonl", "parquet"]),
    help="What the files are: treebanks, text with blank lines between paragraphs, text with a paragraph on every "
    "line, JSON Lines or Parquet with a text for each document.  [default: as their names say]",
)
@click.option(
    "--id-field", default="id", show_default=True, help="Where JSON Lines and Parquet have the document's id."
)
@click.option("--text-field", default="text", show_default=True, help="Where they have its text.")
@click.option(
    "--format",
    type=click.Choice(["conllu", "conllu.gz", "conllu.xz", "conllu.zst", "parquet"]),
    default="conllu",
    show_default=True,
    help="What to write; a Parquet file has a row for each sentence.",
)
@click.option(
    "--shard-size",
    type=click.FloatRange(0, min_open=True),
    default=20,
    show_default=True,
    metavar="MB",
    help="How much input goes into one output file: what a worker does at a time, and what is lost when it is killed.",
)
@parsing_options
@click.option(
    "--on-error",
    type=click.Choice(["skip", "stop"]),
    default="skip",
    show_default=True,
    help="What to do with a sentence or file that cannot be parsed: note it in a side file, or stop with exit code 2.",
)
def parse(
    inputs: tuple[str, ...],
    output: str,
    model: str,
    jobs: int | None,
    ray: str | None,
    rank: int | None,
    of: int | None,
    read_as: Any,
    id_field: str,
    text_field: str,
    format: Any,
    shard_size: float,
    retag: bool,
    on_error: Any,
    **options: Any,
) -> None:
    """Parse files, folders and patterns ('crawl/*.jsonl.gz') to the folder OUTPUT.

    Text (.txt), treebanks (.conllu, .conllx), JSON Lines and Parquet files, plain or compressed (.gz, .xz, .zst).
    Large files are cut, small ones put together; each of these shards becomes one file, part-000000.conllu and so on,
    in the order of the input. Exit code 1 if shards had to be set aside because they killed their workers.
    """
    from crossarc.cluster.corpus import Rank, plan, run
    from crossarc.cluster.job import CorpusJob
    from crossarc.cluster.reading import Fields
    from crossarc.cluster.status import corpus_status

    if (rank is None) != (of is None):
        raise click.UsageError("--rank and --of belong together: --rank 0 --of 4 is the first of four processes")
    if ray is not None and rank is not None:
        raise click.UsageError("--ray and --rank are two ways to share the work: give one of them")
    job = CorpusJob(parse_options(**options), retag, read_as, Fields(id_field, text_field), format, shard_size)
    planned = plan(inputs, output, model, job, None if rank is None or of is None else Rank(rank, of))
    with _progress(output, planned) as advance:
        run(planned, on_error=on_error, jobs=jobs, ray=ray, listener=_Listener(planned, advance))
    found = corpus_status(output)
    _report(found, output)
    if found.set_aside:
        click.get_current_context().exit(1)


def _progress(output: str, planned: Plan) -> AbstractContextManager[Advance]:
    return progress_bar(output, sum(shard.size for shard in planned.shards))


class _Listener:
    """Moves the progress bar, and tells of workers that died."""

    def __init__(self, planned: Plan, advance: Advance) -> None:
        self._shards = {shard.number: shard for shard in planned.shards}
        self._advance = advance

    def __call__(self, record: Record) -> None:
        shard = self._shards[record.shard]
        if record.state == "done":
            self._advance(shard.size, record.sentences)
            log.debug(
                "%s: %d sentences, %d words in %.1f s", shard.name, record.sentences, record.words, record.seconds
            )
        else:
            log.warning("%s: %s: %s", shard.name, record.state, record.reason)


def _report(found: CorpusStatus, output: str) -> None:
    log.info(
        "%s: %d of %d shards done: %d sentences, %d words",
        output,
        found.done,
        found.shards,
        found.sentences,
        found.words,
    )
    if found.failed:
        log.info("%d sentences or files could not be parsed: %s/part-*.errors.jsonl say why", found.failed, output)
    for name, reason in found.set_aside.items():
        log.warning("%s was set aside: %s", name, reason)


@command.command("status", short_help="How far the work is.")
@click.argument("output", type=click.Path())
@click.option(
    "--check", is_flag=True, help="Also compare every output file with its sha256; exit code 1 if one differs."
)
@json_option
def status(output: str, check: bool, as_json: bool) -> None:
    """How far the work in the folder OUTPUT is: shards, words a second, the time that is left."""
    from crossarc.cluster.status import check_outputs, corpus_status

    found = corpus_status(output)
    wrong = check_outputs(output) if check else []
    if as_json:
        print_json({**asdict(found), **({"wrong": wrong} if check else {})})
    else:
        _print(found, wrong)
    if wrong:
        click.get_current_context().exit(1)


def _print(found: CorpusStatus, wrong: list[str]) -> None:
    rate, left = found.words_per_second, found.seconds_left
    rows = {
        "shards": f"{found.shards:,}",
        "done": f"{found.done:,} ({found.done / max(found.shards, 1):.1%})",
        "running": f"{found.running:,}",
        "set aside": f"{len(found.set_aside):,}",
        "sentences": f"{found.sentences:,}",
        "words": f"{found.words:,}",
        "failed": f"{found.failed:,} sentences or files",
        "speed": "unknown"
        if rate is None
        else f"{rate:,.0f} words a second" + ("" if found.running else " and worker"),
        "time left": "unknown" if left is None else _duration(left),
    }
    for title, value in rows.items():
        click.echo(f"{title:10} {value}")
    for name, reason in found.set_aside.items():
        click.echo(f"{name} was set aside: {reason}")
    for name in wrong:
        click.echo(f"{name} is missing, or not what was written")


def _duration(seconds: float) -> str:
    """
    >>> _duration(59), _duration(7300)
    ('0:59', '2:01:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


for own in (parse, status):
    own.params += verbosity_options()
