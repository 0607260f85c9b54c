"""What `crossarc corpus` costs: `python benchmarks/cluster.py [--words N] [--shards N] [--only PART]`.

Needs `pip install '.[cluster,arrow]'` for the rows of Ray. Writes docs/results/cluster.md and cluster.json;
parts that are not run keep the figures of their last run.

- speed: raw text to CoNLL-U with the built-in model en-fast, by `crossarc parse` and by every engine, with one and
  two workers. Each command runs on a text and on three times that text; the difference leaves start-up out.
  Commands take turns, so that the noise of the machine falls on all of them; medians of some rounds, in seconds
  and in processor time, which other programs disturb less.
- memory: one worker parses two million words, shard after shard; and half as many without new words.
- training: what parameter mixing costs in accuracy on the dev set of English-EWT; seconds of an iteration of L-BFGS and
  of EM with 1 and 2 workers of each engine, and whether the models are the same. Takes an hour on an idle machine;
  ``--learners mira --orders 1 --mixed 1,4`` measures some rows, and keeps the others.
- manifest: 100,000 shards whose work is nothing: what planning, driver, journals and status cost.

The text is that of English-EWT if ../shared/treebanks has it, otherwise of a random treebank, repeated with a new word
in place of every tenth.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import multiprocessing
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import cycle, pairwise, product
from pathlib import Path
from typing import Any

import crossarc
from crossarc.cluster import LocalWorkers, RayWorkers
from crossarc.cluster.corpus import Plan, plan, run
from crossarc.cluster.folder import Folder, new_file
from crossarc.cluster.inputs import File
from crossarc.cluster.job import CorpusJob, input_checksum, read_shards
from crossarc.cluster.journal import Journal, Record
from crossarc.cluster.shards import Shard, make_shards
from crossarc.cluster.status import corpus_status, read_manifest
from crossarc.cluster.worker import ShardWork
from crossarc.core import Sentence
from crossarc.learning.shards import InProcess, Workers
from crossarc.parsers import PRESETS, EpochReport, GenerativeConfig, SpanningTreeConfig, TrainingListener
from crossarc.testing import random_treebank
from environment import ONE_THREAD, PROJECT, commit

TREEBANK = PROJECT.parent / "shared" / "treebanks" / "English-EWT" / "train.conllu"
RESULTS = PROJECT / "docs" / "results"
MODEL = "en-fast"
ON_DISK = 500  # shards


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=50_000, help="of the smaller text whose parsing is timed")
    parser.add_argument("--rounds", type=int, default=3, help="of which the median counts")
    parser.add_argument("--long", type=int, default=2_000_000, help="words that the memory of a worker is watched over")
    parser.add_argument("--shards", type=int, default=100_000, help="whose work is nothing")
    parser.add_argument("--sentences", type=int, help="that training is measured on, the first of the treebank")
    parser.add_argument("--learners", default="mira,perceptron", help="whose weights are mixed")
    parser.add_argument("--orders", default="1,high", help="of the parsers whose weights are mixed")
    parser.add_argument("--mixed", default="1,4,8", help="numbers of shards")
    parser.add_argument("--epochs", default="10,25", help="of parameter mixing; of one shard, the first number")
    parser.add_argument("--only", choices=["speed", "memory", "training", "mixing", "sums", "manifest"])
    parser.add_argument("--manifest", help=argparse.SUPPRESS)  # a process of its own for a row of that table
    arguments = parser.parse_args()
    if arguments.manifest:
        print(json.dumps(manifest(*json.loads(arguments.manifest))))
        return
    os.environ.update(ONE_THREAD)
    kept = RESULTS / "cluster.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    parts: dict[str, Callable[[Path], Any]] = {
        "speed": lambda folder: speed(folder, arguments.words, arguments.rounds),
        "memory": lambda folder: memory(folder, arguments.long),
        "mixing": lambda folder: mixing(arguments, found.get("mixing", {})),
        "sums": lambda folder: sums(folder, arguments.sentences),
        "manifest": lambda folder: manifests(folder, arguments.shards),
    }
    training = ("mixing", "sums")
    for name, measure in parts.items():
        if arguments.only in (None, name) or (arguments.only == "training" and name in training):
            with tempfile.TemporaryDirectory() as folder:
                found[name] = measure(Path(folder))
            about = {"date": str(datetime.date.today()), "commit": commit(), "load": round(os.getloadavg()[1], 1)}
            found[name]["about"] = about
            kept.write_text(json.dumps(found, indent=2) + "\n")
    (RESULTS / "cluster.md").write_text("\n".join(report(found)) + "\n")
    print("\n".join(report(found)))


# ---- text ------------------------------------------------------------------------------------------------------------


def write_text(path: Path, words: int, *, new_words: bool = True) -> int:
    """So many words of text, a paragraph for every ten sentences; how many there are (as the treebank counts)."""
    trees = list(crossarc.read(TREEBANK) if TREEBANK.exists() else random_treebank(10_000, seed=1))
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for number, tree in enumerate(cycle(trees)):
            if count >= words:
                return count
            forms = tree.text.split(" ")
            if new_words:
                forms = [form if (number + i) % 10 else f"{form}{_new_word(number)}" for i, form in enumerate(forms)]
            file.write(" ".join(forms) + ("\n\n" if number % 10 == 9 else "\n"))
            count += len(tree)
    raise AssertionError


def _new_word(number: int) -> str:
    letters = ""
    while number:
        number, digit = divmod(number, 20)
        letters += "abdefgiklmnoprstuvwz"[digit]
    return letters


# ---- speed -----------------------------------------------------------------------------------------------------------


def speed(folder: Path, words: int, rounds: int) -> dict[str, Any]:
    small, large = folder / "small.txt", folder / "large.txt"
    more = write_text(large, 3 * words) - write_text(small, words)
    seconds: dict[str, list[tuple[float, float]]] = {}
    for _ in range(rounds):
        for name, arguments in commands().items():
            first, second = (timed(arguments, path, folder) for path in (small, large))
            seconds.setdefault(name, []).append((second[0] - first[0], second[1] - first[1]))
    medians = {name: [statistics.median(column) for column in zip(*own, strict=True)] for name, own in seconds.items()}
    return {"words": more, "rounds": rounds, "seconds": medians}


def commands() -> dict[str, list[str]]:
    own = {f"crossarc parse, {n}": ["parse", "--jobs", str(n)] for n in (1, 2)}
    own |= {f"corpus, local processes, {n}": ["corpus", "parse", "--jobs", str(n)] for n in (1, 2)}
    if find_spec("ray"):
        own |= {f"corpus, Ray, {n}": ["corpus", "parse", "--ray", "local", "--jobs", str(n)] for n in (1, 2)}
    return own


def timed(arguments: list[str], text: Path, folder: Path) -> tuple[float, float]:
    """Seconds of a command, and its processor time."""
    output = folder / "out"
    shutil.rmtree(output, ignore_errors=True)
    size = ["--shard-size", str(text.stat().st_size / 4e6)] if arguments[0] == "corpus" else []
    target = output if size else folder / "out.conllu"
    start, before = time.perf_counter(), processor_time()
    command = [sys.executable, "-m", "crossarc", *arguments, str(text), "-m", MODEL, "-o", str(target), "-q", *size]
    subprocess.run(command, check=True)
    seconds, processor = time.perf_counter() - start, processor_time() - before
    if "--ray" in arguments:  # its workers are not our children: their records tell
        processor += sum(record.processor for record in read_manifest(Folder(output)).done.values())
    return seconds, processor


def processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# ---- memory ----------------------------------------------------------------------------------------------------------


def memory(folder: Path, words: int) -> dict[str, Any]:
    """With new words again and again, which tables keep for a while, and without."""
    some, none = folder / "some", folder / "none"
    return {
        "a new word in place of every tenth": grown(some, words, True),
        "no new words": grown(none, words // 2, False),
    }


def grown(folder: Path, words: int, new_words: bool) -> dict[str, Any]:
    """Megabytes that a worker takes after each shard."""
    folder.mkdir()
    text = folder / "long.txt"
    count = write_text(text, words, new_words=new_words)
    planned = plan([text], folder / "out", MODEL, CorpusJob(shard_size=text.stat().st_size / 20e6))
    work = ShardWork(planned.folder.path, planned.job, planned.checksum)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(_watched, (work, planned.shards))
    return {"words": count, "megabytes": found}


def _watched(work: ShardWork, shards: list[Shard]) -> list[float]:
    parser = work()
    return [_megabytes_after(parser(shard)) for shard in shards]


def _megabytes_after(record: Record) -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * resource.getpagesize() / 1e6, 1)


# ---- training --------------------------------------------------------------------------------------------------------


def treebanks(sentences: int | None) -> tuple[list[Sentence], list[Sentence]]:
    """Sentences to learn from, and a dev set."""
    if TREEBANK.exists():
        train, dev = list(crossarc.read(TREEBANK)), list(crossarc.read(TREEBANK.with_name("dev.conllu")))
    else:
        trees = list(random_treebank(2000, seed=1))
        train, dev = trees[:1800], trees[1800:]
    return train[:sentences], dev[:sentences]


def mixing(arguments: argparse.Namespace, before: dict[str, Any]) -> dict[str, Any]:
    """Accuracy on dev with one shard and with several; rows that are not asked for stay as they were."""
    train, dev = treebanks(arguments.sentences)
    rows: dict[str, Any] = dict(before.get("rows", {}))
    numbers = [list(map(int, given.split(","))) for given in (arguments.mixed, arguments.epochs)]
    for learner, order in product(arguments.learners.split(","), arguments.orders.split(",")):
        for shards, epochs in product(*numbers):
            if shards == 1 and epochs != numbers[1][0]:
                continue
            config = SpanningTreeConfig(learner=learner, order=order, shards=shards, epochs=epochs)
            workers = LocalWorkers(os.cpu_count() or 1) if shards > 1 else None
            start = time.perf_counter()
            parser = crossarc.train(train, config, dev=dev, workers=workers)
            seconds = time.perf_counter() - start
            rows[f"{learner}, order {order} | {epochs} | {shards}"] = [*parser.dev, seconds]
            print(learner, order, epochs, shards, parser.dev, f"{seconds:.0f} s", flush=True)
    return {"words": sum(map(len, train)), "rows": rows}


class Iterations(TrainingListener):
    """Notes when iterations end."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def end_epoch(self, report: EpochReport) -> None:
        self.ends.append(time.perf_counter())

    @property
    def seconds(self) -> float:
        """Of one of them, but the first, in which workers start."""
        return statistics.median(after - before for before, after in pairwise(self.ends))


