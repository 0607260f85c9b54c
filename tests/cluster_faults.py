"""Workers and drivers that die in the middle of their work, at a place that the test chooses.

As a program: parse a corpus, with faults: ``python cluster_faults.py '{"inputs": [...], "output": ..., ...}'``.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crossarc.cluster import folder
from crossarc.cluster.corpus import plan, run
from crossarc.cluster.job import CorpusJob
from crossarc.cluster.journal import Record
from crossarc.cluster.shards import Shard
from crossarc.cluster.worker import ShardParser, ShardWork


@dataclass(frozen=True)
class FaultyWork:
    """Work that fails on some shards: once, or (poison) every time."""

    work: ShardWork
    faults: dict[str, str]  # by the number of the shard
    marks: Path  # a folder that remembers which faults have been
    driver: int  # its process

    def __call__(self) -> Callable[[Shard], Record]:
        parser = self.work()
        parser.pipeline = _Faulty(parser.pipeline)  # type: ignore[assignment]
        return lambda shard: self._do(parser, shard)

    def _do(self, parser: ShardParser, shard: Shard) -> Record:
        fault = self.faults.get(str(shard.number))
        mark = self.marks / f"{shard.number}"
        if fault is not None and (fault == "poison" or not mark.exists()):
            mark.touch()
            parser.pipeline.after_one_batch = lambda: self._fail(fault)  # type: ignore[attr-defined]
        return parser(shard)

    def _fail(self, fault: str) -> None:
        if fault == "full disk":
            folder.sync = _full  # type: ignore[assignment]
            return
        if fault == "driver":
            self._wait_for_deaths()
        victims = {"driver": [self.driver], "node": [os.getppid(), os.getpid()]}  # our parent is Ray's raylet
        for victim in victims.get(fault, [os.getpid()]):
            os.kill(victim, signal.SIGKILL)
        time.sleep(600)  # a worker ends with its driver

    def _wait_for_deaths(self) -> None:
        """Wait until the driver knows of the other faults."""
        expected = sum(fault in ("worker", "node") for fault in self.faults.values())
        journals = folder.Folder(self.work.folder).journals
        for _ in range(3000):
            if sum(path.read_text().count('"died"') for path in journals.glob("*")) >= expected:
                return
            time.sleep(0.1)


def _full(path: Path) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class _Faulty:
    """A pipeline that does something after the first batch of a shard."""

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline
        self.after_one_batch: Callable[[], None] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pipeline, name)

    def parse(self, *arguments: Any, **options: Any) -> Any:
        found = list(self._pipeline.parse(*arguments, **options))
        if self.after_one_batch is not None:
            do, self.after_one_batch = self.after_one_batch, None
            do()
        return found


def main() -> None:
    told = json.loads(sys.argv[1])
    planned = plan(told["inputs"], told["output"], told["model"], CorpusJob(shard_size=told["shard_size"]))
    own = ShardWork(planned.folder.path, planned.job, planned.checksum)
    work = FaultyWork(own, told["faults"], Path(told["marks"]), os.getpid())
    run(planned, jobs=told.get("jobs"), ray=told.get("ray"), work=work)


if __name__ == "__main__":
    main()
