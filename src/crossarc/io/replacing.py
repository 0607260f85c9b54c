"""Files that appear whole or not at all: written beside their place, synced, then put there in one step.

Killed at any moment, a process leaves the old file or the new one. What it had written so far lies in a folder whose
name begins with a dot and ends in ``.part``; the next process that writes the same file clears it away.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from crossarc.core import CrossarcError
from crossarc.io.lock import NoLocks, hold

__all__ = ["complaint", "file_replaced"]

_SUFFIX = ".part"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # of a disk on which we write


@contextmanager
def file_replaced(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Where to write what becomes the file when the block ends without an error; it has the mode of the old file.

    Raises ``CrossarcError`` that names the file if it cannot be written; the old file is then as it was.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    folder: Path | None = None
    with ExitStack() as held:
        try:
            _clear_away(target)
            folder = _own_folder(target, held)
            draft = folder / "draft"
            draft.touch()
            mode = (target if target.exists() else draft).stat().st_mode
            yield draft
            draft.chmod(mode)
            _sync(draft)
            draft.replace(target)
            _sync(target.parent)
        except OSError as error:
            if folder is not None and not _is_ours(error, folder):
                raise
            raise CrossarcError(f"{os.fspath(path)}: {complaint(error)}") from None
        finally:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)


def _own_folder(target: Path, held: ExitStack) -> Path:
    """A new folder beside the file, held as long as we live, so that nobody clears it away."""
    while True:
        folder = Path(tempfile.mkdtemp(_SUFFIX, _prefix(target), target.parent))
        try:
            held.enter_context(hold(folder))
        except (BlockingIOError, FileNotFoundError):  # somebody was quicker, and took it for one that was left
            continue
        except NoLocks:
            pass
        return folder


def complaint(error: OSError) -> str:
    """What the operating system says."""
    return (error.strerror or str(error)).lower()


def _is_ours(error: OSError, folder: Path) -> bool:
    """Whether an error is about what we write, not about something that is read meanwhile."""
    if error.filename is None:
        return error.errno in _FULL
    return folder in (own := Path(os.fspath(error.filename))).parents or own == folder


def _prefix(target: Path) -> str:
    return f".{target.name[:50]}."


def _clear_away(target: Path) -> None:
    """Remove what processes have left that were killed while they wrote this file."""
    with suppress(OSError):
        for folder in target.parent.glob(f"{_escaped(_prefix(target))}*{_SUFFIX}"):
            with suppress(OSError), hold(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _escaped(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if path.is_dir() and os.name != "posix":  # Windows opens no folders
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
