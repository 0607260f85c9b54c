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
from crossarc.server import interface, udpipe
from crossarc.server.jobs import Limits, RequestError
from crossarc.server.pool import Pool
from crossarc.server.registry import Registry
from crossarc.server.safety import Guarded

__all__ = ["make_app"]

_PAGE = Path(__file__).parent / "page"


def make_app(pool: Pool, registry: Registry, limits: Limits) -> ASGIApp:
    """The service, for any ASGI server. The pool has been started; it is stopped with the application."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        pool.stop()

    app = FastAPI(
        title="Crossarc",
        version=__version__,
        summary="Dependency parsing with probabilities, k best trees and constraints.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages take resources from other hosts
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.pool, app.state.registry, app.state.limits = pool, registry, limits
    app.include_router(interface.router)
    app.include_router(udpipe.router)
    app.mount("/page", StaticFiles(directory=_PAGE))
    app.add_api_route("/", _page, methods=["GET"], include_in_schema=False)
    app.add_exception_handler(RequestError, _refused)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _not_of_this_form)
    app.add_exception_handler(Exception, _server_error)
    return Guarded(app, limits)


async def _page() -> FileResponse:
    return FileResponse(_PAGE / "index.html")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    headers = {"Retry-After": "5"} if error.status == 503 else {}
    if _is_ours(request):
        content = {"error": error.message, "line": error.line, "sentence": error.sentence}
        return JSONResponse(content, error.status, headers)
    return PlainTextResponse(f"{error}\n", error.status, headers)


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


def _is_ours(request: Request) -> bool:
    """Whether the request is to our own interface, where errors are JSON; they are text everywhere else."""
    return request.url.path.startswith("/api/")
