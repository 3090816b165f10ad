"""Sets that grow together: each member knows another one of its set, and the way to its root."""

from numba import njit

from normint.checkerboard import FAST


@njit(**FAST)
def root(parent, k):
    """Return the root of the set of k, and shorten the way to it."""
    while parent[k] != k:
        parent[k] = parent[parent[k]]
        k = parent[k]
    return k
