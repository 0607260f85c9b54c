"""Lines in the log that no request can forge: control characters are shown, not sent to the terminal or the file."""

from __future__ import annotations

import logging
import re

__all__ = ["set_up", "visible"]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Control characters, line ends and changes of direction as escapes.

    >>> visible("a\nb\x1b[31m")
    'a\\nb\\x1b[31m'
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class _Formatter(logging.Formatter):
    """One line for a record; the lines of a traceback are indented."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return f"crossarc: {visible(record.message)}"

    def formatException(self, about: object) -> str:  # noqa: N802
        lines = super().formatException(about).split("\n")  # type: ignore[arg-type]
        return "\n".join(f"    {visible(line)}" for line in lines)


def set_up(level: int = logging.INFO) -> None:
    """Write what is logged to standard error, ours from this level on, and warnings of others."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Formatter())
    logging.basicConfig(handlers=[handler], force=True)
    ours = logging.getLogger("crossarc")
    ours.handlers.clear()  # those of the command line show what they are given
    ours.propagate = True
    ours.setLevel(level)
