"""The folder of treebanks over HTTP. Only our own page may ask: requests that come from another one are refused."""

from __future__ import annotations

import secrets
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from crossarc.server.folder import Folder
from crossarc.server.jobs import RequestError

__all__ = ["is_loopback", "router"]

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a service that listens there."""
    return host in _LOOPBACK


async def folder_of(request: Request) -> Folder:
    """The folder, if there is one and the request may see it.

    A page of somebody else can make a browser send requests here. Its Origin gives it away; a name of its own for
    this machine (DNS rebinding) is in the Host header. Behind a token, neither helps it.
    """
    folder: Folder | None = getattr(request.app.state, "folder", None)
    if folder is None:
        raise RequestError(404, "no folder is served: see crossarc serve --folder")
    headers = request.headers
    host = headers.get("host", "")
    if folder.token is None and urlsplit(f"//{host}").hostname not in _LOOPBACK:
        raise RequestError(403, "the folder is for this machine only")
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != host:
        raise RequestError(403, "the folder is for our own page only")
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise RequestError(403, "the folder is for our own page only")
    if folder.token is not None:
        shown = headers.get("authorization", "").removeprefix("Bearer ")
        if not secrets.compare_digest(shown.encode(), folder.token.encode()):
            raise RequestError(401, "the folder needs the token that crossarc serve was started with")
    return folder


Served = Annotated[Folder, Depends(folder_of)]

router = APIRouter(prefix="/api/folder", tags=["Crossarc"])


class Listed(BaseModel):
    name: str
    size: int
    modified: float


class Content(BaseModel):
    content: str
    version: str = Field(description="Of the content; saving needs it.")


class Version(BaseModel):
    version: str


class Saving(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    content: str
    version: str = Field(description="That the file had when it was opened.")


@router.get("")
def files(folder: Served) -> list[Listed]:
    """The treebanks in the folder."""
    return [Listed(**file._asdict()) for file in folder.files()]


@router.get("/file")
def read(name: str, folder: Served) -> Content:
    """What is in a file."""
    content, version = folder.read(name)
    return Content(content=content, version=version)


@router.get("/version")
def version(name: str, folder: Served) -> Version:
    """Which content it has now."""
    return Version(version=folder.version(name))


@router.put("/file")
def save(wanted: Saving, folder: Served) -> Version:
    """Save a file, unless it has changed on disk (409)."""
    return Version(version=folder.write(wanted.name, wanted.content, wanted.version))
