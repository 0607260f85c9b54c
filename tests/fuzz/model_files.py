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

SECONDS = 5  # of processor time for one file
MEMORY = 1 << 30  # bytes that a process may take beyond what it has at the start


class Report(NamedTuple):
    """What became of some files."""

    outcomes: Counter[tuple[str, str]]  # how many files of each model were refused, parsed, or had no tree
    failures: list[str]
    peak: int  # the most memory that a process had, in bytes

    def count(self, outcome: str) -> int:
        return sum(number for (_, own), number in self.outcomes.items() if own == outcome)


def watch(models: list[str], first: int, count: int, *, thorough: bool, most_failures: int = 20) -> Report:
    """Try the files with these numbers of each model. A process that dies is replaced, and its file is a failure."""
    report = Report(Counter(), [], 0)
    for model in models:
        number = first
        while number < first + count and len(report.failures) < most_failures:
            number, report = _watch_process(report, model, number, first + count, thorough)
    return report


def _watch_process(report: Report, model: str, first: int, end: int, thorough: bool) -> tuple[int, Report]:
    """One process; the number of the file after the last that it tried."""
    own = [sys.executable, __file__, "--work", "--model", model, "--first", str(first), "--count", str(end - first)]
    peak, done, current = report.peak, False, first
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([*own, *["--thorough"] * thorough], stdout=subprocess.PIPE, stderr=errors, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            kind, *rest = json.loads(line)
            if kind == "at":
                current = rest[0]
            elif kind == "outcomes":
                report.outcomes.update({(model, outcome): n for outcome, n in rest[0].items()})
                peak = max(peak, rest[1])
            elif kind == "failed":
                report.failures.append(f"{model}, {rest[0]}: {rest[1]}")
            done = kind == "done"
        status = process.wait()
        if not done:
            errors.seek(0)
            why = "more than 5 s" if status == -signal.SIGPROF else f"exit status {status}"
            report.failures.append(f"{model}, {current}: {why}\n{errors.read()[-3000:]}")
    return (end if done else current + 1), report._replace(peak=peak)


def _say(*what: Any) -> None:
    print(json.dumps(what), flush=True)


def work(model: str, first: int, count: int, *, thorough: bool) -> None:
    """Try files in this process, and tell the one that watches it."""
    from model_mutations import Mutations
    from small_models import SENTENCES, TEXT, small_model

    from crossarc import load
    from crossarc.core import CrossarcError
    from crossarc.models import ModelError

    faulthandler.enable()
    warnings.simplefilter("ignore")
    mutations = Mutations(model, small_model(model))
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        path = Path(folder) / "model"
        path.write_bytes(mutations.file(0))
        _parse(load(path), SENTENCES, TEXT, 0, thorough=thorough)  # compiles what is needed, without limits
        _limit_time_between_compilations()
        _limit_memory()
        for number in range(first, first + count):
            _say("at", number)
            path.write_bytes(mutations.file(number))
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                _parse(load(path), SENTENCES, TEXT, number, thorough=thorough)
                outcomes["parsed"] += 1
            except ModelError:
                outcomes["refused"] += 1
            except CrossarcError:
                outcomes["let in, but no tree"] += 1
            except BaseException:  # whatever it is, the next file is tried
                _say("failed", number, traceback.format_exc(limit=-6))
                outcomes["failed"] += 1
            signal.setitimer(signal.ITIMER_PROF, 0)
            if number % 100 == 0:
                _tell(outcomes)
    _tell(outcomes)
    _say("done")


def _tell(outcomes: Counter[str]) -> None:
    """What has become of the files since the last time."""
    _say("outcomes", outcomes, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    outcomes.clear()


def _parse(model: Any, sentences: Any, text: str, number: int, *, thorough: bool) -> None:
    """All that a model is asked for."""
    from crossarc.core import Constraints
    from crossarc.parsers import Capability, ParseOptions

    list(model.parse(sentences))
    if model.segmenter is not None:
        model(text)
    if thorough:
        can, options = model.parser.capabilities, [ParseOptions(constraints=Constraints(forbidden_arcs=frozenset()))]
        if Capability.PROBABILITIES in can and model.parser.knows_probabilities:
            options.append(ParseOptions(confidence=True))
        if Capability.K_BEST in can and model.parser.knows_probabilities:
            options.append(ParseOptions(k=3))
        list(model.parse(sentences, options[number % len(options)]))


def _limit_time_between_compilations() -> None:
    """Let the clock stand still while Numba compiles: a changed configuration may need another kernel."""
    from numba.core import event

    class Pause(event.Listener):
        def on_start(self, compilation: Any) -> None:
            signal.setitimer(signal.ITIMER_PROF, 0)

        def on_end(self, compilation: Any) -> None:
            signal.setitimer(signal.ITIMER_PROF, SECONDS)

    event.register("numba:compile", Pause())


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="files in all, or of the one --model")
    parser.add_argument("--first", type=int, default=1, help="the number of the first file")
    parser.add_argument("--model", help="only this model")
    parser.add_argument("--thorough", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.model, given.first, given.count, thorough=given.thorough)
        return 0
    from small_models import MODELS

    models = [given.model] if given.model else list(MODELS)
    begin = time.perf_counter()
    report = Report(Counter(), [], 0)
    for model in models:
        found = watch([model], given.first, -(-given.count // len(models)), thorough=True)
        report.outcomes.update(found.outcomes)
        report.failures.extend(found.failures)
        report = report._replace(peak=max(report.peak, found.peak))
        own = {outcome: n for (name, outcome), n in found.outcomes.items() if name == model}
        print(f"{model}: {own}, {len(found.failures)} failures, peak {found.peak >> 20} MB", flush=True)
        print("\n".join(found.failures), flush=True)
    total = sum(report.outcomes.values())
    seconds = time.perf_counter() - begin
    print(f"{total} files in {seconds:.0f} s: {report.count('refused')} refused, {len(report.failures)} failures")
    return bool(report.failures)


if __name__ == "__main__":
    sys.exit(main())
