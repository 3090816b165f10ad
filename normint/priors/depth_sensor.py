"""A depth sensor of low resolution: one value for each block of pixels, and three ways to read it."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normint import inputs
from normint.integration import integrate

__all__ = ["at_centres", "block_means", "refined", "spread"]


def block_means(
    depth: ArrayLike, size: int, mask: ArrayLike | None = None, *, least: float = 0.5
) -> NDArray[np.float64]:
    """Average a depth map over square blocks, as a sensor with fewer pixels does.

    Parameters
    ----------
    depth : array_like
        Finite inside the mask.
    size : int
        Side of a block in pixels. Blocks at the lower and right border may be incomplete.
    mask : array_like, optional
        Only these pixels count.
    least : float
        A block has a value if at least this part of its pixels is inside the mask.

    Returns
    -------
    ndarray
        One value per block, NaN where too few pixels are inside.

    Examples
    --------
    >>> block_means([[1.0, 3.0, 5.0], [1.0, 3.0, 5.0]], 2)
    array([[2., 5.]])
    """
    mask = inputs.as_mask(mask, np.shape(depth))
    depth = inputs.as_field("depth", depth, mask)
    size = inputs.as_count("size", size)
    count = _block_sums(mask.astype(np.float64), size)
    total = _block_sums(np.where(mask, depth, 0.0), size)
    return np.where(count >= max(least * size**2, 1), total / np.maximum(count, 1), np.nan)


def spread(values: ArrayLike, size: int, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Give each pixel the value of its block; NaN outside the mask.

    Examples
    --------
    >>> spread(np.array([[2.0, 5.0]]), 2, np.ones((2, 3), bool))
    array([[2., 2., 5.],
           [2., 2., 5.]])
    """
    rows, columns = _check(values, size, mask)
    return np.where(mask, np.repeat(np.repeat(values, size, axis=0), size, axis=1)[:rows, :columns], np.nan)


def at_centres(values: ArrayLike, size: int, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Put the value of each block at its pixel of the mask nearest to the block's centre; NaN elsewhere.

    Examples
    --------
    >>> at_centres(np.array([[2.0]]), 3, np.ones((3, 3), bool))
    array([[nan, nan, nan],
           [nan,  2., nan],
           [nan, nan, nan]])
    """
    _check(values, size, mask)
    u, v = np.nonzero(mask)
    block = np.ravel_multi_index((u // size, v // size), np.shape(values))
    distance = np.hypot(u % size - (size - 1) / 2, v % size - (size - 1) / 2)
    nearest_first = np.lexsort((distance, block))
    blocks, first = np.unique(block[nearest_first], return_index=True)
    chosen = nearest_first[first]
    image = np.full(mask.shape, np.nan)
    image[u[chosen], v[chosen]] = np.asarray(values).ravel()[blocks]
    return image


def refined(
    values: ArrayLike, size: int, p: ArrayLike, q: ArrayLike, mask: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Make a prior for every pixel from block means, with the detail inside a block taken from the gradient.

    Parameters
    ----------
    values : array_like
        The mean depth of each block, NaN where unknown.
    size : int
        Side of a block in pixels.
    p, q, mask
        As for :func:`normint.integrate`.

    Returns
    -------
    ndarray
        A prior of the mask's shape, NaN where the block has no value. The pixels of a block share what the
        sensor measured: merge it with ``size``, so that they share one weight too.

    Notes
    -----
    The mean of a block is not the depth at its centre: on a curved surface it is off by about s²/24 times the
    Laplacian. But the depth z from the gradient alone knows the shape inside a block. The difference of the
    block means, value - mean(z), is free of that shape, and is added to z in the whole block.

    Examples
    --------
    >>> from normint.surfaces import peaks
    >>> surface = peaks(63)
    >>> means = block_means(surface.depth, 9)
    >>> stairs = spread(means, 9, surface.mask)
    >>> prior = refined(means, 9, surface.p, surface.q)
    >>> bool(np.std(prior - surface.depth) < 0.02 * np.std(stairs - surface.depth))
    True
    """
    p, q, mask = inputs.as_gradient(p, q, mask)
    size = inputs.as_count("size", size)
    _check(values, size, mask)
    depth = integrate(p, q, mask, tolerance=1e-5).depth
    difference = np.asarray(values) - block_means(depth, size, mask, least=0.0)
    return spread(difference, size, mask) + depth


def _check(values: ArrayLike, size: int, mask: NDArray[np.bool_]) -> tuple[int, int]:
    rows, columns = np.shape(mask)
    expected = -(-rows // size), -(-columns // size)
    if np.shape(values) != expected:
        raise ValueError(f"values has shape {np.shape(values)}; expected {expected}, one for each block")
    return rows, columns


def _block_sums(image: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    rows, columns = image.shape
    image = np.pad(image, ((0, -rows % size), (0, -columns % size)))
    return image.reshape(image.shape[0] // size, size, -1, size).sum(axis=(1, 3))
