"""How a hot loop becomes a Numba kernel: one decorator for all of them."""

import logging

from numba import njit
from numba.core import event

# Compiled on the first call, then read from the cache on disk: in the package's folder, or in the user's
# cache folder when that one is read-only. Kernels release the GIL, so that threads run them side by side.
kernel = njit(cache=True, nogil=True)

# A kernel that allocates nothing, for the inner loops of others. A call would count the references of every array in
# its arguments, with atomic operations, and copy their descriptions: in the search for trees, most of the time.
leaf_kernel = njit(cache=True, nogil=True, _nrt=False, forceinline=True)

# The same for what a leaf kernel does only now and then: it stays a call, so that loops stay small.
cold_kernel = njit(cache=True, nogil=True, _nrt=False)


class _Announcement(event.Listener):
    """Tells the user, once, why the first call takes a while."""

    def on_start(self, compilation):
        if compilation.data["dispatcher"].py_func.__module__.startswith("crossarc."):
            logging.getLogger("crossarc").info("compiling kernels for this machine (once; kept for later runs)")
            event.unregister("numba:compile", self)

    def on_end(self, compilation):
        pass


event.register("numba:compile", _Announcement())
