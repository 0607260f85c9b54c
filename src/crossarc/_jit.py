"""How a hot loop becomes a Numba kernel.

================  ======================================================================================================
``jit``           called from Python. Compiled on its first call, then read from a cache on disk (``_kernel_cache.py``).
                  Releases the GIL. (Modules with options of their own take ``njit`` from here.)
``jit_helper``    called by kernels. Has no entry from Python, whose code for a tuple of many arrays takes longer to
                  compile than the loop itself; called from Python, as in tests, it is plain Python.
``jit_inline``    the same, for inner loops: allocates nothing, is always inlined and counts no references. A call would
                  count those of every array in its arguments, with atomic operations: in the search for trees, most
                  of the time.
``jit_noinline``  what inlined code does only now and then: no counting of references, but it stays a call, so that
                  loops stay small.
``jit_macro``     a step of a long kernel, for the reader alone: compiled as if its lines stood where it is called. Each
                  level of calls doubles the work of the compiler, which optimises a kernel with all that it calls.
``by_type``       a function that is implemented for each class of its first argument: a kernel that is given a value of
                  the class is compiled with that implementation alone. (Functions as arguments, or in closures, would
                  make kernels that the cache on disk cannot keep.)
================  ======================================================================================================

``trees/_inside_outside.py`` and ``trees/_matrix_tree_simd.py`` have a kernel decorator of their own each, for the rules
of floating-point arithmetic that they need.
"""

import logging
from functools import wraps
from typing import Any

from numba import njit, types
from numba.core import event
from numba.extending import overload, register_jitable

from crossarc import _kernel_cache

_kernel_cache.install()

jit = njit(cache=True, nogil=True, no_cfunc_wrapper=True)
_HELPER: dict[str, Any] = {"cache": True, "no_cfunc_wrapper": True, "forceinline": False}
_INLINE: dict[str, Any] = {"cache": True, "no_cfunc_wrapper": True, "_nrt": False, "forceinline": True}
jit_helper: Any = register_jitable(**_HELPER)
jit_inline: Any = register_jitable(**_INLINE)
jit_noinline: Any = register_jitable(cache=True, no_cfunc_wrapper=True, _nrt=False, forceinline=False)
jit_macro = njit(inline="always")


def by_type(described, **options):
    """A function whose implementation is chosen by the class of its first argument, a ``NamedTuple``; or by None.

    Implementations are plain functions, registered with ``@function.register(cls)``.
    """
    implementations = {}

    @wraps(described)
    def function(first, *others):
        return implementations[type(first)](first, *others)

    @overload(function, strict=False, **(options or {"jit_options": _HELPER}))
    def choose(first, *others):
        kind = type(None) if isinstance(first, types.NoneType) else getattr(first, "instance_class", None)
        return implementations.get(kind)

    def register(kind):
        def add(implementation):
            implementations[kind] = implementation
            return implementation

        return add

    function.register = register
    return function


def by_type_inline(described):
    """``by_type`` for inner loops, with the promises of ``jit_inline``."""
    return by_type(described, jit_options=_INLINE)


@jit_inline
def copy_values(values, out):
    """out[:] = values; that would be compiled for arrays of all shapes, with text for each error."""
    for i in range(len(values)):
        out[i] = values[i]


_COMPILING = "compiling kernels for this machine (once, up to a minute or so; kept for later runs)"


class _Announcement(event.Listener):
    """Tells the user, once, why the first call takes a while."""

    said = False  # it stays registered: to go away in the middle of an event would hide that from the next listener

    def on_start(self, compilation):
        if not self.said and compilation.data["dispatcher"].py_func.__module__.startswith("crossarc."):
            logging.getLogger("crossarc").info(_COMPILING)
            self.said = True

    def on_end(self, compilation):
        pass


event.register("numba:compile", _Announcement())
_TIMING = event.TimingListener()
event.register("numba:compile", _TIMING)


def seconds_of_compiling() -> float:
    """How long this process has compiled kernels so far."""
    return float(_TIMING.duration) if _TIMING.done else 0.0
