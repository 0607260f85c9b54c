"""How errors are told: JSON to those who use our own interface, text to all others."""

from __future__ import annotations

from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.responses import Response

from crossarc.server.jobs import RequestError

__all__ = ["reply_to"]


def reply_to(path: str, error: RequestError) -> Response:
    """The reply to a request of that path."""
    headers = {503: {"Retry-After": "5"}, 401: {"WWW-Authenticate": "Bearer"}}.get(error.status, {})
    if path.startswith("/api/"):
        content = {"error": error.message, "line": error.line, "sentence": error.sentence}
        return JSONResponse(content, error.status, headers)
    return PlainTextResponse(f"{error}\n", error.status, headers)
