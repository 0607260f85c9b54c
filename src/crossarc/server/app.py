"""The application: the page, our own interface, that of UDPipe, and how errors are told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from crossarc._version import __version__
from crossarc.server import arborator, folder_interface, inception, interface, learning, udpipe
from crossarc.server.access import Access
from crossarc.server.errors import reply_to
from crossarc.server.folder import Folder
from crossarc.server.jobs import Limits, RequestError
from crossarc.server.metrics import Metrics
from crossarc.server.pool import Pool
from crossarc.server.registry import Registry
from crossarc.server.safety import Guarded
from crossarc.server.training import Trainer

__all__ = ["make_app"]

_PAGE = Path(__file__).parent / "page"


def make_app(
    pool: Pool,
    registry: Registry,
    limits: Limits,
    access: Access | None = None,
    trainer: Trainer | None = None,
    folder: Folder | None = None,
) -> ASGIApp:
    """The service, for any ASGI server. The pool has been started; it is stopped with the application.

    Without ``access`` it answers to this machine alone; without ``trainer`` nobody can train
    parsers, without ``folder`` the page has no files of this machine.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        app.state.learner.close()
        pool.stop()
        if trainer is not None:
            trainer.stop()

    app = FastAPI(
        title="Crossarc",
        version=__version__,
        summary="Dependency parsing with probabilities, k best trees and constraints.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages take resources from other hosts
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.pool, app.state.registry, app.state.limits, app.state.trainer = pool, registry, limits, trainer
    app.state.metrics = Metrics()
    app.state.learner, app.state.folder = learning.Learner(registry), folder
    app.include_router(folder_interface.router)
    app.include_router(learning.router)
    app.include_router(interface.router)
    app.include_router(udpipe.router)
    app.include_router(arborator.router)
    app.include_router(inception.router)
    app.mount("/page", StaticFiles(directory=_PAGE))
    app.add_api_route("/", _page, methods=["GET"], include_in_schema=False)
    app.add_api_route("/health", _health, methods=["GET"], include_in_schema=False)
    app.add_api_route("/metrics", _metrics, methods=["GET"], include_in_schema=False)
    app.add_exception_handler(RequestError, _refused)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _not_of_this_form)
    app.add_exception_handler(Exception, _server_error)
    return Guarded(app, limits, access or Access(), app.state.metrics)


async def _page() -> FileResponse:
    return FileResponse(_PAGE / "index.html")


async def _health(request: Request) -> Response:
    """Whether there are processes that can work."""
    state = request.app.state.pool.state()
    status = 200 if state["workers"] else 503
    return JSONResponse({"status": "ok" if status == 200 else "no workers", "version": __version__, **state}, status)


async def _metrics(request: Request) -> Response:
    state = request.app.state
    return PlainTextResponse(state.metrics.text(**state.pool.state()), media_type="text/plain; version=0.0.4")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return reply_to(request.url.path, error)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return await _refused(request, RequestError(error.status_code, error.detail))


async def _not_of_this_form(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    return await _refused(request, RequestError(422, f"{place}: {first['msg']}" if place else first["msg"]))


async def _server_error(request: Request, _: Exception) -> Response:
    return await _refused(request, RequestError(500, "an error of the server, which has noted it"))
