"""Parse a corpus: begin, or go on where it stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from crossarc.cluster.folder import Folder
from crossarc.cluster.inputs import Kind
from crossarc.cluster.job import CorpusJob, input_checksum, prepare, read_shards
from crossarc.cluster.journal import Journal, Record, remove_leftovers
from crossarc.cluster.local import run_local
from crossarc.cluster.outputs import OutputFormat
from crossarc.cluster.queue import Queue
from crossarc.cluster.ray import run_ray
from crossarc.cluster.reading import Fields
from crossarc.cluster.shards import Shard
from crossarc.cluster.status import CorpusStatus, corpus_status, read_manifest
from crossarc.cluster.worker import OnError, ShardWork, Work
from crossarc.core import CrossarcError
from crossarc.parsers.base import ParseOptions

__all__ = ["Plan", "Rank", "parse_corpus", "plan", "run"]

Listener = Callable[[Record], None]


class Rank(NamedTuple):
    """Which share of the shards is ours, when many processes are started side by side."""

    rank: int  # 0 to of-1
    of: int


def parse_corpus(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    model: str | Path = "en",
    *,
    options: ParseOptions | None = None,
    retag: bool = False,
    read_as: Kind | None = None,
    id_field: str = "id",
    text_field: str = "text",
    format: OutputFormat = "conllu",
    shard_size: float = 20,
    on_error: OnError = "skip",
    jobs: int | None = None,
    ray: str | None = None,
    rank: tuple[int, int] | None = None,
) -> CorpusStatus:
    """Parse files to an output folder, with as many processes and machines as there are, and say what came of it.

    Called again with the same arguments, it goes on where it stopped, on any number of machines. In a script, the call
    must be below ``if __name__ == "__main__":``, for processes start anew.

    Parameters
    ----------
    inputs : files, folders and patterns
        Text, CoNLL-U, CoNLL-X, JSON Lines or Parquet, as their names or ``read_as`` say; plain, .gz, .xz or .zst.
    output : a folder, on a disk that all workers see
    options, retag : as in ``Pipeline.parse``
    id_field, text_field : where JSON Lines and Parquet have the names of documents and their texts
    format : "conllu", "conllu.gz", "conllu.xz", "conllu.zst" or "parquet"
    shard_size : millions of bytes of input that one worker takes at a time
    on_error : "skip" or "stop"
        Whether what cannot be parsed goes to a side file, or ends the work with an ``InputError``.
    jobs : processes on this machine (by default one), or tasks at a time on a Ray cluster (one for each core)
    ray : the address of a Ray cluster
    rank : (i, n), for one of n processes that are started side by side: it does every n-th shard, from the i-th
    """
    paths = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    job = CorpusJob(options or ParseOptions(), retag, read_as, Fields(id_field, text_field), format, shard_size)
    planned = plan(paths, output, model, job, Rank(*rank) if rank else None)
    run(planned, on_error=on_error, jobs=jobs, ray=ray)
    return corpus_status(output)


class Plan(NamedTuple):
    """What is to be done in a folder."""

    folder: Folder
    job: CorpusJob
    checksum: str  # of the job
    shards: list[Shard]  # that are not done yet


def plan(
    inputs: Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    model: str | Path,
    job: CorpusJob,
    rank: Rank | None = None,
) -> Plan:
    """Make the output folder, or look what is left to do in it.

    Done is a shard with a record, an output of the size that the record says, and input that has not changed. Those
    that were begun before come last: they may have killed their workers.
    """
    if rank is not None and not 0 <= rank.rank < rank.of:
        raise CrossarcError(f"rank {rank.rank} of {rank.of}: ranks are 0 to {rank.of - 1}")
    folder = Folder(Path(output).absolute())
    own = prepare(folder, job, inputs, model)
    remove_leftovers(folder)
    manifest = read_manifest(folder)
    mine = [shard for shard in read_shards(folder) if rank is None or shard.number % rank.of == rank.rank]
    left = [shard for shard in mine if not _is_done(shard, manifest.done.get(shard.number), folder, job)]
    left.sort(key=lambda shard: (manifest.starts[shard.number], shard.number))
    return Plan(folder, job, own, left)


def _is_done(shard: Shard, record: Record | None, folder: Folder, job: CorpusJob) -> bool:
    if record is None:
        return False
    try:
        size = folder.output(shard, job.format).stat().st_size
    except FileNotFoundError:
        return False
    return size == record.bytes and input_checksum(shard) == record.input


def run(
    planned: Plan,
    *,
    on_error: OnError = "skip",
    jobs: int | None = None,
    ray: str | None = None,
    listener: Listener = lambda record: None,
    work: Work | None = None,
) -> None:
    """Do what is left to do; the listener hears of every shard that is done, and of every worker that died."""
    work = work or ShardWork(planned.folder.path, planned.job, planned.checksum, on_error)
    queue = Queue(planned.shards, Journal(planned.folder), listener)
    try:
        if ray is not None:
            run_ray(queue, work, ray, jobs)
        else:
            run_local(queue, work, jobs or 1)
    finally:
        remove_leftovers(planned.folder)
