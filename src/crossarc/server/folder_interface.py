"""The folder of treebanks over HTTP. Only our own page may ask: requests that come from another one are refused."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field

from crossarc.server.errors import JSON_ERRORS
from crossarc.server.folder import Folder
from crossarc.server.jobs import RequestError
from crossarc.server.strict import Strict

__all__ = ["router"]


async def folder_of(request: Request) -> Folder:
    """The folder, if there is one and it is our own page that asks.

    Names and tokens have been checked (``access``). Here nobody else on the same machine is let in either: a page at
    another port has another origin.
    """
    folder: Folder | None = getattr(request.app.state, "folder", None)
    if folder is None:
        raise RequestError(404, "no folder is served: see crossarc serve --folder")
    headers = request.headers
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != headers.get("host", ""):
        raise RequestError(403, "the folder is for our own page only")
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise RequestError(403, "the folder is for our own page only")
    return folder


Served = Annotated[Folder, Depends(folder_of)]

router = APIRouter(prefix="/api/folder", tags=["Crossarc"], responses=JSON_ERRORS)


class Listed(BaseModel):
    name: str
    size: int
    modified: float


class Content(BaseModel):
    content: str
    version: str = Field(description="Of the content; saving needs it.")


class Version(BaseModel):
    version: str


class Saving(Strict):
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
