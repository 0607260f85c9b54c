"""From models to a running service."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from math import ceil
from pathlib import Path

import uvicorn

from crossarc.core import CrossarcError
from crossarc.server import log
from crossarc.server.access import Access
from crossarc.server.app import make_app
from crossarc.server.connections import protocol
from crossarc.server.folder import Folder
from crossarc.server.jobs import Limits
from crossarc.server.pool import Pool
from crossarc.server.registry import Registry
from crossarc.server.training import Trainer

__all__ = ["serve"]

_CONNECTIONS = 2000
_FILES = 2  # that a connection may have open: itself, and a file of the page
_OTHER_FILES = 100  # that a process has open beside connections


def serve(
    pool: Pool,
    host: str,
    port: int,
    limits: Limits,
    announce: Callable[[str], None],
    access: Access | None = None,
    training: str | None = None,
    folder: Folder | None = None,
) -> None:
    """Serve the models of a pool until the process is interrupted; ``announce`` is told the address.

    Annotation tools may train parsers, if there is a folder for them (``training``).
    """
    listener = _listen(host, port)
    log.set_up()
    try:
        registry = Registry(pool.start())
        announce(_address(listener))
        config = uvicorn.Config(
            make_app(pool, registry, limits, access, Trainer(Path(training), limits) if training else None, folder),
            http=protocol(limits.head_seconds, limits.reply_seconds, _most_connections()),
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            h11_max_incomplete_event_size=limits.head,
            timeout_graceful_shutdown=ceil(limits.seconds),  # what a request may take
        )
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        pool.stop()
        listener.close()


def _most_connections() -> int:
    """As many as we want, or as the operating system lets us have."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return _CONNECTIONS
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES * _CONNECTIONS + _OTHER_FILES
    if files < wanted:
        files = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    return max(min(_CONNECTIONS, (files - _OTHER_FILES) // _FILES), 1)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        raise CrossarcError(f"{host}: no such host") from None
    listener = socket.socket(family, kind, protocol)
    if os.name == "posix":  # elsewhere it would let two services have the same port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen()
    except OSError as error:
        listener.close()
        raise CrossarcError(f"{host}, port {port}: {(error.strerror or str(error)).lower()}; see --port") from None
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