def sums(folder: Path, sentences: int | None) -> dict[str, Any]:
    """Seconds of an iteration of L-BFGS and EM, and whether all engines come to the same model."""
    train, _ = treebanks(sentences)
    engines: dict[str, Workers] = {"one process": InProcess()}
    engines |= {f"local processes, {jobs}": LocalWorkers(jobs) for jobs in (1, 2)}
    if find_spec("ray"):
        engines |= {f"Ray, {jobs}": RayWorkers("local", jobs) for jobs in (1, 2)}
    configs = {
        "L-BFGS": replace(PRESETS["ms2007"], optimizer="lbfgs", epochs=5),
        "EM": GenerativeConfig(unsupervised=True, symbols="upos+form", epochs=5),
    }
    rows: dict[str, dict[str, float]] = {}
    models: dict[str, set[bytes]] = {}
    for (engine, workers), (name, config) in product(engines.items(), configs.items()):
        iterations, model = Iterations(), folder / "model.crossarc"
        crossarc.train(train, config, workers=workers, listener=iterations).save(model)
        rows.setdefault(engine, {})[name] = iterations.seconds
        models.setdefault(name, set()).add(hashlib.sha256(model.read_bytes()).digest())
        print(engine, name, f"{iterations.seconds:.1f} s", flush=True)
    different = [name for name, found in models.items() if len(found) > 1]
    return {"words": sum(map(len, train)), "rows": rows, "different": different}


