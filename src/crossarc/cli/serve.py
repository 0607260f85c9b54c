"""crossarc serve"""

from __future__ import annotations

import os

import click

from crossarc.cli.messages import log
from crossarc.core import CrossarcError

_MEGABYTE = 1 << 20


@click.command("serve")
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    default=["en"],
    show_default=True,
    metavar="[NAME=]MODEL",
    help="A model made by crossarc train, or the name of one that is installed (crossarc models); several may be "
    "given, the first is the default one.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; 0.0.0.0 is everywhere.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any that is free.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=min(os.cpu_count() or 1, 4),
    help="Processes that parse side by side, of some 300 MB each.  [default: one for each CPU, at most 4]",
)
@click.option("--max-length", type=click.IntRange(1), default=500, show_default=True, help="Words of a sentence.")
@click.option(
    "--max-size",
    type=click.FloatRange(0, min_open=True),
    default=4.0,
    show_default=True,
    help="Megabytes of a request.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a request may take; then its process is stopped and another one started.",
)
def command(
    models: tuple[str, ...],
    host: str,
    port: int,
    jobs: int,
    max_length: int,
    max_size: float,
    time_limit: float,
) -> None:
    """A page where a person corrects parses, and a service for programs.

    The page draws trees with the probabilities of their arcs. You require, forbid or relabel arcs, and the rest of the
    sentence is parsed again around them. Programs that speak UDPipe's REST interface find it here (/models, /process);
    our own interface (/api/parse) adds k best trees, probabilities and constraints; /api/openapi.json describes it.
    """
    try:
        from crossarc.server.run import serve
    except ModuleNotFoundError as error:
        raise CrossarcError(f"{error.name} is missing: pip install '.[serve]'") from None
    from crossarc.server.jobs import Limits
    from crossarc.server.registry import named_models

    limits = Limits(size=int(max_size * _MEGABYTE), length=max_length, seconds=time_limit)
    try:
        serve(named_models(models), host, port, jobs, limits, _announce)
    except KeyboardInterrupt:  # the way to end it
        log.info("stopped")


def _announce(address: str) -> None:
    click.echo(f"Crossarc is at {address} (Ctrl-C ends it)")
