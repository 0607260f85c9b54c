"""Parsers that are trained in shards, by workers of any engine, some of which die.

As a program: ``python cluster_training.py '{"config": "lbfgs", "jobs": 2, "faults": {"3": "worker"}, ...}'`` prints
the sha256 of each model file.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crossarc.cluster import LocalWorkers, RayWorkers, ray_workers
from crossarc.learning.shards import InProcess, MapShards, Workers
from crossarc.parsers import PRESETS, GenerativeConfig, Parser, SpanningTreeConfig, train
from crossarc.parsers.generative import expectation
from crossarc.parsers.linear import training
from crossarc.testing import random_treebank

TREEBANK = list(random_treebank(120, seed=5))
CONFIGS = {
    "lbfgs": replace(PRESETS["ms2007"], optimizer="lbfgs", epochs=4, hash_bits=14),
    "em": GenerativeConfig(unsupervised=True, symbols="upos+form", epochs=4),
    "mira": SpanningTreeConfig(order="1", shards=5, epochs=3, hash_bits=14),
    "perceptron": SpanningTreeConfig(order="1", learner="perceptron", labels="joint", shards=3, epochs=3, hash_bits=14),
}


def small_shards() -> None:
    """Cut small treebanks, too, into several shards."""
    training._WORDS_OF_SHARD = 200
    expectation._ARCS = 5000


def train_parser(name: str, workers: Workers | None, **others: Any) -> Parser:
    small_shards()
    return train(TREEBANK, CONFIGS[name], workers=workers, **others)


@dataclass(frozen=True)
class Faulty:
    """Workers that die, or whose machine does, over some of the questions: once, or (poison) always; or that sleep."""

    workers: Workers
    faults: dict[str, str]  # by the number of the question
    marks: Path  # a folder that remembers which faults have been

    @contextmanager
    def hold(self, shards: Sequence[Any]) -> Iterator[MapShards]:
        asked = 0
        with self.workers.hold(shards) as map_shards:

            def map_faulty(function: Callable[[Any], Any]) -> Iterator[Any]:
                nonlocal asked
                asked += 1
                fault = self.faults.get(str(asked))
                return map_shards(
                    function if fault is None else FaultyQuestion(function, fault, self.marks / str(asked))
                )

            yield map_faulty


@dataclass(frozen=True)
class FaultyQuestion:
    """A question that kills whoever is asked first."""

    function: Callable[[Any], Any]
    fault: str
    mark: Path

    def __call__(self, shard: Any) -> Any:
        if self.fault == "error":
            raise ZeroDivisionError("a defect")
        if self._first() or self.fault == "poison":
            victims = {"node": [os.getppid(), os.getpid()], "sleep": []}  # our parent is Ray's raylet
            for victim in victims.get(self.fault, [os.getpid()]):
                os.kill(victim, signal.SIGKILL)
            time.sleep(600)
        return self.function(shard)

    def _first(self) -> bool:
        try:
            self.mark.touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def main() -> None:
    told = json.loads(sys.argv[1])
    workers: Workers = InProcess()
    if "ray" in told:
        ray_workers._PATIENCE_FOR_OTHERS = told.get("patience", 60)
        workers = RayWorkers(told["ray"], told.get("jobs"))
    elif "jobs" in told:
        workers = LocalWorkers(told["jobs"])
    if "faults" in told:
        workers = Faulty(workers, told["faults"], Path(told["marks"]))
    for name in told["configs"]:
        model = Path(told["folder"]) / f"{name}.crossarc"
        train_parser(name, workers).save(model)
        print("model:", name, hashlib.sha256(model.read_bytes()).hexdigest(), flush=True)


if __name__ == "__main__":
    import cluster_training  # under its own name, workers of Ray can import it too

    cluster_training.main()
