"""From models to a running service."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping

import uvicorn

from crossarc.core import CrossarcError
from crossarc.server.app import make_app
from crossarc.server.jobs import Limits
from crossarc.server.pool import Pool
from crossarc.server.registry import Registry

__all__ = ["serve"]

_GRACE = 5  # seconds that requests have when the service ends
_CONNECTIONS = 1000


def serve(
    models: Mapping[str, str], host: str, port: int, workers: int, limits: Limits, announce: Callable[[str], None]
) -> None:
    """Serve the models (name -> file) until the process is interrupted; ``announce`` is told the address."""
    listener = _listen(host, port)
    pool = Pool(models, limits, workers)
    try:
        registry = Registry(pool.start())
        announce(_address(listener))
        config = uvicorn.Config(
            make_app(pool, registry, limits),
            log_level="warning",
            access_log=False,
            server_header=False,
            limit_concurrency=_CONNECTIONS,
            timeout_graceful_shutdown=_GRACE,
        )
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        pool.stop()
        listener.close()


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
