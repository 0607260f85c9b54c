"""crossarc serve"""

from __future__ import annotations

import os
import secrets
from urllib.parse import quote

import click

from crossarc.cli.messages import log
from crossarc.core import MissingLibrary

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
@click.option(
    "--folder",
    type=click.Path(),
    metavar="DIR",
    help="Let the page open and save the treebanks (.conllu) in this folder.",
)
@click.option(
    "--training",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Let annotation tools (INCEpTION, ArboratorGrew) train parsers, and keep them in DIR.  [default: not allowed]",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Answer to this name, too; * is any. By default to names of this machine, and to what --host says.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Let pages of this site (https://example.org; * is any) use UDPipe's interface (CORS).",
)
@click.option(
    "--token",
    metavar="TEXT",
    help="A secret that requests must carry; empty: none is needed.  [default: a random one if other machines can "
    "reach the service, otherwise none]",
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
    training: str | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    token: str | None,
) -> None:
    """A page where a person corrects parses, and a service for programs.

    The page draws trees with the probabilities of their arcs. You require, forbid or relabel arcs, and the rest of the
    sentence is parsed again around them. Programs that speak UDPipe's REST interface find it here (/models, /process);
    our own interface (/api/parse) adds k best trees, probabilities and constraints; /api/openapi.json describes it.
    INCEpTION (/predict, /train) and ArboratorGrew (/parser/models) find the interfaces that they call.
    """
    try:
        from crossarc.server.run import serve
    except ModuleNotFoundError as error:
        raise MissingLibrary(f"{error.name} is missing", "serve") from None
    from crossarc.server.access import LOOPBACK, Access, is_loopback
    from crossarc.server.folder import Folder
    from crossarc.server.jobs import Limits
    from crossarc.server.pool import Pool
    from crossarc.server.registry import named_models

    if token is None:
        token = "" if is_loopback(host) else secrets.token_urlsafe(16)
    if folder is not None and not token and not is_loopback(host):
        raise click.UsageError(f"--folder with --host {host} lets others at your files: give a --token")
    served = None if folder is None else Folder(folder)
    megabytes = max_size if served is None else max(max_size, _FOLDER_SIZE)  # whole files are saved
    limits = Limits(size=int(megabytes * _MEGABYTE), length=max_length, seconds=time_limit)
    names = frozenset(name.lower() for name in (host, *hosts))
    access = Access(LOOPBACK | names, frozenset(origins), token)

    def announce(address: str) -> None:
        click.echo(f"Crossarc is at {address}{f'?token={quote(token)}' if token else ''} (Ctrl-C ends it)")

    try:
        serve(Pool(named_models(models), limits, jobs), host, port, limits, announce, access, training, served)
    except KeyboardInterrupt:  # the way to end it
        log.info("stopped")
