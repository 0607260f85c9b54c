"""How far the work on a corpus is, as its manifest says."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from crossarc.cluster.folder import Folder, checksum
from crossarc.cluster.job import read_shards
from crossarc.cluster.journal import Record, is_alive, read_journals
from crossarc.cluster.shards import Shard

__all__ = ["CorpusStatus", "Manifest", "check_outputs", "corpus_status", "read_manifest"]


@dataclass
class Manifest:
    """All that the journals say; by the number of the shard."""

    done: dict[int, Record] = field(default_factory=dict)
    starts: Counter[int] = field(default_factory=Counter)  # how often a shard was begun
    lost: dict[int, Record] = field(default_factory=dict)  # when it last killed a worker, or was set aside for that
    at_work: dict[int, Record] = field(default_factory=dict)  # those that workers which live have begun

    def take(self, records: list[Record], alive: bool) -> None:
        """Take in the records of a process."""
        current: Record | None = None
        for record in records:
            if record.state == "started":
                current = record
                self.starts[record.shard] += 1
            elif record.state == "done":
                current = None
                _keep_latest(self.done, record)
            else:
                _keep_latest(self.lost, record)
        if alive and current is not None:
            _keep_latest(self.at_work, current)

    @property
    def running(self) -> set[int]:
        """The shards that somebody works on."""
        begun = {n for n, start in self.at_work.items() if n not in self.lost or self.lost[n].time < start.time}
        return begun.difference(self.done)

    @property
    def set_aside(self) -> dict[int, Record]:
        """The shards that killed their workers too often, unless somebody tries again."""
        given_up = {n: record for n, record in sorted(self.lost.items()) if record.state == "set aside"}
        return {n: record for n, record in given_up.items() if n not in self.running | self.done.keys()}


def _keep_latest(records: dict[int, Record], record: Record) -> None:
    records[record.shard] = max(records.get(record.shard, record), record, key=lambda own: own.time)


def read_manifest(folder: Folder) -> Manifest:
    """What is known of the work in a folder."""
    manifest = Manifest()
    for worker, records in read_journals(folder):
        manifest.take(records, is_alive(worker, folder))
    return manifest


@dataclass(frozen=True)
class CorpusStatus:
    """How far the work on a corpus is."""

    shards: int
    done: int
    running: int
    set_aside: dict[str, str]  # shards that killed their workers, and how
    sentences: int
    words: int
    failed: int  # sentences and files that could not be parsed
    words_per_second: float | None  # of all that are at work now, or else of one worker; None before the first is done
    seconds_left: float | None  # None if nobody is at work, or nothing is known yet

    @property
    def complete(self) -> bool:
        return self.done == self.shards


def corpus_status(output: str | os.PathLike[str]) -> CorpusStatus:
    """How far the work on the corpus in an output folder is."""
    folder = Folder(Path(output))
    shards = read_shards(folder)
    manifest = read_manifest(folder)
    running, set_aside = manifest.running, manifest.set_aside
    records = manifest.done.values()
    seconds = sum(record.seconds for record in records)
    words = sum(record.words for record in records)
    return CorpusStatus(
        shards=len(shards),
        done=len(manifest.done),
        running=len(running),
        set_aside={shards[number].name: record.reason for number, record in set_aside.items()},
        sentences=sum(record.sentences for record in records),
        words=words,
        failed=sum(record.failed for record in records),
        words_per_second=words / seconds * max(len(running), 1) if seconds else None,
        seconds_left=_seconds_left(shards, manifest.done, running, seconds),
    )


def _seconds_left(shards: list[Shard], done: dict[int, Record], running: set[int], seconds: float) -> float | None:
    """If the rest is as the beginning was, and as many go on; what is at work counts half."""
    finished = sum(shards[number].size for number in done)
    left = sum(shard.size for shard in shards) - finished - sum(shards[number].size for number in running) / 2
    if not left:
        return 0.0
    return seconds / finished * left / len(running) if done and running else None


def check_outputs(output: str | os.PathLike[str]) -> list[str]:
    """The output files that are missing or are not what was written, by their sha256."""
    folder = Folder(Path(output))
    shards = read_shards(folder)
    format = json.loads(folder.job.read_bytes())["format"]
    wrong = []
    for number, record in sorted(read_manifest(folder).done.items()):
        path = folder.output(shards[number], format)
        if not path.exists() or checksum(path) != record.sha256:
            wrong.append(shards[number].name)
    return wrong
