"""What to try next, after an error: the second line that people see."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import click

from crossarc.core import CrossarcError, InputError
from crossarc.io.problems import RAW_TEXT

__all__ = ["HintedError", "HintingGroup", "hint_for"]

_WITH_INPUT_OPTION = ("inspect", "lm", "parse", "rank")  # commands that read raw text, too


class HintedError(CrossarcError):
    """An error, and what helps."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class NoSuchCommand(click.UsageError):
    """A command that there is not, and which was meant, perhaps."""

    def __init__(self, name: str, hint: str) -> None:
        super().__init__(f"no such command: {name}")
        self.hint = hint


class HintingGroup(click.Group):
    """Says which of its commands may have been meant."""

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(context)
        if args[0] not in names and not args[0].startswith("-"):
            meant = _did_you_mean(difflib.get_close_matches(args[0], names, 3))
            raise NoSuchCommand(args[0], meant or f"{context.command_path} --help lists the commands")
        return super().resolve_command(context, args)


def hint_for(error: BaseException, arguments: Sequence[str]) -> str | None:
    """What helps after this error of a command with these arguments, if we know it."""
    command = arguments[0] if arguments else ""
    if hint := getattr(error, "hint", None):
        return str(hint)
    if isinstance(error, click.NoSuchOption):
        return _did_you_mean(error.possibilities or ()) or _see_help(error)
    if isinstance(error, click.UsageError):
        return _see_help(error)
    if isinstance(error, InputError) and error.message == RAW_TEXT:
        if command in _WITH_INPUT_OPTION:
            return "--input text reads it as text"
        return "crossarc parse --input text makes trees of raw text"
    if isinstance(error, MemoryError):
        return {
            "parse": "a smaller --max-length leaves long sentences out; fewer --jobs take less memory",
            "train": "a smaller --hash-bits takes less memory",
        }.get(command)
    return None


def _did_you_mean(names: Sequence[str]) -> str | None:
    return f"did you mean {' or '.join(names)}?" if names else None


def _see_help(error: click.UsageError) -> str | None:
    return f"{error.ctx.command_path} --help shows how it is used" if error.ctx else None