# ---- 100,000 shards --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Nothing:
    """The work of a worker without the parsing: an empty output and two records, all of them on the disk."""

    folder: Folder
    checksum: str

    def __call__(self) -> Callable[[Shard], Record]:
        journal = Journal(self.folder)

        def do(shard: Shard) -> Record:
            journal.started(shard)
            target = self.folder.output(shard, "conllu")
            with new_file(target, self.folder.unfinished / f"{journal.worker}.{target.name}"):
                pass
            record = Record("done", shard.number, time.time(), input=input_checksum(shard), seconds=1e-3)
            journal.write(record)
            return record

        return do


def manifests(folder: Path, count: int) -> dict[str, Any]:
    """In memory, for what we do ourselves; some on the disk, for what that adds. Each in a process of its own."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else str(folder)
    engines: dict[str, dict[str, Any]] = {"local processes, 2": {"jobs": 2}}
    if find_spec("ray"):
        engines["Ray, 2"] = {"jobs": 2, "ray": "local"}
    rows = {}
    for name, engine in engines.items():
        own = count // 20 if "ray" in engine else count  # a task of Ray takes longer than nothing does
        rows[f"{name} | {own:,}"] = _in_process(memory, own, engine)
    on_disk = _in_process(str(folder), ON_DISK, {"jobs": 1})
    return {"rows": rows, "milliseconds on the disk": 1e3 * on_disk["run"] / ON_DISK}


def _in_process(place: str, count: int, engine: dict[str, Any]) -> dict[str, float]:
    command = [sys.executable, __file__, "--manifest", json.dumps([place, count, engine])]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    found: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    return found


def manifest(place: str, count: int, engine: dict[str, Any]) -> dict[str, float]:
    """Seconds of each step, and the largest memory of the driver."""
    steps: dict[str, float] = {}
    with tempfile.TemporaryDirectory(dir=place) as folder:
        text, output = Path(folder) / "x.txt", Path(folder) / "out"
        text.write_text("x")
        with timing(steps, "plan"):
            planned = plan([text], output, MODEL, CorpusJob())
            _replace_shards(planned, text, count)
            planned = plan([text], output, MODEL, CorpusJob())
        with timing(steps, "run"):
            run(planned, work=Nothing(planned.folder, planned.checksum), **engine)
        with timing(steps, "status"):
            assert corpus_status(output).complete
        with timing(steps, "go on"):
            assert not plan([text], output, MODEL, CorpusJob()).shards
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        journals = sum(path.stat().st_size for path in planned.folder.journals.iterdir()) / 1e6
    return {**steps, "MB of the driver": own, "MB of journals": journals}


@contextmanager
def timing(steps: dict[str, float], name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    steps[name] = time.perf_counter() - start


def _replace_shards(planned: Plan, text: Path, count: int) -> None:
    """So many shards of the same file instead of the one it makes."""
    files = (File(str(text), text.name, "text", 1) for _ in range(count))
    with planned.folder.shards.open("w") as lines:
        lines.writelines(json.dumps(shard) + "\n" for shard in make_shards(files, 1))
    assert len(read_shards(planned.folder)) == count


# ---- what comes of it ------------------------------------------------------------------------------------------------


def report(found: dict[str, Any]) -> Iterator[str]:
    yield from [
        "# Corpora",
        "",
        "Written by `python benchmarks/cluster.py`; [scale.md](../scale.md) says what it means.",
    ]
    sections = {"speed": speed_table, "memory": memory_table, "mixing": mixing_table, "sums": sums_table}
    sections["manifest"] = manifest_table
    for name, table in sections.items():
        if name in found:
            about = found[name]["about"]
            measured = (
                f"Measured on {about['date']}, at commit {about['commit']}, on a machine with {os.cpu_count()} cores"
            )
            busy = f" whose load was {about['load']} at the end: other programs were running."
            yield from ["", *table(found[name]), "", measured + busy]


def speed_table(found: dict[str, Any]) -> Iterator[str]:
    yield "## Speed"
    yield ""
    yield f"Raw text to CoNLL-U with the built-in model `en-fast`, {found['words']:,} words, start-up left out; median"
    yield f"of {found['rounds']} round(s). Overhead is processor time beyond that of `crossarc parse` with as many"
    yield "processes; Ray's own processes are not in it, only driver and workers. Words a second on the clock are left"
    yield "out where the machine was too busy to tell; processor time, too, then varies by a fifth or more from run to"
    yield "run."
    yield ""
    yield "| command, workers | words a second | words a second of processor time | overhead |"
    yield "| --- | ---: | ---: | ---: |"
    busy = found["about"]["load"] > 2 * (os.cpu_count() or 1)
    for name, (seconds, processor) in found["seconds"].items():
        plain = found["seconds"][f"crossarc parse, {name[-1]}"][1]
        overhead = "" if name.startswith("crossarc parse") else f"{processor / plain - 1:+.0%}"
        on_clock = "" if busy else f"{found['words'] / seconds:,.0f}"
        yield f"| {name} | {on_clock} | {found['words'] / processor:,.0f} | {overhead} |"


def memory_table(found: dict[str, Any]) -> Iterator[str]:
    yield "## Memory of a worker"
    yield ""
    yield "Resident megabytes after each twentieth of a text, which repeats itself."
    yield ""
    for name, row in found.items():
        if name != "about":
            yield f"- {row['words']:,} words, {name}: {', '.join(f'{size:,.0f}' for size in row['megabytes'])}"


def mixing_table(found: dict[str, Any]) -> Iterator[str]:
    yield "## Parameter mixing"
    yield ""
    yield f"UAS and LAS on the dev set of English-EWT, trained on {found['words']:,} words with gold tags. An epoch"
    yield "begins with the mean of the weights learnt on every shard (McDonald, Hall & Mann 2010); one shard is"
    yield "training as ever."
    yield ""
    yield "| learner | epochs | shards | UAS | LAS | against one shard |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for name, (uas, las, _) in sorted(found["rows"].items()):
        learner, _, shards = name.split(" | ")
        alone = [own for other, own in found["rows"].items() if other.startswith(learner) and other.endswith("| 1")]
        difference = f"{100 * (las - max(own[1] for own in alone)):+.2f}" if alone and shards != "1" else ""
        yield f"| {name} | {100 * uas:.2f} | {100 * las:.2f} | {difference} |"


def sums_table(found: dict[str, Any]) -> Iterator[str]:
    yield "## Sums over shards"
    yield ""
    but = f", but not of {', '.join(found['different'])}" if found["different"] else ""
    yield f"Seconds of an iteration over {found['words']:,} words: L-BFGS of `ms2007`, EM over words. The models are"
    yield f"the same to the last bit, whatever the engine and the number of workers{but}."
    yield ""
    names = list(next(iter(found["rows"].values())))
    yield f"| engine, workers | {' | '.join(names)} |"
    yield "| --- |" + " ---: |" * len(names)
    for engine, row in found["rows"].items():
        yield f"| {engine} | " + " | ".join(f"{row[name]:.1f}" for name in names) + " |"


def manifest_table(found: dict[str, Any]) -> Iterator[str]:
    disk = found["milliseconds on the disk"]
    yield "## Shards whose work is nothing"
    yield ""
    yield "Seconds to plan them, to do nothing with each (an empty output file and two records), to tell the status,"
    yield "and to see that nothing is left to do; the largest memory of the driver; the journals. All files are in"
    yield f"memory here; to wait for the disk took a worker {disk:.0f} ms for each shard."
    yield ""
    names = list(next(iter(found["rows"].values())))
    yield f"| engine, workers | shards | {' | '.join(names)} |"
    yield "| --- | ---: |" + " ---: |" * len(names)
    for name, row in found["rows"].items():
        yield f"| {name} | " + " | ".join(f"{row[key]:,.1f}" for key in names) + " |"


if __name__ == "__main__":
    main()
