"""Python calls compiled kernels only: what is meant for kernels alone would run too, but slowly, as Python."""

from __future__ import annotations

import ast
from pathlib import Path

import crossarc

PACKAGE = Path(crossarc.__file__).parent
KERNELS = {"jit", "jit_macro", "jit_sum", "jit_simd", "jit_step"}
FOR_KERNELS = {"jit_helper", "jit_inline", "jit_noinline", "by_type", "by_type_inline", "register"}
TREES = {
    ".".join(["crossarc", *path.relative_to(PACKAGE).with_suffix("").parts]): ast.parse(path.read_text("utf-8"))
    for path in PACKAGE.rglob("*.py")
}


def test_python_calls_no_function_that_is_for_kernels():
    inner = {(module, name) for module, tree in TREES.items() for name in decorated(tree, FOR_KERNELS)}
    assert len(inner) > 100
    found = {module for module in TREES if any(name in inner for name in called_by_python(module))}
    # one tree at a time, and nothing to compile before
    assert found == {f"crossarc.parsers.{folder}.explain" for folder in ("graph", "ilp", "linear")}


def decorated(tree, decorators):
    """The names of functions that have one of the decorators."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(name_of(d) in decorators for d in node.decorator_list):
            yield node.name


def name_of(decorator):
    """``jit`` of ``@jit``, ``register`` of ``@function.register(kind)``."""
    return getattr(getattr(decorator, "func", decorator), "attr", getattr(decorator, "id", ""))


def called_by_python(module):
    """The (module, name) of what functions that are no kernels call in other modules."""
    functions, modules = {}, {}
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                functions[name.asname or name.name] = (node.module, name.name)
                modules[name.asname or name.name] = f"{node.module}.{name.name}"
    kernels = set(decorated(TREES[module], KERNELS | FOR_KERNELS))
    for top in TREES[module].body:
        if getattr(top, "name", "") in kernels:
            continue
        for node in ast.walk(top):
            function = node.func if isinstance(node, ast.Call) else None
            if isinstance(function, ast.Name):
                yield functions.get(function.id, (module, function.id))
            elif isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
                yield modules.get(function.value.id, ""), function.attr
