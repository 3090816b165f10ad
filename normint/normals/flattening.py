"""Removing the slow bend that real normals bring: errors of a degree, summed over an image, make a bowl."""

from typing import NamedTuple

import numpy as np
import scipy.ndimage

from normint import inputs
from normint.jumps import pieces

__all__ = ["SHAPES", "Flattened", "flatten", "flatten_by_points"]

SHAPES = ("plane", "quadric", "highpass")
ROUNDS = 20  # of reweighting, at most
HUBER = 1.345  # standard deviations: residuals beyond it count less
# Standard deviation of a Gaussian mean over the wavelength of which half the height passes: ISO 16610-21.
SIGMA = np.sqrt(np.log(2) / 2) / np.pi


class Flattened(NamedTuple):
    """A depth without its bend, and the bend; both NaN outside the mask."""

    depth: np.ndarray
    bend: np.ndarray

    @property
    def removed(self):
        """How much was removed: the highest point of the bend over the lowest."""
        return float(np.nanmax(self.bend) - np.nanmin(self.bend))


def flatten(depth, shape="plane", *, length=None, weights=None, together=False, periodic=False):
    """Remove a plane, a quadric or all slow changes from a depth map.

    Parameters
    ----------
    depth : array_like
        rows×columns, of a camera far away; NaN outside the mask.
    shape : {"plane", "quadric", "highpass"}
        What to remove: c₁u + c₂v; that and c₃u² + c₄uv + c₅v²; or that and then waves longer than
        ``length``.
    length : float, optional
        Of the wave that loses half of its height, in pixels. For "highpass" only.
    weights : (array_like, array_like), optional
        As in :class:`normint.Integration`: 0 where the surface jumps. What jumps separate is a piece.
    together : bool
        Whether heights of different pieces can be compared, as with a prior. Otherwise, as normals tell
        nothing of it, each piece has a constant of its own.
    periodic : bool
        Whether the surface goes on at the opposite side, as a tile does. For "highpass" of a full rectangle
        only: a plane would open the seam.

    Returns
    -------
    Flattened
        The depth, of which each piece keeps its mean (all together, if ``together``), and what was removed.

    Notes
    -----
    Errors of the normals depend on the place in the image, of the lamps and the lens, and not on the object:
    the bend is one for all pieces. It is fitted with a constant for each piece, so that neither jumps nor
    pieces that lie apart tilt it, and with less weight on what sticks out (Huber's estimator), so that the
    ground counts more than what stands on it. The mean over the neighbourhood, for "highpass", is taken
    within each piece.

    Examples
    --------
    >>> u, v = np.mgrid[:4, :5]
    >>> made = flatten(2.0 * u - v + (u == 1) * (v == 2))
    >>> made.depth.round(3)[1]
    array([1., 1., 2., 1., 1.])
    >>> round(made.removed, 3)
    10.0
    """
    depth = np.asarray(inputs.as_real("depth", depth))
    mask = inputs.as_mask(np.isfinite(depth), depth.shape)
    if shape not in SHAPES:
        raise ValueError(f"shape is {shape!r}; expected one of {', '.join(SHAPES)}")
    if (shape == "highpass") != (length is not None):
        raise ValueError('length is missing, or not of use; expected it with shape="highpass", and only then')
    if periodic and (shape != "highpass" or not mask.all()):
        raise ValueError(f"a tile cannot be flattened by shape={shape!r}; expected 'highpass', and no holes")
    if periodic:
        labels, count, slope = np.ones(mask.shape, np.int32), 1, np.zeros(mask.shape)
    else:
        labels, count = (mask.astype(np.int32), 1) if together else pieces(mask, weights, height=depth)
        basis = _basis(mask, 1 if shape == "plane" else 2)
        slope = np.full(mask.shape, np.nan)
        slope[mask] = basis @ _fit(basis, depth[mask], labels[mask], count)
    bend = slope
    if shape == "highpass":
        spread = SIGMA * inputs.as_positive("length", length)
        bend = slope + _slow(depth - slope, labels, spread, "wrap" if periodic else "constant")
    # Each piece keeps its mean.
    bend = np.where(mask, bend, np.nan)
    bend[mask] -= _means(bend[mask], labels[mask], count)[labels[mask]]
    return Flattened(depth - bend, bend)


