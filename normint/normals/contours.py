"""Contours in a normal map: where a surface passes out of sight, its normals point to what it hides."""

import numpy as np

__all__ = ["raised"]

GRAZING = 0.45  # the cosine between normal and camera, at most, of a pixel at a contour
TURN = 0.7  # that between the normals of two neighbours, at most, if one of them hides what lies behind
BEND = 0.05  # by how much the first cosine falls from one pixel to the next, at least: else it is a crease


def raised(readings, part):
    """Tell how far readings of a normal map raise the surface at its contours.

    Parameters
    ----------
    readings : list of ndarray
        Vectors along u, v and z of the same pixels, equal but for components along the image that are turned
        over or swapped.
    part : Sample

    Returns
    -------
    ndarray
        readings×contour pixels: the cosine, in the image, between the normal and the way to the neighbour
        that is outside the mask or hidden behind. 1: raised; −1: hollow.

    Notes
    -----
    A ball bends away until it is seen at a grazing angle, and what comes next is the background: outside the
    mask, or a normal that is quite another. Where a mask only cuts a surface, or a roof has its ridge, the
    normals do not bend towards a grazing angle. These places are not counted.

    Examples
    --------
    >>> from normint import gradient_to_normals
    >>> from normint.normals.maps import NormalMap
    >>> from normint.normals.readings import sample
    >>> u, v = np.indices((41, 41)) - 20.0
    >>> height = np.sqrt(np.maximum(20.2**2 - u**2 - v**2, 1e-9))
    >>> ball = NormalMap.decoded(gradient_to_normals(-u / height, -v / height), np.hypot(u, v) < 20)
    >>> part = sample(ball)
    >>> bool(raised([part.vectors], part).min() > 0)
    True
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        readings = np.stack(readings)
        readings = readings / np.linalg.norm(readings, axis=-1, keepdims=True)
        along = np.hypot(readings[..., 0], readings[..., 1])
    n, inside, found = readings[0], part.mask, []
    for axis, lines in enumerate((part.pixels["rows"], part.pixels["columns"])):
        step = np.diff(np.ravel(lines)) == 1
        joined = step[:, np.newaxis] if axis == 0 else step[np.newaxis]
        for sign in (1, -1):
            before, here, there = (_shifted(axis, sign, k) for k in range(3))
            ways = joined[_shifted(axis, sign, 0, 2)] & joined[_shifted(axis, sign, 1, 2)]
            bends = inside[before] & inside[here] & ways & (n[here][..., 2] < GRAZING)
            with np.errstate(invalid="ignore", divide="ignore"):
                bends &= n[before][..., 2] > n[here][..., 2] + BEND
                turns = np.einsum("...k,...k", n[here], n[there]) < TURN
                turns &= n[here][..., 2] < n[there][..., 2]
                at = bends & (~inside[there] | turns)
                found.append(
                    sign * (readings[(slice(None), *here)][..., axis] / along[(slice(None), *here)])[:, at]
                )
    return np.concatenate(found, axis=1)


def _shifted(axis, sign, place, count=3):
    """Return the slices of the first, second or third of neighbours along an axis, as many as there are."""
    place = place if sign > 0 else count - 1 - place
    index = [np.s_[:], np.s_[:]]
    index[axis] = np.s_[place : None if place == count - 1 else place + 1 - count]
    return tuple(index)
