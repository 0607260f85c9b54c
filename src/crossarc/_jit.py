"""How a hot loop becomes a Numba kernel.

================  ======================================================================================================
``jit``           called from Python. Compiled on its first call, then read from the cache on disk: in the package's
                  folder, or in the user's cache folder when that one is read-only. Releases the GIL.
``jit_helper``    called by kernels. Has no entry from Python, whose code for a tuple of many arrays takes longer to
                  compile than the loop itself; called from Python, as in tests, it is plain Python.
``jit_inline``    the same, for inner loops: allocates nothing, is always inlined and counts no references. A call would
                  count those of every array in its arguments, with atomic operations: in the search for trees, most
                  of the time.
``jit_noinline``  what inlined code does only now and then: no counting of references, but it stays a call, so that
                  loops stay small.
``jit_macro``     a step of a long kernel, for the reader alone: compiled as if its lines stood where it is called. Each
                  level of calls doubles the work of the compiler, which optimises a kernel with all that it calls.
================  ======================================================================================================

``trees/_inside_outside.py`` and ``trees/_matrix_tree_simd.py`` have a kernel decorator of their own each, for the rules
of floating-point arithmetic that they need.
"""

import logging
from typing import Any

from numba import njit
from numba.core import event
from numba.extending import register_jitable

jit = njit(cache=True, nogil=True, no_cfunc_wrapper=True)
jit_helper: Any = register_jitable(cache=True, no_cfunc_wrapper=True, forceinline=False)
jit_inline: Any = register_jitable(cache=True, no_cfunc_wrapper=True, _nrt=False, forceinline=True)
jit_noinline: Any = register_jitable(cache=True, no_cfunc_wrapper=True, _nrt=False, forceinline=False)
jit_macro = njit(inline="always")


@jit_inline
def copy_values(values, out):
    """out[:] = values; that would be compiled for arrays of all shapes, with text for each error."""
    for i in range(len(values)):
        out[i] = values[i]


_COMPILING = "compiling kernels for this machine (once, up to a minute or so; kept for later runs)"


class _Announcement(event.Listener):
    """Tells the user, once, why the first call takes a while."""

    def on_start(self, compilation):
        if compilation.data["dispatcher"].py_func.__module__.startswith("crossarc."):
            logging.getLogger("crossarc").info(_COMPILING)
            event.unregister("numba:compile", self)

    def on_end(self, compilation):
        pass


event.register("numba:compile", _Announcement())
