"""What is said on standard error: notes, warnings and errors of one style, as much as ``-q`` and ``-v`` ask for."""

from __future__ import annotations

import logging
import sys
from typing import Any

import click

__all__ = ["log", "set_up", "verbosity_options"]

log = logging.getLogger("crossarc")  # info: notes; warning; debug: what -v adds


class _Handler(logging.Handler):
    """``crossarc: warning: ...`` on what is standard error at that time, above a progress bar if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        kind = f"{record.levelname.lower()}: " if record.levelno >= logging.WARNING else ""
        text = f"crossarc: {kind}{record.getMessage()}"
        bars = sys.modules.get("tqdm")
        if bars is None:
            print(text, file=sys.stderr)
        else:
            bars.tqdm.write(text, file=sys.stderr)


def set_up() -> None:
    """Notes and warnings go to standard error, unless ``-q`` is given."""
    if not any(isinstance(handler, _Handler) for handler in log.handlers):
        log.addHandler(_Handler())
    log.setLevel(logging.INFO)


def _set_level(context: click.Context, option: click.Parameter, given: Any) -> None:
    if given:
        log.setLevel(logging.ERROR if option.name == "quiet" else logging.DEBUG)


def verbosity_options() -> list[click.Option]:
    """``-q`` and ``-v``, for every command."""
    about: dict[str, Any] = {"is_flag": True, "expose_value": False, "callback": _set_level}
    return [
        click.Option(["-q", "--quiet"], help="Report errors only; no notes, no progress bars.", **about),
        click.Option(["-v", "--verbose"], help="Also report how long things take.", **about),
    ]
