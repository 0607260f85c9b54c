"""Compiled kernels after changes, damage, on read-only disks, and of two processes at once.

A small package with the real cache, decorators and kernels of a few lines takes the place of ours: processes in which
it is changed and run are quick.
"""

from __future__ import annotations

import ast
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import crossarc
from crossarc import _kernel_sources
from crossarc._kernel_cache import _cache_of_user, _CacheFile

PACKAGE = Path(crossarc.__file__).parent

INNER = """
from crossarc._jit import by_type, jit_helper
from crossarc.structure import Pair

@jit_helper
def inner(pair):
    return pair.first + 1

@by_type
def chosen(pair):
    pass
"""
IMPLEMENTATION = """
from crossarc._inner import chosen
from crossarc.structure import Pair

@chosen.register(Pair)
def chosen_for_pairs(pair):
    return 100
"""
OUTER = """
from crossarc._implementation import Pair
from crossarc._inner import chosen, inner
from crossarc._jit import jit

@jit
def outer(pair):
    return inner(pair) + chosen(pair)
"""
OTHER = """
from crossarc._jit import jit

@jit
def other(x):
    return 2 * x
"""
STRUCTURE = """
from typing import NamedTuple

class Pair(NamedTuple):
    first: int
    second: int
"""
# prints the results, and how many kernels were compiled
MAIN = """
import logging, sys
logging.basicConfig(format="%(message)s", level=logging.INFO)
from numba.core import caching, event

class Count(event.Listener):
    compiled = 0
    def on_start(self, happened): self.compiled += 1
    def on_end(self, happened): pass

if sys.argv[1:]:  # folders that cannot be written to
    def guarded(path, mode="r"):
        if "w" in mode and str(path).startswith(tuple(sys.argv[1:])):
            raise PermissionError(13, "Permission denied", path)
        return open(path, mode)
    caching.open = guarded
event.register("numba:compile", count := Count())
import crossarc
from crossarc import _other, _outer, structure
print(_outer.outer(structure.Pair(1, 2)), _other.other(21), count.compiled)
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The package, with its kernels compiled."""
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "crossarc").mkdir()
    for name in ("_jit.py", "_kernel_cache.py", "_kernel_sources.py"):
        shutil.copy(PACKAGE / name, folder / "crossarc")
    sources = {"inner": INNER, "implementation": IMPLEMENTATION, "outer": OUTER, "other": OTHER}
    for name, source in sources.items():
        (folder / "crossarc" / f"_{name}.py").write_text(source)
    (folder / "crossarc" / "__init__.py").touch()
    (folder / "crossarc" / "structure.py").write_text(STRUCTURE)
    (folder / "main.py").write_text(MAIN)
    first = run(folder)
    assert first.stdout.split()[:2] == ["102", "42"], first.stderr
    assert "compiling kernels" in first.stderr
    return folder


@pytest.fixture
def package(compiled, tmp_path):
    """A copy at another place: caches belong to sources, not to places."""
    shutil.copytree(compiled, tmp_path / "copy")
    return tmp_path / "copy"


