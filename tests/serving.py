"""The service in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serving(*models: Path | str, options: Sequence[str] = ()) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Its address and its process, which ends with the block if it has not ended before."""
    named = [argument for model in models for argument in ("-m", str(model))]
    command = [sys.executable, "-m", "crossarc", "serve", *named, "--port", "0", "--jobs", "2", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        found = re.search(r"http://[^\s#]+/", process.stdout.readline())
        if found is None:
            raise RuntimeError(process.stderr.read())
        yield found[0], process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
