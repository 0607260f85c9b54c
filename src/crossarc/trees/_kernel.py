"""How a hot loop becomes a Numba kernel: one decorator for all of them."""

from numba import njit

# Compiled on the first call, then read from the cache on disk: in the package's folder, or in the user's
# cache folder when that one is read-only. Kernels release the GIL, so that threads run them side by side.
kernel = njit(cache=True, nogil=True)
