"""Commands as a person types them."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from io import BytesIO, TextIOWrapper

import pytest

from crossarc.cli import main

__all__ = ["assert_one_line_error", "output_of", "run", "run_process"]


def run(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """What a command does, in this process: to start one takes longer than most commands."""
    command = ["crossarc", *map(str, arguments)]
    out, err = BytesIO(), BytesIO()
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setattr(sys, "argv", command)
        patch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin)))
        patch.setattr(sys, "stdout", TextIOWrapper(out, encoding="utf-8", write_through=True))
        patch.setattr(sys, "stderr", TextIOWrapper(err, encoding="utf-8", write_through=True))
        with pytest.raises(SystemExit) as end:
            main()
        return subprocess.CompletedProcess(command, end.value.code or 0, out.getvalue(), err.getvalue())


def output_of(*arguments: object) -> str:
    """What a command that succeeds says and writes."""
    result = run(*arguments)
    assert result.returncode == 0, result.stderr.decode()
    return (result.stdout + result.stderr).decode()


def run_process(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "crossarc", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False)


def assert_one_line_error(result: subprocess.CompletedProcess[bytes], *parts: str, hint: str | None = None) -> None:
    """It ends with one line that says what is wrong, and perhaps another that says what helps."""
    message = re.sub("^crossarc: compiling kernels .*\n", "", result.stderr.decode())  # if they are not there yet
    assert result.returncode == 2, message
    assert message.startswith("crossarc: error: ")
    if hint is not None:
        message, _, given = message.partition("crossarc: hint: ")
        assert hint in given
        assert given.count("\n") == 1
    assert message.count("\n") == 1
    for part in parts:
        assert part in message
