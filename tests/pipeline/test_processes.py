"""Several processes: results in order, and nobody is left behind, whoever dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crossarc.core import CrossarcError
from crossarc.pipeline.processes import in_processes

SCRIPT = """
import os, sys, time
sys.path.insert(0, {folder!r})
from test_processes import begin, long_work
from crossarc.pipeline.processes import in_processes

if __name__ == "__main__":
    import signal
    from crossarc.cli import _terminate
    signal.signal(signal.SIGTERM, _terminate)
    list(in_processes(long_work, range(8), 2, start=begin, arguments=({notes!r},)))
"""


def begin(notes: str | None = None) -> None:
    if notes:
        Path(notes, str(os.getpid())).touch()


def fail_to_begin() -> None:
    raise CrossarcError("no model")


def doubled(number: int) -> int:
    time.sleep(0.02 if number % 3 else 0.0)
    return 2 * number


def long_work(number: int) -> None:
    while True:  # not asleep: busy, as a parser is
        sum(range(100_000))


def dying(number: int) -> int:
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def refusing(number: int) -> int:
    if number == 5:
        raise CrossarcError("not this one")
    return number


def run(work, items, start=begin, arguments=()):
    return in_processes(work, items, 2, start=start, arguments=arguments)


def test_results_come_in_order_and_items_are_taken_when_they_are_needed():
    taken = []
    results = run(doubled, (taken.append(i) or i for i in range(40)))
    assert next(results) == 0
    assert len(taken) <= 8
    assert list(results) == [2 * i for i in range(1, 40)]


def test_errors_are_raised_where_the_result_would_be():
    results = run(refusing, range(40))
    assert [next(results) for _ in range(5)] == list(range(5))
    with pytest.raises(CrossarcError, match="not this one"):
        next(results)
    with pytest.raises(CrossarcError, match="no model"):
        list(run(doubled, range(3), start=fail_to_begin))


def test_a_killed_process_is_one_clear_error():
    with pytest.raises(CrossarcError, match="a process was killed"):
        list(run(dying, range(40)))


def alive(process: int) -> bool:
    """Whether it runs: one that has ended may still be listed, until somebody asks for its exit code."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_for(condition) -> None:
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("a minute was not enough")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks Linux which processes there are")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_processes_end_with_the_one_that_started_them(sent, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(folder=str(Path(__file__).parent), notes=str(notes)))
    parent = subprocess.Popen([sys.executable, script], stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: len(list(notes.iterdir())) == 2)
        children = [int(note.name) for note in notes.iterdir()]
        assert all(map(alive, children))
        parent.send_signal(sent)
        assert parent.wait(60) != 0
        wait_for(lambda: not any(map(alive, children)))
    finally:
        parent.kill()
        parent.wait()
