"""Commands in a real terminal: what a person sees who types them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

__all__ = ["Seen", "in_terminal"]

_SIZE = struct.pack("HHHH", 24, 100, 0, 0)  # rows and columns


class Seen(NamedTuple):
    """What came to the terminal, and how the command ended."""

    bytes_: str
    code: int

    @property
    def text(self) -> str:
        """What can be read at the end: bars that were wiped out are gone, line ends are LF."""
        lines = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", self.bytes_.replace("\r\n", "\n")).split("\n")
        return "\n".join(line.split("\r")[-1] for line in lines)


def in_terminal(
    *arguments: object, stdout: Path | None = None, interrupt_when: Callable[[str], bool] | None = None
) -> Seen:
    """Run a command whose output and errors go to a terminal; or only its errors, and its output to a file.

    Ctrl-C is pressed as soon as what was seen so far is as ``interrupt_when`` says.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, _SIZE)
    command = [sys.executable, "-m", "crossarc", *map(str, arguments)]
    with contextlib.ExitStack() as stack:
        out = theirs if stdout is None else stack.enter_context(stdout.open("wb")).fileno()
        process = subprocess.Popen(command, stdin=theirs, stdout=out, stderr=theirs)
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # Linux says so when the other end is closed
            while piece := os.read(ours, 1 << 16):
                seen += piece
                if interrupt_when is not None and interrupt_when(seen.decode(errors="replace")):
                    interrupt_when = None
                    time.sleep(0.2)  # it has said so, and goes on with its work
                    process.send_signal(signal.SIGINT)
        os.close(ours)
        return Seen(seen.decode(), process.wait())
