"""How far a depth or a normal map is from the truth."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normint.domain import NEIGHBOURS
from normint.inputs import as_field, as_mask, as_normals, unhidden

__all__ = ["absolute_error", "angular_error", "mean_angular_error", "rmse", "unexplained_steps"]


def rmse(depth: ArrayLike, truth: ArrayLike, mask: ArrayLike | None = None) -> float:
    """Measure the root mean square error of a depth known up to a constant.

    Parameters
    ----------
    depth, truth : array_like
        Depths of equal shape, finite inside the mask.
    mask : array_like, optional
        Where to measure; by default wherever depth is not NaN.

    Returns
    -------
    float

    Notes
    -----
    With d = depth − truth, the number is √(mean (d − mean d)²): a gradient says nothing about the constant.

    Examples
    --------
    >>> rmse([[5.0, 7.0]], [[0.0, 0.0]])
    1.0
    """
    if mask is None:
        mask = ~np.isnan(unhidden(depth).astype(np.float64))
        if not mask.any():
            raise ValueError("depth is NaN everywhere; expected at least one finite pixel")
    else:
        mask = as_mask(mask, np.shape(depth))
    difference = as_field("depth", depth, mask)[mask] - as_field("truth", truth, mask)[mask]
    return float(np.std(difference))


def absolute_error(depth: ArrayLike, truth: ArrayLike, mask: ArrayLike | None = None) -> float:
    """Measure the root mean square error of a depth, constant included.

    Parameters
    ----------
    depth, truth, mask
        As for :func:`rmse`, which measures without the constant.

    Examples
    --------
    >>> absolute_error([[5.0, 7.0]], [[4.0, 8.0]])
    1.0
    """
    mask = ~np.isnan(unhidden(depth).astype(np.float64)) if mask is None else mask
    mask = as_mask(mask, np.shape(depth))
    difference = as_field("depth", depth, mask) - as_field("truth", truth, mask)
    return float(np.sqrt(np.mean(difference[mask] ** 2)))


def angular_error(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """Measure the angle between two normal maps, pixel by pixel.

    Parameters
    ----------
    a, b : array_like
        rows×columns×3 each, of any length.

    Returns
    -------
    ndarray of float64
        Degrees, between 0 and 180; NaN where a normal is NaN or of length zero.

    Notes
    -----
    The angle is atan2(‖a × b‖, a · b). The arc cosine of a · b would lose half of the digits near 0°.

    Examples
    --------
    >>> angular_error([[[0.0, 0.0, 1.0]]], [[[0.0, 2.0, 2.0]]])
    array([[45.]])
    """
    a, b = as_normals("a", a), as_normals("b", b)
    if a.shape != b.shape:
        raise ValueError(f"b has shape {b.shape}; expected {a.shape}, the shape of a")
    sine = np.linalg.norm(np.cross(a, b), axis=2)
    cosine = np.einsum("ijk,ijk->ij", a, b)
    angle = np.degrees(np.arctan2(sine, cosine))
    angle[(sine == 0) & (cosine == 0)] = np.nan
    return angle


def mean_angular_error(a: ArrayLike, b: ArrayLike, mask: ArrayLike | None = None) -> float:
    """Average the angle between two normal maps.

    Parameters
    ----------
    a, b : array_like
        rows×columns×3 each, of any length.
    mask : array_like, optional
        Where to measure; by default wherever both maps have a normal.

    Returns
    -------
    float
        Degrees.

    Examples
    --------
    >>> mean_angular_error([[[0, 0, 1], [0, 0, 1]]], [[[0, 1, 1], [0, 0, 5]]])
    22.5
    """
    angle = angular_error(a, b)
    if mask is None:
        mask = ~np.isnan(angle)
        if not mask.any():
            raise ValueError("a and b have no normal in common; expected at least one finite pixel in both")
    else:
        mask = as_mask(mask, angle.shape)
        missing = np.count_nonzero(mask & np.isnan(angle))
        if missing:
            raise ValueError(
                f"a or b is NaN or zero at {missing} of the mask's pixels; expected normals there"
            )
    return float(angle[mask].mean())


def unexplained_steps(
    depth: NDArray[np.float64], p: NDArray[np.float64], q: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Measure how far the step from each pixel to the next lies outside what the slopes at both allow.

    Parameters
    ----------
    depth : ndarray
        rows×columns; NaN where it is not known.
    p, q : ndarray
        Its slopes along rows, downwards, and along columns, to the right.

    Returns
    -------
    down, right : ndarray
        (rows−1)×columns and rows×(columns−1). What is above zero, a surface that bends from one slope to the
        other does not explain: it jumps there. NaN beside an unknown depth.

    Examples
    --------
    A slope of 1 that ends, and a step of 5 on flat ground:

    >>> depth, q = np.array([[0.0, 0.7, 0.7, 5.7]]), np.array([[1.0, 0.0, 0.0, 0.0]])
    >>> unexplained_steps(depth, 0 * q, q)[1].round(1)
    array([[-0.3,  0. ,  5. ]])
    """
    found = []
    for slope, (here, there) in zip((p, q), NEIGHBOURS, strict=True):
        step = depth[there] - depth[here]
        low, high = np.minimum(slope[here], slope[there]), np.maximum(slope[here], slope[there])
        found.append(np.maximum(low - step, step - high))
    return found[0], found[1]
