"""crossarc serve"""

from __future__ import annotations

import os
from functools import partial
from urllib.parse import quote

import click

from crossarc.cli.messages import log
from crossarc.core import CrossarcError

_MEGABYTE = 1 << 20
_FOLDER_SIZE = 64.0  # megabytes of a request, if treebanks are saved


@click.command("serve")
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    default=["en"],
    show_default=True,
    metavar="[NAME=]MODEL",
    help="A model made by crossarc train, or a built-in one; several may be given, the first is the default one.",
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
@click.option(
    "--folder",
    type=click.Path(),
    metavar="DIR",
    help="Let the page open and save the treebanks (.conllu) in this folder.",
)
@click.option(
    "--token",
    metavar="WORD",
    help="What the page must show for --folder; needed if --host lets others in.",
)
def command(
    models: tuple[str, ...],
    host: str,
    port: int,
    jobs: int,
    max_length: int,
    max_size: float,
    time_limit: float,
    folder: str | None,
    token: str | None,
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
    from crossarc.server.folder import Folder
    from crossarc.server.folder_interface import is_loopback
    from crossarc.server.jobs import Limits
    from crossarc.server.registry import named_models

    if folder is not None and token is None and not is_loopback(host):
        raise click.UsageError(f"--folder with --host {host} lets others at your files: give a --token")
    if token is not None and folder is None:
        raise click.UsageError("--token is for --folder")
    served = None if folder is None else Folder(folder, token)
    megabytes = max_size if served is None else max(max_size, _FOLDER_SIZE)  # whole files are saved
    limits = Limits(size=int(megabytes * _MEGABYTE), length=max_length, seconds=time_limit)
    try:
        serve(named_models(models), host, port, jobs, limits, partial(_announce, token), served)
    except KeyboardInterrupt:  # the way to end it
        log.info("stopped")


def _announce(token: str | None, address: str) -> None:
    secret = "" if token is None else f"#token={quote(token)}"  # browsers keep what follows # to themselves
    click.echo(f"Crossarc is at {address}{secret} (Ctrl-C ends it)")
