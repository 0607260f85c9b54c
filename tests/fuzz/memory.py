"""How much memory a process has had."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["most_memory"]


def most_memory() -> int:
    """Of this process, in bytes; ``ru_maxrss`` would also be that of the process which has started it."""
    found = re.search(r"^VmHWM:\s+(\d+) kB$", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    assert found
    return int(found[1]) * 1024
