"""The treebanks of one folder, for the page: listed, read, and saved with a backup, atomically, never outside of it.

Paths are walked from the folder's own descriptor, component by component, and links are not followed: neither
a name in a request nor a link that somebody puts there in the meantime leads out.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from crossarc.core import CrossarcError
from crossarc.server.jobs import RequestError

__all__ = ["Folder", "TreebankFile"]

_SUFFIX = ".conllu"
_BACKUP = "~"  # behind the name of the file as it was before the last save
_MOST = 2000  # files that are listed


class TreebankFile(NamedTuple):
    name: str  # relative to the folder, with /
    size: int  # bytes
    modified: float  # seconds since 1970


class Folder:
    """A folder whose treebanks may be read and written."""

    def __init__(self, path: str | Path) -> None:
        if os.open not in os.supports_dir_fd:
            raise CrossarcError("--folder needs a system that opens files relative to a folder (Linux, macOS)")
        self.path = Path(path)
        if not self.path.is_dir():
            raise CrossarcError(f"{path}: no such folder")

    def files(self) -> list[TreebankFile]:
        """The treebanks of the folder and of those in it, by name; no links, nothing hidden."""
        found = []
        for root, folders, names, descriptor in os.fwalk(self.path, follow_symlinks=False):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                if name.endswith(_SUFFIX) and not name.startswith(".") and stat.S_ISREG(status.st_mode):
                    relative = (Path(root) / name).relative_to(self.path).as_posix()
                    found.append(TreebankFile(relative, status.st_size, status.st_mtime))
            if len(found) >= _MOST:
                break
        return found[:_MOST]

    def read(self, name: str) -> tuple[str, str]:
        """The content of a file, and its version. Raises ``RequestError``."""
        with self._folder_of(name) as (folder, last):
            content = _read(folder, last)
        try:
            return content.decode(), _version(content)
        except UnicodeDecodeError as error:
            raise RequestError(400, f"{name} is not in UTF-8: byte {error.start}") from None

    def version(self, name: str) -> str:
        """Which content the file has now."""
        with self._folder_of(name) as (folder, last):
            return _version(_read(folder, last))

    def write(self, name: str, content: str, version: str) -> str:
        """Save a file that had that version when it was read; its new version. What it was before stays as ``name~``.

        The file is never half written: it is replaced as a whole when all has reached the disk.
        """
        with self._folder_of(name) as (folder, last):
            before = _read(folder, last)
            if _version(before) != version:
                raise RequestError(409, f"{name} has changed on disk since it was opened")
            mode = stat.S_IMODE(os.stat(last, dir_fd=folder, follow_symlinks=False).st_mode)
            _replace(folder, last + _BACKUP, before, mode)
            _replace(folder, last, content.encode(), mode)
        return _version(content.encode())

    @contextmanager
    def _folder_of(self, name: str) -> Iterator[tuple[int, str]]:
        """A descriptor of the folder that the file is in, and the last part of its name."""
        parts = name.split("/")
        if any(part in ("", ".", "..") or part.startswith(".") for part in parts) or "\\" in name or "\0" in name:
            raise RequestError(400, "a file is named by its place in the folder")
        if not name.endswith(_SUFFIX):
            raise RequestError(400, f"the folder's treebanks end in {_SUFFIX}")
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in parts[:-1]:
                inner = _opened(part, os.O_RDONLY | os.O_DIRECTORY, descriptor)
                os.close(descriptor)
                descriptor = inner
            yield descriptor, parts[-1]
        finally:
            os.close(descriptor)


def _opened(name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)
    except OSError:
        raise RequestError(404, f"there is no file {name} in the folder (links are not followed)") from None


def _read(folder: int, name: str) -> bytes:
    descriptor = _opened(name, os.O_RDONLY | os.O_NONBLOCK, folder)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise RequestError(404, f"{name} is not a file")
        return file.read()


def _replace(folder: int, name: str, content: bytes, mode: int) -> None:
    """Put a file in the place of another: all of it, or nothing."""
    temporary = f".{name}.{secrets.token_hex(8)}"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(temporary, flags, mode, dir_fd=folder), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    except OSError as error:
        _forget(temporary, folder)
        raise RequestError(500, f"{name} cannot be saved: {error.strerror or error}") from None


def _forget(name: str, folder: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _version(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