def flatten_by_points(depth, points, *, together=False):
    """Remove the plane through picked points, which then have the depth 0.

    Parameters
    ----------
    depth : array_like
        As for :func:`flatten`.
    points : array_like of int
        n×2: row and column of three or more pixels, not on a line. With more than three it is the best plane.
    together : bool
        As for :func:`flatten`. If not, all points have to be on one piece.

    Returns
    -------
    Flattened

    Examples
    --------
    >>> u, v = np.mgrid[:3, :3]
    >>> flatten_by_points(2.0 * u - v + 7 + (u == 1), [(0, 0), (0, 2), (2, 1)]).depth[:, 0].round(9) + 0
    array([0., 1., 0.])
    """
    depth = np.asarray(inputs.as_real("depth", depth))
    mask = inputs.as_mask(np.isfinite(depth), depth.shape)
    points = np.asarray(points)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 3 or points.dtype.kind not in "iu":
        raise ValueError(
            "points are not pixels; expected three or more, each a row and a column, whole numbers"
        )
    for row, column in points:
        if not (0 <= row < mask.shape[0] and 0 <= column < mask.shape[1] and mask[row, column]):
            raise ValueError(
                f"points: there is no depth at row {row}, column {column}; expected pixels of the mask"
            )
    where = tuple(points.T)
    if not together and len(set(pieces(mask)[0][where])) > 1:
        raise ValueError(
            "points are on different pieces, whose heights cannot be compared; expected one piece"
        )
    plane = np.concatenate([points - points.mean(axis=0), np.ones((len(points), 1))], axis=1)
    if np.linalg.svd(plane[:, :2], compute_uv=False)[-1] < 0.5:
        raise ValueError("points are on a line; expected three that span a triangle")
    down, right, level = np.linalg.lstsq(plane, depth[where], rcond=None)[0]
    u, v = np.indices(mask.shape) - points.mean(axis=0)[:, np.newaxis, np.newaxis]
    bend = np.where(mask, down * u + right * v + level, np.nan)
    return Flattened(depth - bend, bend)


def _basis(mask, degree):
    """Return u, v and, for degree 2, their products at the pixels of the mask, all about as large as 1."""
    places = np.argwhere(mask).astype(np.float64)
    u, v = ((places - places.mean(axis=0)) / max(mask.shape)).T
    return np.stack([u, v] if degree == 1 else [u, v, u * u, u * v, v * v], axis=1)


def _fit(basis, values, labels, count):
    """Return the coefficients of the basis that fit values best, with a constant for each label."""
    weights, found = np.ones(len(values)), np.zeros(basis.shape[1])
    for _ in range(ROUNDS):
        mean = [_means(column, labels, count, weights)[labels] for column in (*basis.T, values)]
        left = np.stack([column - m for column, m in zip(basis.T, mean, strict=False)], axis=1)
        right = values - mean[-1]
        weighted = left * weights[:, np.newaxis]
        before, found = found, np.linalg.lstsq(weighted.T @ left, weighted.T @ right, rcond=1e-12)[0]
        residual = np.abs(right - left @ found)
        scale = HUBER * 1.4826 * np.median(residual)
        weights = np.minimum(1.0, scale / np.maximum(residual, scale)) if scale else weights
        if np.abs(found - before).max() <= 1e-9 * np.abs(found).max():
            break
    return found


def _means(values, labels, count, weights=None):
    """Return the mean of values for each label from 0 on."""
    weights = np.ones(len(values)) if weights is None else weights
    total = np.bincount(labels, weights * values, count + 1)
    return total / np.maximum(np.bincount(labels, weights, count + 1), 1e-300)


def _slow(values, labels, spread, mode):
    """Return the Gaussian mean of values around each pixel, within the piece that it belongs to."""
    result = np.zeros(values.shape)
    for number, box in enumerate(scipy.ndimage.find_objects(labels), 1):
        inside = labels[box] == number
        total, known = (
            scipy.ndimage.gaussian_filter(image, spread, mode=mode)
            for image in (np.where(inside, values[box], 0.0), inside.astype(np.float64))
        )
        result[box][inside] = total[inside] / known[inside]
    return result
