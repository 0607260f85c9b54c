"""Which source files a compiled kernel is made of: those of the kernels that it calls too, whatever file they are in.

A kernel is compiled anew when one of them changes. Kernels are in modules whose names begin with an underscore; such a
module depends on

- the modules that it imports from this package: if they hold kernels, also on what these depend on; of any other (a
  ``NamedTuple``, a constant) on that file alone, so kernels import a thing from where it is defined;
- the modules that implement its functions for other types (``@function.register(...)``, see ``_jit.by_type``).
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

__all__ = ["PACKAGE", "dependencies", "fingerprint", "module_of"]

PACKAGE = Path(__file__).parent

_NOT_COMPILED = {"_kernel_cache", "_kernel_sources"}  # the decorators in ``_jit.py`` need them; kernels do not
_IMPORT = re.compile(rb"^ *from crossarc(\.[\w.]+)? import (\([^)]*\)|[^\n]*)", re.MULTILINE)
_REGISTER = re.compile(rb"^@(\w+)\.register\(", re.MULTILINE)
_NAME = re.compile(rb"(\w+)(?: as \w+)?")


def fingerprint(module: str) -> str:
    """Of all that a module's kernels are made of; ``module`` is its path in the package: ``trees._eisner``."""
    digest = hashlib.sha256()
    for name in sorted(dependencies(module)):
        digest.update(hashlib.sha256(_source(name)).digest())
    return digest.hexdigest()


def module_of(file: Path) -> str | None:
    """``trees._eisner`` of a file of this package."""
    if not file.is_relative_to(PACKAGE):
        return None
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def dependencies(module: str) -> frozenset[str]:
    """The modules that the kernels of a module are made of, with itself."""
    found, waiting = {module}, [module]
    while waiting:
        name = waiting.pop()
        new = ({*_imports(name).values()} | _implementations().get(name, frozenset())) - found
        found |= new
        waiting += [other for other in new if _has_kernels(other)]
    return frozenset(found - _NOT_COMPILED)


def _has_kernels(module: str) -> bool:
    return module.rpartition(".")[2].startswith("_")


@cache
def _imports(module: str) -> dict[str, str]:
    """Name -> module of this package that it comes from, for all that a module imports."""
    found = {}
    for package, names in _IMPORT.findall(_source(module)):
        origin = package[1:].decode()
        for name in map(bytes.decode, _NAME.findall(names.partition(b"#")[0] if b"(" not in names else names)):
            itself = f"{origin}.{name}".lstrip(".")
            found[name] = itself if _file(itself) else origin
    return {name: origin for name, origin in found.items() if origin and _file(origin)}


@cache
def _implementations() -> dict[str, frozenset[str]]:
    """Module -> modules that implement its functions for their types."""
    found: dict[str, set[str]] = {}
    for file in PACKAGE.rglob("_*.py"):
        module = module_of(file)
        assert module is not None
        for name in map(bytes.decode, _REGISTER.findall(_source(module))):
            if name in _imports(module):
                found.setdefault(_imports(module)[name], set()).add(module)
    return {module: frozenset(others) for module, others in found.items()}


@cache
def _file(module: str) -> Path | None:
    path = PACKAGE.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


@cache
def _source(module: str) -> bytes:
    file = _file(module)
    return file.read_bytes() if file else b""
