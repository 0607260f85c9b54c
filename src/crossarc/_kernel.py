"""How a hot loop becomes a Numba kernel: one decorator for all of them."""

import logging

from numba import njit
from numba.core import event
from numba.extending import register_jitable

# Called from Python. Compiled on the first call, then read from the cache on disk: in the package's folder, or in the
# user's cache folder when that one is read-only. Kernels release the GIL, so that threads run them side by side.
kernel = njit(cache=True, nogil=True, no_cfunc_wrapper=True)


# What only kernels call has no entry from Python, whose code for a tuple of many arrays takes longer to compile than
# the loop itself. Called from Python, as in tests, such a function is plain Python.


def inner_kernel(function):
    """A kernel for other kernels."""
    return register_jitable(cache=True, no_cfunc_wrapper=True, forceinline=False)(function)


def leaf_kernel(function):
    """A kernel that allocates nothing, for the inner loops of others.

    A call would count the references of every array in its arguments, with atomic operations, and copy their
    descriptions: in the search for trees, most of the time.
    """
    return register_jitable(cache=True, no_cfunc_wrapper=True, _nrt=False, forceinline=True)(function)


def cold_kernel(function):
    """The same for what a leaf kernel does only now and then: it stays a call, so that loops stay small."""
    return register_jitable(cache=True, no_cfunc_wrapper=True, _nrt=False, forceinline=False)(function)


# A step of a long kernel, for the reader alone: it is compiled as if its lines stood where it is called. The compiler
# optimises a kernel together with all that it calls, so that each level of calls doubles its work.
step_of_kernel = njit(inline="always")


@leaf_kernel
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
