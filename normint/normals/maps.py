"""Normal maps as they come: real vectors, or the colours of an image file."""

import numpy as np

from normint.inputs import unhidden

__all__ = ["as_normal_map", "decode", "where_normals"]

SHORTEST = 0.5  # a colour that means a shorter vector is no normal: a grey or black background


def as_normal_map(normals):
    """Check the shape and type of a normal map, without a copy.

    Parameters
    ----------
    normals : array_like
        rows×columns×3 real numbers, or colours of 8 or 16 bits. Where a masked array hides a component there
        is no normal.

    Returns
    -------
    ndarray
    """
    if np.ma.is_masked(normals):
        hidden = np.ma.getmaskarray(normals).any(axis=-1, keepdims=True)
        normals = np.ma.MaskedArray(normals.data, np.broadcast_to(hidden, normals.shape))
    normals = unhidden(normals)
    if normals.ndim != 3 or normals.shape[2] != 3 or 0 in normals.shape:
        raise ValueError(f"normals has shape {normals.shape}; expected (rows, columns, 3)")
    if normals.dtype.kind not in "if" and normals.dtype not in (np.uint8, np.uint16):
        raise ValueError(f"normals has type {normals.dtype}; expected real numbers, or uint8 or uint16")
    return normals


def decode(normals):
    """Turn a part of a normal map into float64 vectors.

    Parameters
    ----------
    normals : ndarray
        As from :func:`as_normal_map`.

    Notes
    -----
    A colour c of b bits stands for n = 2c/(2ᵇ − 1) − 1. What is shorter than a half means no normal: zero.

    Examples
    --------
    >>> decode(np.array([[[255, 0, 255], [0, 0, 0]]], dtype=np.uint8))
    array([[[ 1., -1.,  1.],
            [ 0.,  0.,  0.]]])
    """
    if normals.dtype.kind != "u":
        return normals.astype(np.float64, copy=False)
    vectors = normals * (2.0 / np.iinfo(normals.dtype).max)
    vectors -= 1.0
    nothing = ~normals.any(axis=-1)  # black, which would be (−1, −1, −1)
    nothing |= np.einsum("...k,...k", vectors, vectors) < SHORTEST**2
    vectors[nothing] = 0.0
    return vectors


def where_normals(normals, rows=256):
    """Find the pixels that have a normal, a few rows at a time.

    Parameters
    ----------
    normals : ndarray
        As from :func:`as_normal_map`.

    Returns
    -------
    ndarray of bool

    Examples
    --------
    >>> where_normals(np.array([[[0.0, 0.0, 1.0], [np.nan, 0.0, 1.0], [0.0, 0.0, 0.0]]]))
    array([[ True, False, False]])
    """
    mask = np.empty(normals.shape[:2], dtype=bool)
    for row in range(0, len(mask), rows):
        vectors = decode(normals[row : row + rows])
        with np.errstate(invalid="ignore", over="ignore"):
            length = np.einsum("...k,...k", vectors, vectors)
            mask[row : row + rows] = np.isfinite(length) & (length > 0)
    if not mask.any():
        raise ValueError("normals are NaN or zero everywhere; expected a normal somewhere")
    return mask
