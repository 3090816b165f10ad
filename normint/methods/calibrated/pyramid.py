"""Images of half as many rows and columns, and the way back: a large image begins with its half."""

import numpy as np
import scipy.sparse

__all__ = ["Halving"]


class Halving:
    """Average over blocks of about 2×2 pixels, and continue a depth from blocks to their pixels.

    Parameters
    ----------
    mask : ndarray of bool
    weight : ndarray
        What each pixel counts for in the mean over its block, > 0.

    Attributes
    ----------
    mask : ndarray of bool
        The blocks that hold a part of the mask.
    scale : tuple of float
        How many pixels one block is long, along rows and along columns: 2, and a little more or less where
        a number of pixels is odd.

    Notes
    -----
    An odd number of pixels is divided into an odd number of equal blocks, which pixels overlap in part:
    mirroring an image mirrors its half, and no pixel's centre lies between two blocks.

    Examples
    --------
    A plane comes back exactly:

    >>> mask = np.ones((6, 8), bool)
    >>> u, v = np.indices(mask.shape)
    >>> half = Halving(mask, np.ones(mask.shape))
    >>> half.mask.shape
    (3, 4)
    >>> slopes = half.slopes(np.full(mask.shape, 0.5), np.full(mask.shape, 2.0))
    >>> depth = half.mean(0.5 * u + 2.0 * v)
    >>> bool(np.allclose(half.back(depth, *slopes), 0.5 * u + 2.0 * v))
    True
    """

    def __init__(self, mask, weight):
        counts = [_blocks(n) for n in mask.shape]
        self.scale = tuple(n / m for n, m in zip(mask.shape, counts, strict=True))
        self._down, self._right = (_overlaps(n, m) for n, m in zip(mask.shape, counts, strict=True))
        self._weight = np.where(mask, weight, 0.0)
        self._whole = self.total(self._weight)
        self.mask = self._whole > 0

    def total(self, image):
        """Sum an image over each block."""
        return np.ascontiguousarray((self._right @ (self._down @ image).T).T)

    def mean(self, image):
        """Average an image over the part of each block inside the mask, zero where there is none."""
        return self.total(self._weight * image) / np.where(self.mask, self._whole, 1.0)

    def slopes(self, p, q):
        """Return the mean slopes as changes of depth per block, as :meth:`back` expects them."""
        return self.scale[0] * self.mean(p), self.scale[1] * self.mean(q)

    def back(self, z, p, q):
        """Return the depth of each pixel from that of its block and the block's slopes."""
        (rows, down), (columns, right) = (
            _places(n, m) for n, m in zip(self._weight.shape, z.shape, strict=True)
        )
        at = np.ix_(rows, columns)
        return z[at] + down[:, np.newaxis] * p[at] + right * q[at]


def _blocks(n):
    """Return n/2, or the odd number next to it."""
    return n // 2 if n % 2 == 0 else n // 2 + (n // 2 % 2 == 0)


def _overlaps(n, m):
    """Return the m×n matrix of how much of each pixel each block holds."""
    edges = np.unique(np.concatenate([np.arange(n + 1) / n, np.arange(m + 1) / m]))
    lengths, middles = np.diff(edges) * n, 0.5 * (edges[1:] + edges[:-1])
    ends = (middles * m).astype(int), (middles * n).astype(int)
    return scipy.sparse.csr_array((lengths, ends), shape=(m, n))


def _places(n, m):
    """Return the block of each of n pixels, and how far from the block's centre it lies, in blocks."""
    middles = (np.arange(n) + 0.5) * m / n
    block = middles.astype(int)
    return block, middles - block - 0.5
