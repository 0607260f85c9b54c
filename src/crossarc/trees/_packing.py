"""Padded batches to packed ones, and back: sentence i is padded[i, : sizes[i], : sizes[i]]."""

from crossarc._jit import jit


@jit
def pack_padded(padded, sizes, flat):
    """The arcs padded[i, h, m] of all sentences, one after the other."""
    entry = 0
    for i in range(len(sizes)):
        for h in range(sizes[i]):
            for m in range(sizes[i]):
                flat[entry] = padded[i, h, m]
                entry += 1


@jit
def pad_packed(flat, sizes, padded):
    """``pack_padded`` the other way; the padding stays as it is."""
    entry = 0
    for i in range(len(sizes)):
        for h in range(sizes[i]):
            for m in range(sizes[i]):
                padded[i, h, m] = flat[entry]
                entry += 1