def run(folder, *read_only, **environment):
    environment = {**os.environ, "PYTHONPATH": str(folder), "XDG_CACHE_HOME": str(folder / "users"), **environment}
    command = [sys.executable, "-B", folder / "main.py", *map(str, read_only)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def results(*arguments, **environment):
    """The results of the two kernels, and how many functions had to be compiled for them."""
    finished = run(*arguments, **environment)
    assert finished.returncode == 0, finished.stderr
    return tuple(map(int, finished.stdout.split()))


def change(package, name, old, new):
    file = package / "crossarc" / name
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_a_kernel_in_another_file_has_changed(package):
    change(package, "_inner.py", "+ 1", "+ 2")
    first, second, count = results(package)
    assert (first, second) == (103, 42)
    assert count in (2, 3)  # outer, inner and chosen: not other
    assert results(package) == (103, 42, 0)
    change(package, "_implementation.py", "100", "200")
    assert results(package)[:2] == (203, 42)


def test_a_structure_has_another_name(package):
    for name in ("structure.py", "_inner.py", "_implementation.py", "_outer.py"):
        change(package, name, "Pair", "Two")
    change(package, "../main.py", "Pair", "Two")
    assert results(package)[:2] == (102, 42)


@pytest.mark.parametrize(("suffix", "content"), [("nbi", b""), ("nbc", b"\x80\x05garbage")])
def test_damaged_files(package, suffix, content):
    files = list(package.rglob(f"*.{suffix}"))
    assert len(files) >= 2
    for file in files:
        file.write_bytes(content)
    first, second, count = results(package)
    assert (first, second) == (102, 42)
    assert count > 0
    assert all(file.read_bytes() != content for file in files)


def test_a_read_only_package_serves_its_kernels(package):
    own = package / "crossarc"
    assert results(package, own) == (102, 42, 0)
    change(package, "_inner.py", "+ 1", "+ 2")
    assert results(package, own)[0] == 103  # compiled, kept for this user
    assert results(package, own) == (103, 42, 0)
    assert list((package / "users" / "crossarc").rglob("*.nbc"))


@pytest.mark.parametrize("environment", [{}, {"HOME": "/proc/nowhere", "XDG_CACHE_HOME": ""}])
def test_nowhere_to_write(package, environment):
    for file in package.rglob("*.nb?"):
        file.unlink()
    finished = run(package, package, **environment)
    assert finished.stdout.split()[:2] == ["102", "42"]
    assert finished.stderr.count("compiled kernels cannot be kept") == 1
    assert "Traceback" not in finished.stderr


def test_a_user_without_a_home(monkeypatch):
    def no_home():
        raise RuntimeError("could not determine home directory")

    monkeypatch.delenv("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert _cache_of_user.__wrapped__() is None


# a signal that comes when LLVM has compiled a kernel, and calls Python to say so
SIGNALLED = """
import signal, sys
from numba.core.codegen import CPUCodeLibrary
CPUCodeLibrary._object_compiled_hook = classmethod(lambda *_: signal.raise_signal(SIGNAL))
"""


def test_an_interruption_while_a_kernel_is_compiled_is_not_lost(package):
    main = package / "main.py"
    main.write_text(SIGNALLED.replace("SIGNAL)", "signal.SIGINT)") + main.read_text())
    change(package, "_inner.py", "+ 1", "+ 2")
    finished = run(package)
    assert finished.returncode == -signal.SIGINT
    assert finished.stderr.rstrip().endswith("KeyboardInterrupt")
    assert not finished.stdout
    main.write_text(MAIN)
    assert results(package)[:2] == (103, 42)


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize(("sent", "code"), [("SIGINT", 130), ("SIGTERM", -signal.SIGTERM)])
def test_a_command_ends_cleanly_while_a_kernel_is_compiled(sent, code, tmp_path):
    script = SIGNALLED.replace("SIGNAL)", f"signal.{sent})") + (
        "import numpy as np\n"
        "from crossarc import cli\n"
        "from crossarc.trees._check import first_bad_score\n"
        "cli.crossarc = lambda standalone_mode: first_bad_score(np.zeros((3, 3, 1)))\n"
        "cli.main()\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    finished = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment
    )
    assert finished.returncode == code
    said = [line for line in finished.stderr.splitlines() if "compiling kernels" not in line]
    assert said == (["crossarc: interrupted"] if sent == "SIGINT" else [])


def test_a_folder_of_ones_own(package):
    assert results(package, NUMBA_CACHE_DIR=str(package / "named"))[2] > 0
    assert list((package / "named").rglob("*.nbc"))


def test_two_processes_at_once(package):
    for file in package.rglob("*.nb?"):
        file.unlink()
    environment = {**os.environ, "PYTHONPATH": str(package)}
    command = [sys.executable, "-B", package / "main.py"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
    assert [process.communicate()[0].split()[:2] for process in processes] == [["102", "42"]] * 2
    assert results(package) == (102, 42, 0)


def test_a_file_of_another_kernel_is_not_taken(tmp_path):
    """Two processes that do not know of each other give their first files the same number."""
    ours, theirs = (_CacheFile(str(tmp_path / name), "kernel", "stamp") for name in "ab")
    ours.save("key", "code")
    theirs.save("another key", "other code")
    assert ours.load("key") == "code"
    shutil.copy(tmp_path / "b" / "kernel.1.nbc", tmp_path / "a" / "kernel.1.nbc")
    assert ours.load("key") is None
    ours.save("key", "code")
    assert ours.load("key") == "code"


def test_what_killed_processes_left_is_cleared_away(tmp_path):
    old, new = tmp_path / "kernel.nbi.tmp.1", tmp_path / "kernel.nbi.tmp.2"
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    _CacheFile(str(tmp_path), "kernel", "stamp").save("key", "code")
    assert not old.exists()
    assert new.exists()


# ---- of the real package ---------------------------------------------------------------------------------------------

KERNELS = [
    path
    for path in PACKAGE.rglob("_*.py")
    if path.name != "__init__.py" and "crossarc._jit import" in path.read_text("utf-8")
]


def test_kernels_depend_on_what_they_call():
    assert "trees._chu_liu_edmonds" in _kernel_sources.dependencies("parsers.linear._parse")
    assert "scorers.linear._source" in _kernel_sources.dependencies("search._find_tree")  # by its types
    assert "search.methods" in _kernel_sources.dependencies("search._find_tree")
    assert "parsers.linear._parse" not in _kernel_sources.dependencies("trees._eisner")


def test_kernels_import_things_from_where_they_are_defined():
    """What another module only hands on could change without a kernel being compiled anew."""
    assert len(KERNELS) > 50
    for path in KERNELS:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("crossarc"):
                for alias in node.names:
                    assert is_defined(node.module, alias.name), f"{path}: {alias.name} of {node.module}"


def is_defined(module, name):
    """Whether a module has a definition of the name, or is a package with a module of that name."""
    place = PACKAGE.joinpath(*module.split(".")[1:])
    if (place / f"{name}.py").is_file():
        return True
    file = place.with_suffix(".py") if place.with_suffix(".py").is_file() else place / "__init__.py"
    tree = ast.parse(file.read_text("utf-8"))
    if module == "crossarc._jit":
        return True  # all of it counts
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
    return name in defined


def test_all_kernels_are_kept_by_our_cache():
    for path in PACKAGE.rglob("*.py"):
        if path.name != "_jit.py":
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.module == "numba":
                    assert not {"jit", "njit"} & {alias.name for alias in node.names}, path
