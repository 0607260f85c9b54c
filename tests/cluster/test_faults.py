"""Whatever is killed in the middle of a run: no sentence is lost, doubled or changed.

The sorted sha256 of all outputs is that of a run in one process without faults.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from cluster_corpus import checksums
from crossarc.cluster import check_outputs, corpus_status

pytestmark = pytest.mark.slow

HERE = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}


def drive(corpus, output: Path, faults: dict[int, str], **engine: object) -> subprocess.CompletedProcess[str]:
    """A run with faults, in a process of its own: the driver may be killed too."""
    marks = output.with_name(output.name + ".marks")
    marks.mkdir(exist_ok=True)
    told = {
        "inputs": list(map(str, corpus.inputs)),
        "output": str(output),
        "model": str(corpus.model),
        "shard_size": corpus.shard_size,
        "faults": faults,
        "marks": str(marks),
        **engine,
    }
    command = [sys.executable, str(HERE / "cluster_faults.py"), json.dumps(told)]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)


def assert_complete(corpus, output: Path) -> None:
    assert checksums(output) == corpus.expected
    assert corpus_status(output).complete
    assert corpus_status(output).words == corpus.status.words
    assert check_outputs(output) == []
    assert list((output / "manifest" / "unfinished").iterdir()) == []


def states(output: Path) -> list[str]:
    lines = [line for path in output.glob("manifest/journals/*") for line in path.read_text().splitlines()]
    return [json.loads(line)["state"] for line in lines]


def test_there_is_something_to_lose(corpus):
    assert corpus.status.shards >= 6
    assert corpus.status.complete
    assert corpus.status.sentences == 1100


def test_local_processes_survive_all_of_it(corpus, tmp_path):
    """A worker, then the driver; a poisoned shard; then the rest."""
    output = tmp_path / "out"
    first = drive(corpus, output, {0: "worker", 3: "driver"}, jobs=2)
    assert first.returncode == -signal.SIGKILL, first.stderr
    assert states(output).count("died") == 1
    assert corpus_status(output).done < corpus.status.shards
    assert_survives_poison(corpus, output, jobs=2)


def assert_survives_poison(corpus, output: Path, **engine: object) -> None:
    """The shard is set aside, the others go on; when it is mended, so does it."""
    second = drive(corpus, output, {5: "poison"}, **engine)
    assert second.returncode == 0, second.stderr
    status = corpus_status(output)
    assert list(status.set_aside) == ["part-000005"]
    assert status.done == corpus.status.shards - 1
    done = states(output).count("done")
    assert drive(corpus, output, {}, **{**engine, "jobs": 1}).returncode == 0
    assert states(output).count("done") == done + 1  # what was done stays done
    assert_complete(corpus, output)


@contextmanager
def small_disk(path: Path, size: int):
    """A file system with so many bytes; False where it cannot be had."""
    path.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)], capture_output=True, check=False
    )
    try:
        yield mounted.returncode == 0
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", "-l", str(path)], check=True)


def test_a_full_disk_ends_the_run_and_nothing_else(corpus, tmp_path):
    whole = sum(path.stat().st_size for path in (corpus.folder / "whole").rglob("*") if path.is_file())
    with small_disk(tmp_path / "disk", whole - 60_000) as mounted:
        output = tmp_path / "disk" / "out"
        result = drive(corpus, output, {} if mounted else {2: "full disk"}, jobs=1)
        assert result.returncode == 1
        assert "No space left on device" in result.stderr
        done = corpus_status(output).done
        assert 0 < done < corpus.status.shards
        assert check_outputs(output) == []
        if mounted:
            subprocess.run(["mount", "-o", "remount,size=100m", str(tmp_path / "disk")], check=True)
        assert drive(corpus, output, {}, jobs=2).returncode == 0
        assert_complete(corpus, output)


# ---- Ray -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def nodes():
    """A Ray cluster of a head and three nodes with a core each."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install '.[cluster]'")
    command = [sys.executable, str(HERE / "cluster_ray_nodes.py"), "3"]
    environment = {**ENVIRONMENT, "RAY_USAGE_STATS_ENABLED": "0"}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        lines = iter(process.stdout.readline, "")
        address = next((line.strip() for line in lines if line.count(":") == 1 and line.strip()[-1].isdigit()), None)
        if address is None:
            pytest.skip("Ray did not start in time: the machine is too busy")
        yield address
        process.stdin.close()


def test_a_ray_cluster_survives_all_of_it(corpus, tmp_path, nodes):
    """A worker, a node, then the driver; a poisoned shard; then the rest."""
    output = tmp_path / "out"
    first = drive(corpus, output, {0: "worker", 2: "node", 4: "driver"}, ray=nodes)
    assert first.returncode == -signal.SIGKILL, first.stderr
    assert states(output).count("died") >= 2
    assert_survives_poison(corpus, output, ray=nodes)
