"""Load model files that are wrong in some way and, if they are let in, parse with them; in a watched process.

    python tests/fuzz/model_files.py --count 200000

What must not happen: a signal (a kernel that reads or writes outside its arrays), an error other than a
``CrossarcError``, more than 5 s of processor time for one file, more than 1 GiB of memory beyond what the process has
at the start. Failures are printed with the model and the number of the file, by which it can be made again:
``--model "order 1" --first 1234 --count 1``. With NUMBA_BOUNDSCHECK=1 (and NUMBA_CACHE_DIR for the kernels that are
then compiled) every index in every kernel is checked; an ``IndexError`` is a failure as any other.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from memory import most_memory

SECONDS = 5  # of processor time for one file
MEMORY = 1 << 30  # bytes that a process may take beyond what it has at the start
_MOST_FAILURES = 20
_PATIENCE = 1800  # seconds for one file that waits for something, on however slow a machine


class Task(NamedTuple):
    """Files of one model, by their numbers."""

    model: str
    first: int
    end: int


class Report:
    """What became of the files."""

    def __init__(self) -> None:
        self.outcomes: dict[str, Counter[str]] = {}  # of each model: how many files were refused, parsed ...
        self.failures: list[str] = []
        self.peak = 0  # the most memory that a process had, in bytes

    def add_failure(self, task: Task, why: str) -> None:
        self.failures.append(f"{task.model}, file {task.first}: {why}")
        print(self.failures[-1], file=sys.stderr, flush=True)

    @property
    def total(self) -> Counter[str]:
        return sum(self.outcomes.values(), Counter())

    def __str__(self) -> str:
        lines = [f"{model}: {_listed(own)}" for model, own in self.outcomes.items()]
        files = sum(self.total.values())
        last = f"{files} files: {_listed(self.total)}; {len(self.failures)} failures; {self.peak >> 20} MB at most"
        return "\n".join([*lines, *self.failures, last])


def _listed(outcomes: Counter[str]) -> str:
    return ", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items()))


def watch(tasks: list[Task], report: Report, *, plain: bool = False) -> None:
    """Try all files of the tasks. A process that dies is replaced, and the file that it died of is a failure.

    ``plain``: for trees alone, without probabilities, which have kernels of their own.
    """
    while tasks and len(report.failures) < _MOST_FAILURES:
        tasks = _watch_process(tasks, report, plain)


def _watch_process(tasks: list[Task], report: Report, plain: bool) -> list[Task]:
    """One process; the tasks that it has left undone."""
    command = [sys.executable, __file__, "--work", json.dumps(tasks), *["--plain"] * plain]
    current, done = tasks[0], False
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            kind, *rest = json.loads(line)
            if kind == "at":
                current = Task(*rest)
            elif kind == "outcomes":
                report.outcomes.setdefault(rest[0], Counter()).update(rest[1])
                report.peak = max(report.peak, rest[2])
            elif kind == "failed":
                report.add_failure(current, rest[0])
            done = kind == "done"
        status = process.wait()
        if done:
            return []
        errors.seek(0)
        why = f"more than {SECONDS} s" if status == -signal.SIGPROF else f"exit status {status}"
        report.add_failure(current, f"{why}\n{errors.read()[-3000:]}")
    left = tasks[[task.model for task in tasks].index(current.model) + 1 :]
    rest = current._replace(first=current.first + 1)
    return [rest, *left] if rest.first < rest.end else left


def _say(*what: Any) -> None:
    print(json.dumps(what), flush=True)


def work(tasks: list[Task], *, plain: bool) -> None:
    """Try files in this process, and tell the one that watches it."""
    from model_mutations import Mutations
    from small_models import small_model

    faulthandler.enable()
    warnings.simplefilter("ignore")
    mutations = {task.model: Mutations(task.model, small_model(task.model)) for task in tasks}
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        path = Path(folder) / "model"
        for own in mutations.values():
            path.write_bytes(own.file(0))
            for options in _OPTIONS[: 1 if plain else None]:
                _use(path, options)  # compiles what is needed, without limits
        _stop_clock_while_compiling()
        _limit_memory()
        for task in tasks:
            _try_files(task, mutations[task.model], path, plain)
    _say("done")


def _try_files(task: Task, mutations: Any, path: Path, plain: bool) -> None:
    from crossarc.core import CrossarcError
    from crossarc.models import ModelError

    outcomes: Counter[str] = Counter()
    for number in range(task.first, task.end):
        _say("at", task.model, number, task.end)
        path.write_bytes(mutations.file(number))
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # whoever does not stop it is killed
        signal.alarm(_PATIENCE)
        try:
            _use(path, {} if plain else _OPTIONS[number % len(_OPTIONS)])
            outcomes["parsed"] += 1
        except ModelError:
            outcomes["refused"] += 1
        except CrossarcError:
            outcomes["let in without a tree"] += 1
        except BaseException:  # whatever it is, the next file is tried
            _say("failed", traceback.format_exc(limit=-6))
            outcomes["failed"] += 1
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        if number % 100 == 0 or number == task.end - 1:
            _say("outcomes", task.model, outcomes, most_memory())
            outcomes.clear()


_OPTIONS: list[dict[str, Any]] = [{}, {"confidence": True}, {"k": 3}, {"enhanced": True}]


def _use(path: Path, given: dict[str, Any]) -> None:
    """Load a model, and parse with it; then again with these options, if it can do what they ask for."""
    from small_models import SENTENCES, TEXT

    from crossarc import load
    from crossarc.parsers import ParseOptions, UnsupportedOption

    model = load(path)
    list(model.parse(SENTENCES))
    if model.segmenter is not None:
        model(TEXT)
    options = ParseOptions(**given)
    with contextlib.suppress(UnsupportedOption):
        model.check(options)
        if given and model.parser.knows_probabilities:
            list(model.parse(SENTENCES, options))


def _stop_clock_while_compiling() -> None:
    """A changed configuration may need another kernel."""
    from numba.core import event

    class Pause(event.Listener):
        depth = 0  # a kernel is compiled with all that it calls

        def on_start(self, compilation: Any) -> None:
            self.depth += 1
            signal.setitimer(signal.ITIMER_PROF, 0)

        def on_end(self, compilation: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                signal.setitimer(signal.ITIMER_PROF, SECONDS)

    event.register("numba:compiler_lock", Pause())


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="files in all")
    parser.add_argument("--first", type=int, default=1, help="the number of the first file of each model")
    parser.add_argument("--model", help="only this model")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--plain", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work([Task(*task) for task in json.loads(given.work)], plain=given.plain)
        return 0
    from small_models import MODELS

    models = [given.model] if given.model else list(MODELS)
    report, begin = Report(), time.perf_counter()
    for model in models:
        watch([Task(model, given.first, given.first + -(-given.count // len(models)))], report)
        print(f"{model}: {_listed(report.outcomes.get(model, Counter()))}", flush=True)
    print(f"{report}; {time.perf_counter() - begin:.0f} s")
    return bool(report.failures)


if __name__ == "__main__":
    sys.exit(main())
