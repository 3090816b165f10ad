"""Rectangles around masks."""

import numpy as np

__all__ = ["bounding_box"]


def bounding_box(mask, margin=0):
    """Return the slices of the smallest rectangle that holds a mask and so many pixels around it.

    Examples
    --------
    >>> mask = np.array([[0, 0, 0], [0, 1, 1]], bool)
    >>> bounding_box(mask)
    (slice(1, 2, None), slice(1, 3, None))
    >>> mask[bounding_box(mask, margin=1)].shape
    (2, 3)
    """
    lines = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    return tuple(slice(max(int(line[0]) - margin, 0), int(line[-1]) + 1 + margin) for line in lines)
