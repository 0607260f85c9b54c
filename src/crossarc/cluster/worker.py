"""What a worker does with a shard: the same on every engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from crossarc.cluster.folder import Folder, checksum
from crossarc.cluster.job import CorpusJob, input_checksum
from crossarc.cluster.journal import Journal, Record
from crossarc.cluster.outputs import write_errors, write_trees
from crossarc.cluster.reading import ShardReader
from crossarc.cluster.shards import Shard
from crossarc.core import InputError, Sentence
from crossarc.parsers.base import Parsed, batches
from crossarc.pipeline import load
from crossarc.pipeline.output import with_notes

__all__ = ["OnError", "ShardParser", "ShardWork", "Work"]

OnError = Literal["stop", "skip"]
Work = Callable[[], Callable[[Shard], Record]]  # makes a worker, in a process of its own

_BATCH = 64  # sentences


@dataclass(frozen=True)
class ShardWork:
    """All that a process must know to work on a corpus; the model and the input are in files."""

    folder: Path
    job: CorpusJob
    job_checksum: str
    on_error: OnError = "skip"

    def __call__(self) -> ShardParser:
        return ShardParser(self)


class ShardParser:
    """Parses one shard after the other: the model is loaded once."""

    def __init__(self, work: ShardWork) -> None:
        self.work, self.job = work, work.job
        self.folder = Folder(work.folder)
        self.journal = Journal(self.folder)
        self.pipeline = load(self.folder.model)

    def __call__(self, shard: Shard) -> Record:
        """Parse a shard, and write its output and then its record."""
        self.journal.started(shard)
        with self.journal.working():
            record = ShardRun(self, shard).record()
        self.journal.write(record)
        return record


class ShardRun:
    """One shard on its way."""

    def __init__(self, parser: ShardParser, shard: Shard) -> None:
        self.parser, self.shard, self.job = parser, shard, parser.job
        self.reader = ShardReader(shard, parser.pipeline, self.job.fields, self._report)
        self.errors: list[dict[str, Any]] = []
        self.failed = self.sentences = self.words = 0

    def record(self) -> Record:
        """Parse everything, write it, and say what came of it."""
        start, processor = time.time(), time.process_time()
        read = input_checksum(self.shard)
        folder, journal = self.parser.folder, self.parser.journal
        target = folder.output(self.shard, self.job.format)
        temporary = folder.unfinished / f"{journal.worker}.{target.name}"
        write_trees(
            self._trees(),
            target,
            temporary,
            probabilities=self.job.options.confidence,
            document=self.reader.document,
        )
        write_errors(self.errors, folder.errors(self.shard), temporary)
        return Record(
            "done",
            self.shard.number,
            time=time.time(),
            job=self.parser.work.job_checksum,
            input=read,
            sha256=checksum(target),
            bytes=target.stat().st_size,
            sentences=self.sentences,
            words=self.words,
            failed=self.failed,
            seconds=round(time.time() - start, 3),
            processor=round(time.process_time() - processor, 3),
        )

    def _trees(self) -> Iterator[Sentence]:
        for batch in batches(self.reader.sentences(), _BATCH):
            for parsed in self._parse(batch):
                self.sentences += 1
                self.words += len(parsed.sentence)
                self.errors += [{"note": note} for note in parsed.notes]
                if parsed.error is None:
                    yield from with_notes(parsed)
                else:
                    self._report(self.reader.located(parsed.error), parsed.sentence)

    def _parse(self, batch: list[Sentence]) -> list[Parsed]:
        """What becomes of each sentence. If a batch fails as it never should, only the sentences at fault do."""
        try:
            return list(self.parser.pipeline.parse(batch, self.job.options, retag=self.job.retag))
        except Exception as error:
            if len(batch) == 1:
                problem = InputError(f"{type(error).__name__}: {error}", batch[0].place())
                return [Parsed(batch[0], error=problem)]
            return [parsed for sentence in batch for parsed in self._parse([sentence])]

    def _report(self, error: InputError, sentence: Sentence | None = None) -> None:
        if self.parser.work.on_error == "stop":
            raise error
        self.failed += 1
        place = error.place
        about = {"file": place.path, "line": place.line, "sent_id": place.sent_id, "error": error.message}
        self.errors.append(about if sentence is None else {**about, "sentence": sentence.to_conllu()})
