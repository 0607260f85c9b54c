"""Programs of these tests, in processes of their own: what they are told is JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]),
    "RAY_USAGE_STATS_ENABLED": "0",
}


def command_of(program: str, told: object) -> list[str]:
    return [sys.executable, str(HERE / program), json.dumps(told)]


def run_program(program: str, told: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command_of(program, told), env=ENVIRONMENT, capture_output=True, text=True, check=False)
