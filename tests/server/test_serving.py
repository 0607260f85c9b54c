"""The service as it runs: the command, its errors and its end; a load of parallel clients."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from serving import serving

LOAD = Path(__file__).parents[2] / "benchmarks" / "serve.py"


def refused(*arguments):
    """The one line that the command says on stderr."""
    command = [sys.executable, "-m", "crossarc", "serve", *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("crossarc: error: ")
    return line


def test_a_port_in_use(model_file):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert re.search(rf"port {port}: address already in use", refused("-m", model_file, "--port", port))


def test_no_such_model(tmp_path):
    assert "no such file" in refused("-m", tmp_path / "missing.crossarc", "--port", 0, "--jobs", 1)


def test_two_models_of_one_name(model_file):
    assert "two models are called" in refused("-m", model_file, "-m", model_file)


def test_without_the_extra(model_file):
    code = f"import sys; sys.modules['uvicorn'] = None; sys.argv[1:] = ['serve', '-m', {str(model_file)!r}]"
    command = [sys.executable, "-c", f"{code}; from crossarc.cli import main; main()"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr == "crossarc: error: uvicorn is missing: pip install '.[serve]' in a clone of Crossarc\n"


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, -signal.SIGTERM)])
def test_it_serves_and_ends(model_file, sent, code):
    with serving(model_file) as (address, process):
        with urllib.request.urlopen(f"{address}models") as reply:
            assert json.load(reply)["default_model"] == "random-order-1"
        workers = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        numbers = workers.read_text().split() if workers.exists() else []
        process.send_signal(sent)
        assert process.wait(30) == code
        until = time.monotonic() + 30
        while any(Path(f"/proc/{number}").exists() for number in numbers) and time.monotonic() < until:
            time.sleep(0.1)
        assert not any(Path(f"/proc/{number}").exists() for number in numbers)
        assert "Traceback" not in process.stderr.read()


@pytest.mark.slow
def test_nothing_is_lost_or_mixed_up_under_load(model_file):
    command = [sys.executable, str(LOAD), "-m", str(model_file), "--clients", "64", "--seconds", "5"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    figures = json.loads(result.stdout)
    assert figures["right"] >= 64
    assert figures["wrong"] == figures["failed"] == figures["refused (503)"] == 0
    if figures["MB before"] is not None:
        assert figures["MB after"] < 1.1 * figures["MB before"]
