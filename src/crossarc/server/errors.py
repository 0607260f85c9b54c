"""How errors are told: JSON to those who use our own interface, text to all others."""

from __future__ import annotations

from typing import Any

from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel, Field
from starlette.responses import Response

from crossarc.server.jobs import RequestError

__all__ = ["JSON_ERRORS", "TEXT_ERRORS", "reply_to"]

_MEANINGS = {
    400: "The request or its data are wrong",
    401: "A token is needed",
    403: "Another name of this host, or the page of another site",
    404: "There is no such thing",
    408: "The request did not arrive in time",
    409: "Something else has happened in between",
    413: "The request is too large, or too much work",
    422: "The request is not of this form",
    429: "One is being trained; try again later",
    431: "Address or header lines are too long",
    500: "An error of the server",
    501: "A library that is needed is not installed",
    503: "Too many requests",
    504: "The time limit is over",
}


class Error(BaseModel):
    error: str
    line: int | None = Field(description="Of the text, if the error is there.")
    sentence: str | None = Field(description="Its sent_id or number.")


Responses = dict[int | str, dict[str, Any]]
JSON_ERRORS: Responses = {status: {"model": Error, "description": meaning} for status, meaning in _MEANINGS.items()}
TEXT_ERRORS: Responses = {
    status: {"description": meaning, "content": {"text/plain": {"schema": {"type": "string"}}}}
    for status, meaning in _MEANINGS.items()
}


def reply_to(path: str, error: RequestError) -> Response:
    """The reply to a request of that path."""
    headers = {503: {"Retry-After": "5"}, 401: {"WWW-Authenticate": "Bearer"}}.get(error.status, {})
    if path.startswith("/api/"):
        content = {"error": error.message, "line": error.line, "sentence": error.sentence}
        return JSONResponse(content, error.status, headers)
    return PlainTextResponse(f"{error}\n", error.status, headers)
