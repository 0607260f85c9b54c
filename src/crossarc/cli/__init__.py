"""The ``crossarc`` command. Results go to stdout, everything else to stderr.

Exit codes: 0 done, 1 a check found problems, 2 bad usage or input, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import click
from click.shell_completion import CompletionItem

from crossarc._version import __version__
from crossarc.cli.hints import HintingGroup, hint_for
from crossarc.cli.messages import log, set_up, verbosity_options
from crossarc.core import CrossarcError, InputWarning, ModelWarning

__all__ = ["main"]


class LazyGroup(HintingGroup):
    """Imports a command's module only when the command is used, so that ``--help`` is quick."""

    _summaries: ClassVar[dict[str, str]] = {
        "train": "Train a parser on a treebank.",
        "parse": "Parse raw text or sentences, with the built-in English model or your own.",
        "corpus": "Parse a corpus on many processes and machines, and go on after a crash.",
        "models": "The models that can be used by name; how to make a package of your own.",
        "calibrate": "How honest the probabilities of a model are.",
        "rank": "Sort sentences by how unsure the parser is: what to annotate next.",
        "suspicious": "List the gold arcs that are least likely: annotation errors first.",
        "lm": "The probability of sentences under a generative model, and perplexity.",
        "inspect": "What is in a model, and why it chose an arc.",
        "stats": "What a treebank looks like: sizes, tags, and how its arcs cross.",
        "evaluate": "Score a parser's output against the gold trees.",
        "crossval": "How good a parser of a treebank is, by cross-validation.",
        "compare": "Two parsers against the same gold trees, with tests of significance.",
        "validate": "List every structural problem of treebank files.",
        "draw": "Draw trees: in the terminal, as SVG, as LaTeX.",
        "serve": "A page where a person corrects parses, and a service for programs.",
        "convert": "Convert between CoNLL-U, CoNLL-X, SDP and Parquet.",
    }

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self._summaries)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self._summaries:
            return None
        with _objects_that_stay():
            command: click.Command = importlib.import_module(f"crossarc.cli.{name}").command
        if not any(param.name == "quiet" for param in command.params):
            command.params += verbosity_options()
        return command

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names of commands, without importing any: a person waits for this with a finger on the tabulator key."""
        names = (name for name in self._summaries if name.startswith(incomplete))
        commands = [CompletionItem(name, help=self._summaries[name]) for name in names]
        return [*commands, *click.Command.shell_complete(self, context, incomplete)]

    def invoke(self, context: click.Context) -> object:
        start = time.monotonic()
        try:
            result = super().invoke(context)
            log.debug("all of it took %.1f s", time.monotonic() - start)
            return result
        except BrokenPipeError:
            # Whoever read our output has had enough. Keep Python from complaining when it flushes stdout at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return context.exit(0)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._summaries.items()))


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="crossarc")
@click.pass_context
def crossarc(context: click.Context) -> None:
    """Dependency parsing where arcs may cross.

    Files are CoNLL-U (or CoNLL-X, if named .conll or .conllx), plain or compressed (.gz, .xz, .zst), or
    Parquet; - is standard input or output.
    """
    set_up()
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@contextlib.contextmanager
def _objects_that_stay() -> Iterator[None]:
    """What is imported in here is there until the end: looking through it for garbage would be a third of the start."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def main() -> None:
    """Run the command line; every expected error is one line on stderr, perhaps a hint after it, and exit code 2."""
    warnings.showwarning = _Warnings()  # type: ignore[assignment]
    for category in (InputWarning, ModelWarning):
        warnings.simplefilter("always", category)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    try:
        with _lost_signals_hidden():
            sys.exit(crossarc(standalone_mode=False))
    except (click.Abort, KeyboardInterrupt, _Terminated):
        if _Terminated.has_come:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.raise_signal(signal.SIGTERM)
        _say("interrupted")
        sys.exit(130)
    except click.ClickException as error:
        _fail(error, _message_of(error))
    except CrossarcError as error:
        _fail(error, str(error))
    except MemoryError as error:
        _fail(error, "not enough memory")
    except OSError as error:
        _fail(error, f"{error.filename or 'input or output'}: {(error.strerror or str(error)).lower()}")


class _Terminated(BaseException):
    """SIGTERM has come; on its way to the top, temporary files and other processes go."""

    has_come = False


def _terminate(number: int, _: object) -> None:
    _Terminated.has_come = True
    raise _Terminated


@contextlib.contextmanager
def _lost_signals_hidden() -> Iterator[None]:
    """Hide signals that come when LLVM calls Python, where nothing can be raised: the cache does so then."""
    others = sys.unraisablehook

    def hide(found: Any) -> None:
        if not issubclass(found.exc_type, KeyboardInterrupt | _Terminated):
            others(found)

    sys.unraisablehook = hide
    try:
        yield
    finally:
        sys.unraisablehook = others


def _fail(error: BaseException, message: str) -> None:
    """Say what is wrong, and what to do about it if that is known."""
    _say(f"error: {message}")
    hint = hint_for(error, sys.argv[1:])
    if hint:
        _say(f"hint: {hint}")
    sys.exit(2)


def _message_of(error: click.ClickException) -> str:
    """The message of an error of click, in our style.

    >>> _message_of(click.UsageError("Missing argument 'FILE'."))
    "missing argument 'FILE'"
    """
    if isinstance(error, click.NoSuchOption):
        return f"no such option: {error.option_name}"
    message = error.format_message().replace("is not a valid integer range", "is not a whole number")
    message = message.replace("is not a valid float range", "is not a number")
    return message[:1].lower() + message[1:].removesuffix(".")


class _Warnings:
    """Shows each warning once: some files are read twice."""

    def __init__(self) -> None:
        self.shown: set[str] = set()

    def __call__(self, message: Warning | str, category: type[Warning], *_: object) -> None:
        if str(message) not in self.shown:
            self.shown.add(str(message))
            log.warning("%s", message)


def _say(text: str) -> None:
    bars = sys.modules.get("tqdm")
    if bars is not None:  # what was drawn when the error came
        for bar in list(getattr(bars.tqdm, "_instances", ())):
            bar.close()
    print(f"crossarc: {text}", file=sys.stderr)
