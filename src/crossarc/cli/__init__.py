"""The ``crossarc`` command. Results go to stdout, everything else to stderr.

Exit codes: 0 done, 1 a check found problems, 2 bad usage or input.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
import warnings
from typing import ClassVar

import click

from crossarc._version import __version__
from crossarc.core import CrossarcError, InputWarning

__all__ = ["main"]


class LazyGroup(click.Group):
    """Imports a command's module only when the command is used, so that ``--help`` is quick."""

    _summaries: ClassVar[dict[str, str]] = {
        "train": "Train a parser on a treebank.",
        "parse": "Parse raw text or sentences, with the built-in English model or your own.",
        "models": "The models that come with Crossarc: scores, licence, size.",
        "calibrate": "How honest the probabilities of a model are.",
        "rank": "Sort sentences by how unsure the parser is: what to annotate next.",
        "suspicious": "List the gold arcs that are least likely: annotation errors first.",
        "lm": "How probable sentences are, by a generative model.",
        "inspect": "What is in a model, and why it chose an arc.",
        "stats": "What a treebank looks like: sizes, tags, and how its arcs cross.",
        "evaluate": "Score a parser's output against the gold trees.",
        "compare": "Two parsers against the same gold trees, with tests of significance.",
        "validate": "List every structural problem of treebank files.",
        "draw": "Draw trees: in the terminal, as SVG, as LaTeX.",
        "serve": "A page where a person corrects parses, and a service for programs.",
        "convert": "Convert between CoNLL-U and CoNLL-X.",
    }

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self._summaries)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self._summaries:
            return None
        command: click.Command = importlib.import_module(f"crossarc.cli.{name}").command
        return command

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except BrokenPipeError:
            # Whoever read our output has had enough. Keep Python from complaining when it flushes stdout at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return context.exit(0)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._summaries.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="crossarc")
def crossarc() -> None:
    """Dependency parsing where arcs may cross.

    Files are CoNLL-U (or CoNLL-X, if named .conll or .conllx), plain or compressed (.gz, .xz); - is standard input
    or output.
    """


def main() -> None:
    """Run the command line; every expected error is one line on stderr and exit code 2."""
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    warnings.simplefilter("always", InputWarning)
    logging.basicConfig(format="crossarc: %(message)s", level=logging.WARNING)
    if sys.stderr.isatty():
        logging.getLogger("crossarc").setLevel(logging.INFO)
    try:
        sys.exit(crossarc(standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted")
        sys.exit(130)
    except CrossarcError as error:
        _say(f"error: {error}")
        sys.exit(2)
    except OSError as error:
        _say(f"error: {error.filename or 'input or output'}: {(error.strerror or str(error)).lower()}")
        sys.exit(2)


def _show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    _say(f"warning: {message}")


def _say(text: str) -> None:
    print(f"crossarc: {text}", file=sys.stderr)
