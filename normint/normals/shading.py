"""How a surface looks in light: the one shading of all pictures."""

import numpy as np

from normint.normals.camera import projection

__all__ = ["shading"]

LIGHT = np.array([-1.0, -1.0, 2.0]) / 6**0.5  # from the upper left, along u, v and z


def shading(depth, camera=None, *, exaggeration=1.0):
    """Return how brightly a white surface reflects the light to each pixel: max(0, n·l), NaN outside.

    Parameters
    ----------
    depth : ndarray
        In pixels, NaN where there is none. With a camera it is the distance d, and −d·f/median(d), in pixels,
        is taken as the height.
    camera : array_like or Perspective, optional
        As for :func:`normint.normals.camera.projection`.
    exaggeration : float
        By which the depth is multiplied before.

    Examples
    --------
    >>> shading(np.zeros((2, 2))).round(3)
    array([[0.816, 0.816],
           [0.816, 0.816]])
    """
    if camera is not None:
        depth = -depth * projection(camera).unit / np.nanmedian(depth)
    p, q = (exaggeration * _slope(depth, axis) for axis in (0, 1))
    normal_times_light = LIGHT[2] - p * LIGHT[0] - q * LIGHT[1]
    bright = np.maximum(0, normal_times_light / np.sqrt(1 + p**2 + q**2))
    return np.where(np.isfinite(depth), bright, np.nan)


def _slope(depth, axis):
    """Return the mean of the differences to the two neighbours along an axis, as far as they are there."""
    step = np.diff(depth, axis=axis)
    ends = [(1, 0), (0, 1)]
    both = np.stack([np.pad(step, [end if k == axis else (0, 0) for k in (0, 1)], constant_values=np.nan)
                     for end in ends])  # fmt: skip
    there = np.isfinite(both)
    return np.where(there, both, 0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
