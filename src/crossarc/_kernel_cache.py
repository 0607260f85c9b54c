"""Where compiled kernels are kept, in place of Numba's own cache, which they are too many and too old for.

=============================  =========================================================================================
a kernel that it calls has     the cache knows all source files that a kernel is made of (``_kernel_sources.py``), and
changed, in another file       compiles it anew
a file is empty or damaged,    the kernel is compiled anew
or of another version
the package is read-only       kernels are read from there, for instance those compiled when an image was built; new
                               ones go to the user's cache folder
nothing can be written         kernels are compiled in each process, and a note says so
Ctrl-C while one is compiled   it is not kept, and the interruption is not lost
two processes compile at once  each file is whole, and says which kernel it holds: at worst one is compiled again
=============================  =========================================================================================

``NUMBA_CACHE_DIR`` names another folder than that of the package.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import os
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from numba.core import caching, config, dispatcher

from crossarc._kernel_sources import PACKAGE, fingerprint, module_of

__all__ = ["folders_for", "install"]

_STALE = 3600.0  # seconds after which a file that is still being written has been given up


def install() -> None:
    """Let Numba ask us for the caches of our kernels; those of others stay as they are."""
    theirs = dispatcher.FunctionCache

    def cache_of(function: Any) -> Any:
        is_ours = module_of(Path(inspect.getfile(function))) is not None
        return KernelCache(function) if is_ours else theirs(function)

    dispatcher.FunctionCache = cache_of


class KernelCache(caching.FunctionCache):
    """The cache of one kernel: read from all folders, written to the first that lets us."""

    def __init__(self, function: Any) -> None:
        file = Path(inspect.getfile(function))
        self._name, self._py_func = repr(function), function
        self._impl = _Serializer(function)
        self._cache_path, *_ = folders = folders_for(file)
        stamp = self._impl.locator.get_source_stamp()
        self._files = [_CacheFile(str(folder), self._impl.filename_base, stamp) for folder in folders]
        self._cache_file = self._files[0]
        self.enable()

    def _load_overload(self, signature: Any, target: Any) -> Any:
        if not self._enabled:
            return None
        key = self._index_key(signature, target.codegen())
        for file in self._files:
            with suppress(Exception):  # whatever is wrong with a file, the kernel can be compiled
                data = file.load(key)
                if data is not None:
                    return self._impl.rebuild(target, data)
        return None

    def _save_overload(self, signature: Any, compiled: Any) -> None:
        if not self._enabled or not self._impl.check_cachable(compiled):
            return
        try:
            data = self._impl.reduce(compiled)
        except RuntimeError:  # LLVM had called Python, where nothing can be raised, when a signal came
            raise KeyboardInterrupt from None
        key = self._index_key(signature, compiled.codegen)
        for file in self._files:
            with suppress(OSError):
                file.save(key, data)
                return
        _note_that_nothing_is_kept()


class _CacheFile(caching.IndexDataCacheFile):
    """The files of one kernel in one folder: an index, and compiled code for each signature."""

    def save(self, key: Any, data: Any) -> None:
        Path(self._cache_path).mkdir(parents=True, exist_ok=True)
        super().save(key, (key, data))
        self._clear_away()

    def load(self, key: Any) -> Any:
        """The compiled code for a key. Of two processes that wrote at once, one may have the other's file."""
        own, data = super().load(key) or (key, None)
        return data if own == key else None

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except OSError:
            raise
        except Exception:  # empty, damaged, or of classes that are gone
            return {}

    def _clear_away(self) -> None:
        """Remove what killed processes were writing."""
        with suppress(OSError):
            for file in Path(self._cache_path).glob("*.tmp.*"):
                if file.stat().st_mtime < time.time() - _STALE:
                    file.unlink()


class _Locator(caching._CacheLocator):
    """Tells Numba how the files of a kernel are called, and what it is made of."""

    def __init__(self, function: Any, file: str) -> None:
        self._function, self._py_file = function, file

    @classmethod
    def from_function(cls, function: Any, file: str) -> _Locator:
        return cls(function, file)

    def get_cache_path(self) -> str:
        return str(folders_for(Path(self._py_file))[0])

    def get_source_stamp(self) -> str:
        module = module_of(Path(self._py_file))
        assert module is not None
        return f"{_fingerprint(module)} {config.BOUNDSCHECK}"  # kernels that check bounds are others

    def get_disambiguator(self) -> str:
        return str(self._function.__code__.co_firstlineno)


class _Serializer(caching.CompileResultCacheImpl):
    _locator_classes: ClassVar = [_Locator]


@cache
def _fingerprint(module: str) -> str:
    return fingerprint(module)


def folders_for(file: Path) -> list[Path]:
    """Where the compiled kernels of a source file may be: that of the package, then that of the user."""
    inside = file.parent.relative_to(PACKAGE)
    own = hashlib.sha256(str(PACKAGE).encode()).hexdigest()[:12]
    named = Path(config.CACHE_DIR) / f"crossarc-{own}" / inside if config.CACHE_DIR else None
    folders = [named or file.parent / "__pycache__"]
    if (users := _cache_of_user()) is not None:
        folders.append(users / "crossarc" / f"kernels-{own}" / inside)
    return folders


@cache
def _cache_of_user() -> Path | None:
    """The folder for such things; None for a user without a home."""
    named = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME", "")
    if Path(named).is_absolute():
        return Path(named)
    try:
        return Path.home() / ".cache"
    except RuntimeError:
        return None


@cache
def _note_that_nothing_is_kept() -> None:
    logging.getLogger("crossarc").info(
        "compiled kernels cannot be kept, as no folder for them can be written to: NUMBA_CACHE_DIR names another one"
    )
