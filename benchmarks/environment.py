"""An environment of its own for a benchmark: the peers never become dependencies of Crossarc.

`run_inside(name, ...)` makes the virtual environment `.benchmarks/<name>` once, and then starts the calling
script again there, on one thread. It uses nothing but the standard library, so any Python 3.11 can start it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = PROJECT / ".benchmarks"

ONE_THREAD = dict.fromkeys(
    ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"],
    "1",
)
_INSIDE = "CROSSARC_BENCHMARK_ENVIRONMENT"


def commit() -> str:
    """The state of the project that is measured; results of other measurements are no part of it."""
    state = _git("rev-parse", "--short=10", "HEAD") or "unknown"
    return f"{state}-dirty" if _git("status", "--porcelain", "--", ":!docs") else state


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(PROJECT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def run_inside(name: str, required: Sequence[Sequence[str]], optional: Sequence[Sequence[str]]) -> None:
    """Return at once inside the environment `name`; outside, make it, run the script there, and exit.

    `required` and `optional` are lists of arguments for `pip install`, run in order; one of `optional` that
    fails is reported and left out (the benchmark's table then says which peer is missing).
    """
    if os.environ.get(_INSIDE) == name:
        return
    python = _environment(name, required, optional)
    command = [str(python), *sys.argv]
    raise SystemExit(subprocess.call(command, env=os.environ | ONE_THREAD | {_INSIDE: name}))


def _environment(name: str, required: Sequence[Sequence[str]], optional: Sequence[Sequence[str]]) -> Path:
    """The Python of the environment, which is made anew whenever its requirements have changed."""
    folder = ENVIRONMENTS / name
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    fingerprint = hashlib.sha256(repr((sys.version_info[:3], required, optional)).encode()).hexdigest()
    stamp = folder / "requirements.sha256"
    if stamp.exists() and stamp.read_text() == fingerprint:
        return python
    print(f"Making the environment {folder.relative_to(PROJECT)} (once; some minutes) ...", file=sys.stderr)
    venv.create(folder, clear=True, with_pip=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for arguments in required:
        subprocess.run([*install, *arguments], check=True, cwd=PROJECT)
    for arguments in optional:
        if subprocess.run([*install, *arguments], check=False, cwd=PROJECT).returncode:
            print(f"Could not install {' '.join(arguments)}: going on without it.", file=sys.stderr)
    stamp.write_text(fingerprint)
    return python
